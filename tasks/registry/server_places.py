"""Places for what takes MLflow's server long or much: a few at a time of each login.

A search within its bounds takes a hundred megabytes and a connection to the database, of which
there are fifteen: eight at once took 2 GB, thirty all connections.
"""

import contextlib
import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ricochet.tasks.registry.server_methods import postponement

AT_A_TIME = 8
"""Of a login; a browser asks six questions at once."""
WAIT = 1.0
"""Longest wait for a place, s."""
_held = threading.local()


class Places:
    """Places of each login."""

    def __init__(self) -> None:
        """Begin with all of them free."""
        self._free = defaultdict[str, threading.BoundedSemaphore](
            lambda: threading.BoundedSemaphore(AT_A_TIME)
        )

    @contextlib.contextmanager
    def taken(self, _: Any = None) -> Iterator[None]:
        """Hold a place of the login that asks; one method that calls another has it already.

        Raises:
            MlflowException: As many are taken, and none was given up in a second: 429.
        """
        if getattr(_held, "place", False):
            yield
            return
        free = self._free[_login()]
        if not free.acquire(timeout=WAIT):
            raise postponement("more searches of a login", f"at most {AT_A_TIME} at a time")
        _held.place = True
        try:
            yield
        finally:
            _held.place = False
            free.release()


def _login() -> str:
    """Return whose question this thread answers; nobody's where nobody is asked for a login."""
    from flask import has_request_context, request

    asked = "MLFLOW_AUTH_CONFIG_PATH" in os.environ and has_request_context()
    stated = request.authorization if asked else None
    return "" if stated is None else str(stated.username)
