"""What takes MLflow's server long or much: a few at a time of each login, and of few values.

A search within its bounds takes a hundred megabytes and a connection to the database, of which
there are fifteen: eight at once took 2 GB, thirty all connections. And MLflow makes an object of
each value of a body, or asks its database about it, before it asks whether there are too many.
"""

import contextlib
import os
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.server_methods import postponement, refusal
from ricochet.tasks.storage import checked_json

HEAVY = re.compile(r".*/(?:search|search-datasets|get-history.*|list|graphql|artifacts)")
"""Routes of searches, of steps of metrics and of files of a folder."""
AT_A_TIME = 8
"""Of a login; a browser asks six questions at once."""
WAIT = 1.0
"""Longest wait for a place, s."""
FILES = re.compile(r".*/(?:mlflow-artifacts|upload-artifact|get-artifact)(?:/.*)?")
"""Whose bodies are no JSON."""
MOST = {"/search-datasets": 100, "": 20_000}
"""Values of a body by the end of its path: a thousand metrics have five thousand."""
LONGEST, WORDS = 2**14, re.compile(rb"\w+")
"""Characters of a question in GraphQL; one of a megabyte is read for a minute."""
MOST_WORDS = 600
"""Of it; MLflow asks its database about each experiment that it names, 10 ms each."""


def hold(application: Any) -> None:
    """Have a Flask application of MLflow's answer few heavy questions of a login at a time."""
    from mlflow.server.handlers import catch_mlflow_exception

    application.before_request(catch_mlflow_exception(_refuse_many))  # before a login is looked at
    taken, views = places(), application.view_functions
    rules = list(application.url_map.iter_rules())
    for rule in rules:
        if rule.rule.endswith("/graphql"):
            views[rule.endpoint] = _short(views[rule.endpoint])
    for name in {rule.endpoint for rule in rules if HEAVY.fullmatch(rule.rule)}:
        views[name] = catch_mlflow_exception(_held(views[name], taken))


def _refuse_many() -> None:
    """Refuse a body of very many values."""
    from flask import request

    if FILES.fullmatch(request.path):
        return
    most = next(count for end, count in MOST.items() if request.path.rstrip("/").endswith(end))
    try:
        checked_json.check(request.get_data(), "the body", values=most)
    except BadInput as error:
        raise refusal(f"{error.where} with {error.found}", error.expected) from error


def _short(view: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(view)
    def short(*positional: Any, **named: Any) -> Any:
        from flask import request

        asked = request.get_data() + request.query_string
        if len(asked) > LONGEST:
            raise refusal("a question without end", f"at most {LONGEST} characters")
        if (words := sum(1 for _ in WORDS.finditer(asked))) > MOST_WORDS:
            raise refusal(f"{words} words", f"at most {MOST_WORDS}")
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
