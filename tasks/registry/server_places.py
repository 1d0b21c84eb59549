"""Places for what takes MLflow's server long or much: a few at a time of each login.

A search within its bounds takes a hundred megabytes and a connection to the database, of which
there are fifteen: eight at once took 2 GB, thirty all connections.
"""

import contextlib
import os
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from ricochet.tasks.registry.server_methods import postponement, refusal

HEAVY = re.compile(r".*/(?:search|search-datasets|get-history.*|list|graphql|artifacts)")
"""Routes of searches, of steps of metrics and of files of a folder."""
AT_A_TIME = 8
"""Of a login; a browser asks six questions at once."""
WAIT = 1.0
"""Longest wait for a place, s."""
LONGEST = 2**14
"""Characters of a question in GraphQL; one of a megabyte is read for a minute."""


def hold(application: Any) -> None:
    """Have a Flask application of MLflow's answer few heavy questions of a login at a time."""
    from mlflow.server.handlers import catch_mlflow_exception

    taken, views = places(), application.view_functions
    rules = list(application.url_map.iter_rules())
    for rule in rules:
        if rule.rule.endswith("/graphql"):
            views[rule.endpoint] = _short(views[rule.endpoint])
    for name in {rule.endpoint for rule in rules if HEAVY.fullmatch(rule.rule)}:
        views[name] = catch_mlflow_exception(_held(views[name], taken))


def _short(view: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(view)
    def short(*positional: Any, **named: Any) -> Any:
        from flask import request

        if len(request.get_data()) > LONGEST:
            raise refusal("a question without end", f"at most {LONGEST} characters")
        return view(*positional, **named)

    return short


def _held(view: Callable[..., Any], taken: Callable[[], Any]) -> Callable[..., Any]:
    @wraps(view)
    def held(*positional: Any, **named: Any) -> Any:
        with taken():
            return view(*positional, **named)

    return held


def places() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Return what holds a place of the login that asks, while a block lasts.

    As many as there may be are taken, and none was given up in a second: 429.
    """
    free = defaultdict[str, threading.BoundedSemaphore](
        lambda: threading.BoundedSemaphore(AT_A_TIME)
    )

    @contextlib.contextmanager
    def taken() -> Iterator[None]:
        place = free[_login()]
        if not place.acquire(timeout=WAIT):
            raise postponement("more searches of a login", f"at most {AT_A_TIME} at a time")
        try:
            yield
        finally:
            place.release()

    return taken


def _login() -> str:
    """Return whose question this thread answers; nobody's where nobody is asked for a login."""
    from flask import request

    stated = request.authorization if "MLFLOW_AUTH_CONFIG_PATH" in os.environ else None
    return "" if stated is None else str(stated.username)
