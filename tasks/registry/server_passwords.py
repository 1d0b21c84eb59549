"""Passwords of MLflow's server, of which few are compared at a time, and none in the way of others.

To compare one takes a tenth of a second by design. MLflow does so for files where it does nothing
else meanwhile, so that three hundred wrong ones keep all others out for half a minute, and for the
rest in threads, of which strangers can take all forty. Here a login that was right a short time
ago, which MLflow then keeps, is passed on; others wait for one another, without a thread, and those
that were ever right for no stranger.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ricochet.tasks.registry import server_logins
from ricochet.tasks.registry.server_limits import KNOWN, Application, Receive, Send

AT_A_TIME = 2
"""Passwords of strangers that are compared at once, and of others; each takes a core."""
MOST = 1000
"""Names of which it is remembered which password was right last."""
_HEAD = [(b"content-type", b"text/plain"), (b"www-authenticate", b'Basic realm="mlflow"')]


@dataclass(frozen=True)
class Passwords:
    """What is known of names and passwords.

    Attributes:
        is_known: Whether one was right a short time ago.
        is_right: Whether one is right, which takes long.
    """

    is_known: Callable[[str, str], bool]
    is_right: Callable[[str, str], bool]


def of_mlflow() -> Passwords:
    """Return what MLflow says, whose file of settings must have it keep those that were right."""
    from mlflow.server import auth

    module: Any = auth

    def is_known(name: str, password: str) -> bool:
        with module._USER_AUTH_CACHE_LOCK:
            return module._auth_cache_key(name, password) in module._USER_AUTH_CACHE

    def is_right(name: str, password: str) -> bool:
        return module._authenticate_cached(name, password) is not None

    return Passwords(is_known, is_right)


class Comparing:
    """Says whether logins are right, of which strangers wait in a queue of their own."""

    def __init__(self, passwords: Passwords) -> None:
        """Take what is known of names and passwords."""
        self.passwords = passwords
        self._strangers, self._others = (asyncio.Semaphore(AT_A_TIME) for _ in range(2))
        self._right: dict[str, bytes] = {}
        self._salt = secrets.token_bytes(32)

    async def is_right(self, login: bytes) -> bool:
        """Say whether `name:password` is right."""
        try:
            name, _, password = login.decode().partition(":")
        except UnicodeDecodeError:
            return False
        if not name.isprintable():
            return False
        if self.passwords.is_known(name, password):
            return True
        mark = hashlib.sha256(self._salt + login).digest()
        if self._right.get(name) == mark:
            async with self._others:
                if self._right.get(name) == mark:  # still: its password may be another now
                    return await self._compared(name, password, mark)
        async with self._strangers:
            return await self._compared(name, password, mark)

    async def _compared(self, name: str, password: str, mark: bytes) -> bool:
        right = await asyncio.to_thread(self.passwords.is_right, name, password)
        if right or self._right.get(name) == mark:
            self._right.pop(name, None)
        if right:
            self._right[name] = mark
            if len(self._right) > MOST:
                del self._right[next(iter(self._right))]
        return right


class Asking:
    """An application in front of another that refuses wrong passwords."""

    def __init__(self, application: Application, comparing: Comparing) -> None:
        """Stand in front of an application."""
        self.application, self.comparing = application, comparing

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Pass a request on whose login is right, or that has none: MLflow says what is open."""
        login = server_logins.stated(scope["headers"]) if scope["type"] == "http" else b""
        if login and not await self.comparing.is_right(login):
            await send({"type": "http.response.start", "status": 401, "headers": _HEAD})
            said = b"found a wrong name or password\n"
            await send({"type": "http.response.body", "body": said})
            return
        if login:  # before the body has come, which may take long
            scope.setdefault("state", {})[KNOWN] = login.partition(b":")[0]
        await self.application(scope, receive, send)
