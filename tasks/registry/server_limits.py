"""What a request may take of a server before anybody is asked who sends it: bytes, and time.

Servers ask for a login when they have read what is sent, and hold a place for whoever reads the
answer; so bodies are bounded, each and all together, they come soon, and an answer that nobody
takes is given up.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NoReturn

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import server_logins

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

BODY, ALL = 2**23, 2**26
"""Bytes of a body, and of all that are kept at a time."""
FOLDERS = 2**8
"""Of a path: a server of files asks its disk about each, before it says that there is none."""
CUT_OFF = "ricochet.cut_off"
"""Key of a request's state: its answer has been ended before its end, which is no fault."""
KNOWN = "ricochet.known"
"""Key of a request's state: the name of a login that has come with it, and was right where one is
asked for; empty where none is, or where all have the same."""
ASKED = re.compile(r"/(?:ajax-)?api/(?!.*(?:health|ready|version|server-info)/?$).*")
"""What MLflow's server answers to no stranger where there are logins."""
PATIENCE, LONGEST = 10.0, 60.0
"""Longest wait for a client to take a part of an answer, and for a whole body, s."""


class RefusedError(BadInput):
    """A path or body is larger than is read, or others take the room, or it does not come."""


class Bounded:
    """An application in front of another that bounds what requests take."""

    def __init__(
        self,
        application: Application,
        *,
        body: int = BODY,
        together: int = ALL,
        patience: float = PATIENCE,
        longest: float = LONGEST,
        silent: float = LONGEST,
        files: re.Pattern[str] | None = None,
        asked: re.Pattern[str] = ASKED,
    ) -> None:
        """Stand in front of an application.

        Args:
            body: Bytes that a body may have.
            together: Bytes that all bodies may have that are kept at a time.
            patience: Longest wait for a client to take a part of an answer, s.
            longest: Longest wait for a whole body, s.
            silent: Longest wait for a part of a file, s.
            files: Paths where a PUT has a file for a body, of any size: it is asked who sends it
                first, and it is written as it comes.
            asked: Paths of what no server answers to strangers where there are logins.
        """
        self.application, self.body, self.together = application, body, together
        self.patience, self.longest, self.silent, self.files = patience, longest, silent, files
        self.asked, self.kept = asked, 0

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it for its path, 414, or for its body, 413."""
        if "headers" in scope:
            scope["headers"] = [each for each in scope["headers"] if not _is_quoted(*each)]
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        request = _Request(self, scope, receive, send)
        if self.files is not None and scope["method"] == "PUT":
            request.free = self.files.fullmatch(scope["path"]) is not None
        try:
            request.look_at_path()
            request.look(_stated(scope))
            await self.application(scope, request.receive, request.send)
        except Exception:
            cut_off = CUT_OFF in scope.get("state", ())
            if not (request.refusal or request.given_up or request.left or cut_off):
                raise
        finally:
            self.kept -= request.size
        if request.refusal and not request.begun:
            await request.refuse()


def _is_quoted(name: bytes, value: bytes) -> bool:
    """Tell whether a header is of cookies with a backslash: no server here sets any.

    Older Pythons take time as the square of their number (CVE-2024-7592).
    """
    return name.lower() == b"cookie" and b"\\" in value


class _Request:
    """One request: how much of its body has come, and whether its answer has begun."""

    def __init__(
        self, bounds: Bounded, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        self.bounds, self.scope, self._receive, self._send = bounds, scope, receive, send
        self.free = self.begun = self.whole = self.given_up = self.left = False
        self.size, self.status, self.refusal = 0, 413, ""
        self.end = asyncio.get_running_loop().time() + bounds.longest

    def look_at_path(self) -> None:
        """Refuse a path of very many folders: `RefusedError`."""
        if (count := self.scope["path"].count("/")) > FOLDERS:
            self.status = 414
            self._abort(f"a path of {count} parts", f"at most {FOLDERS}")

    def look(self, stated: float) -> None:
        """Refuse a body that says that it is too large: `RefusedError`."""
        if not self.free and stated > self.bounds.body:
            self._abort("a larger body", f"at most {self.bounds.body} bytes")

    async def receive(self) -> Message:
        """Return what comes next; `RefusedError` where it is too much or too late."""
        if self.whole:
            return await self._receive()
        message = await (self._part() if self.free else self._body())
        self.left = message["type"] == "http.disconnect"
        self.whole = not message.get("more_body", False)
        if self.free:
            return message
        count = len(message.get("body", b""))
        self.size, self.bounds.kept = self.size + count, self.bounds.kept + count
        self.look(self.size)
        if self.bounds.kept > self.bounds.together:
            self._abort("too many bodies at a time", f"{self.bounds.together} bytes of all")
        return message

    async def _part(self) -> Message:
        """Return the next part of a file; `RefusedError` where none comes."""
        self._admit()
        try:
            return await asyncio.wait_for(self._receive(), self.bounds.silent)
        except TimeoutError:
            self._abort("no more of a file", f"a part within {self.bounds.silent:g} s")

    async def _body(self) -> Message:
        left = self.end - asyncio.get_running_loop().time()
        try:
            return await asyncio.wait_for(self._receive(), left)
        except TimeoutError:
            self._abort("no whole body", f"one within {self.bounds.longest:g} s")

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on; TimeoutError where nobody takes it."""
        self.begun = True
        if message.get("status", 400) < 400:
            self._admit()
        try:
            await asyncio.wait_for(self._send(message), self.bounds.patience)
        except TimeoutError:
            self.given_up = True
            raise

    def _admit(self) -> None:
        """Note that a login was right, if one has come."""
        asked = (
            self.bounds.asked.fullmatch(self.scope["path"]) and self.scope["method"] != "OPTIONS"
        )
        if asked and any(name == b"authorization" for name, _ in self.scope["headers"]):
            login = server_logins.stated_name(self.scope["headers"])
            self.scope.setdefault("state", {})[KNOWN] = login

    async def refuse(self) -> None:
        """Answer with a line."""
        headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
        await self.send({"type": "http.response.start", "status": self.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": f"{self.refusal}\n".encode()})

    def _abort(self, found: str, expected: str) -> NoReturn:
        error = RefusedError("request", found, expected)
        self.refusal = str(error)
        raise error


def _stated(scope: MutableMapping[str, Any]) -> float:
    """Return how long a body says it is; what is no length is as good as none."""
    text = dict(scope["headers"]).get(b"content-length", b"0")
    return float(text) if text.isdigit() else 0.0
