"""How much of a server each login has: a few requests are worked on at a time, others wait.

MLflow's server has forty threads, of which one works at a time, and its database fifteen
connections: forty requests of one login, of seconds each, kept all others out, and as many of six
logins together. Whose a request is its name says, once its password was right (`server_passwords`):
a name has its places however often its password changes. Requests wait without a thread, are worked
on in turn (`server_turns`), and leave when their client does. Places are given up when an answer
begins, since who takes it slowly takes no processor.
"""

import asyncio
import contextlib
import json
import math
import re
from typing import Any

from ricochet.tasks.registry import server_logins
from ricochet.tasks.registry.server_limits import Application, Message, Receive, Send
from ricochet.tasks.registry.server_turns import Turns

HEAVY = re.compile(r".*/(?:search|search-datasets|get-history.*|list|graphql|artifacts)")
"""Routes of searches, of steps of metrics and of files of a folder."""
AT_A_TIME = {"heavy": (4, 6, 2), "light": (8, 12, 4), "file": (16, math.inf, 0)}
"""Requests that are worked on at once, of a login, of all, and beside them of those who had little
lately: heavy ones, each of which may take a hundred megabytes, others, and files that are written,
which wait for their sender."""
WAIT = 30.0
"""Longest wait for a place, s."""
SIZES = (b"content-length", b"transfer-encoding")
"""Headers of a body."""
FREE = re.compile(r"/|/health|/version|/static-files/.*")
"""What is answered without work, where no body has to be read."""


class Shared:
    """An application in front of another that works on few requests of a login at a time."""

    def __init__(self, application: Application, *, written: re.Pattern[str], wait: float = WAIT):
        """Stand in front of an application.

        Args:
            written: Paths where a PUT has a file for a body, which is not read before its place.
            wait: Longest wait for a place, s; then the answer is 429, and MLflow's client asks
                again.
        """
        self.application, self.written, self.wait = application, written, wait
        self.turns = {kind: Turns(*most) for kind, most in AT_A_TIME.items()}

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Pass a request on when its login has a place for it."""
        kind = self._kind(scope) if scope["type"] == "http" else ""
        login = server_logins.stated_name(scope["headers"]) if kind else b""
        if not kind or (kind == "file" and not login):  # whose slow senders would be all one
            await self.application(scope, receive, send)
            return
        end, again = None, receive
        if kind != "file":  # else a slow sender would hold a place
            come = await _whole(receive)
            end, again = receive, _again(come, receive)  # after its body comes its client's leave
        turns = self.turns[kind]
        turn = turns.ask(login)
        with contextlib.ExitStack() as held:
            held.callback(turns.leave, login, turn)
            if await _come(turn, end, self.wait):
                await self.application(scope, again, _leaving(held, send))
            else:
                await _postpone(send)

    def _kind(self, scope: Any) -> str:
        """Return which places a request takes; none where it is answered without work."""
        if FREE.fullmatch(scope["path"]) and _is_bare(scope):
            return ""
        if scope["method"] == "PUT" and self.written.fullmatch(scope["path"]):
            return "file"
        return "heavy" if HEAVY.fullmatch(scope["path"]) else "light"


def _is_bare(scope: Any) -> bool:
    """Tell whether a request asks for something, and brings nothing."""
    sizes = [value for name, value in scope["headers"] if name in SIZES]
    return scope["method"] in ("GET", "HEAD") and all(value == b"0" for value in sizes)


async def _whole(receive: Receive) -> list[Message]:
    """Return what is received of a request until its body is whole, or its client gone."""
    come = [await receive()]
    while come[-1].get("more_body", False):
        come.append(await receive())
    return come


def _again(come: list[Message], receive: Receive) -> Receive:
    """Return what gives what has come once more, then what comes next."""
    left = iter(come)

    async def received() -> Message:
        found = next(left, None)
        return await receive() if found is None else found

    return received


async def _come(turn: asyncio.Future[None], end: Receive | None, wait: float) -> bool:
    """Wait for a turn; false where none came, or the client left before.

    Args:
        end: Returns when the client has left, where that can be waited for.
    """
    if turn.done():
        return True
    left: asyncio.Future[Any] = asyncio.ensure_future(end() if end else asyncio.sleep(wait))
    try:
        await asyncio.wait([turn, left], timeout=wait, return_when=asyncio.FIRST_COMPLETED)
        return turn.done() and not left.done()
    finally:
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)


def _leaving(held: contextlib.ExitStack, send: Send) -> Send:
    """Return what gives up a place as an answer begins, and sends it."""

    async def sent(message: Message) -> None:
        held.close()
        await send(message)

    return sent


async def _postpone(send: Send) -> None:
    message = "found more requests of this login, expected fewer at a time"
    body = json.dumps({"error_code": "REQUEST_LIMIT_EXCEEDED", "message": message}).encode()
    head = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 429, "headers": head})
    await send({"type": "http.response.body", "body": body})
