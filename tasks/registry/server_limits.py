"""What a request may take of a server before anybody is asked who sends it: bytes, and time.

Servers ask for a login when they have read what is sent, and hold a place for whoever reads the
answer; so a stranger's body is bounded, and an answer that nobody takes is not waited for.
"""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ricochet.models.core.bad_input import BadInput

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

BODY = 2**23
"""Bytes of a body."""
PATIENCE = 10.0
"""Longest wait for a client to take a part of an answer, s."""


class TooLargeError(BadInput):
    """A body is larger than is read."""


class Bounded:
    """An application in front of another that bounds what requests take."""

    def __init__(
        self,
        application: Application,
        *,
        body: int = BODY,
        patience: float = PATIENCE,
        files: re.Pattern[str] | None = None,
    ) -> None:
        """Stand in front of an application.

        Args:
            body: Bytes that a body may have.
            patience: Longest wait for a client to take a part of an answer, s.
            files: Paths whose bodies are files, written as they come, of any size.
        """
        self.application, self.body, self.patience, self.files = application, body, patience, files

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 413."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        begun = False

        async def prompt(message: Message) -> None:
            nonlocal begun
            begun = True
            await asyncio.wait_for(send(message), self.patience)

        free = self.files is not None and self.files.fullmatch(scope["path"]) is not None
        most = math.inf if free else self.body
        try:
            if _stated(scope) > most:
                raise _too_large(self.body)
            await self.application(scope, _counted(receive, most), prompt)
        except TooLargeError as error:
            if not begun:
                await _refuse(prompt, str(error))


def _stated(scope: MutableMapping[str, Any]) -> float:
    """Return how long a body says it is; what is no length is as good as none."""
    text = dict(scope["headers"]).get(b"content-length", b"0")
    return float(text) if text.isdigit() else 0.0


def _counted(receive: Receive, most: float) -> Receive:
    """Return what receives the same, and raises once it is too much."""
    count = 0

    async def counted() -> Message:
        nonlocal count
        message = await receive()
        count += len(message.get("body", b""))
        if count > most:
            raise _too_large(most)
        return message

    return counted


def _too_large(most: float) -> TooLargeError:
    return TooLargeError("request", "a larger body", f"at most {most:.0f} bytes")


async def _refuse(send: Send, text: str) -> None:
    headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})
