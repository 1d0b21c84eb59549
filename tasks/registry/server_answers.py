"""Answers of MLflow's server that are taken slowly, or not at all.

MLflow answers in threads, of which a server has forty, and whatever a thread gives is kept until
somebody takes it: a hundred readers that take nothing of large files fill the memory. So the files
of its pages, for which nobody is asked who he is, are read without a thread as they are taken. Of
other answers a few parts are kept, then the thread waits; and where more than `SLOW` threads wait,
the answer that is taken most slowly is cut off, so that others have their threads.
"""

import time
from collections.abc import MutableMapping
from typing import Any

import anyio
from anyio.abc import ObjectSendStream

from ricochet.tasks.registry.server_limits import CUT_OFF, Application, Message, Receive, Send

PAGES = "/static-files"
"""Where the files of pages are."""
PARTS = 16
"""Parts of an answer that are kept; those of a file have 8 KiB."""
SLOW = 10
"""Threads that may wait for readers, of the forty of a server."""
_LEAST = 0.1
"""Shortest time of which a pace is reckoned, s."""


class CutOffError(RuntimeError):
    """Enough threads wait for readers."""


class PageFiles:
    """An application in front of another that answers for the files of pages."""

    def __init__(self, application: Application, folder: str) -> None:
        """Stand in front of an application."""
        from starlette.staticfiles import StaticFiles

        self.application, self.files = application, StaticFiles(directory=folder)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer for a file, or pass a request on."""
        if scope["type"] != "http" or not scope["path"].startswith(f"{PAGES}/"):
            await self.application(scope, receive, send)
            return
        from starlette.exceptions import HTTPException
        from starlette.responses import PlainTextResponse

        try:
            await self.files({**scope, "root_path": PAGES}, receive, send)
        except HTTPException as error:
            answer = PlainTextResponse(f"{error.detail}\n", error.status_code)
            await answer(dict(scope), receive, send)


def with_patience(responder: type) -> type:
    """Return a class that passes on what a thread gives, as one that keeps `PARTS` of it."""
    waiting: list[_Queue] = []

    class Patient(responder):  # type: ignore[misc]
        """Passes an answer on as it is taken."""

        def __init__(self, application: Any, scope: Any) -> None:
            """Make a short queue."""
            super().__init__(application, scope)
            endless: Any = self
            endless.stream_send.close()
            endless.stream_receive.close()
            queue, self.stream_receive = anyio.create_memory_object_stream[Message](PARTS)
            self.stream_send = _Queue(queue, waiting)

        def wsgi(self, environ: Any, start_response: Any) -> None:
            """Give an answer, in a thread, as far as it is taken."""
            try:
                super().wsgi(environ, start_response)
            except (CutOffError, anyio.BrokenResourceError):
                # the server closes the connection of an answer without an end
                self.scope.setdefault("state", {})[CUT_OFF] = True

    return Patient


class _Queue:
    """Takes the parts of an answer; to be used in the event loop alone."""

    def __init__(self, queue: ObjectSendStream[Message], waiting: "list[_Queue]") -> None:
        self._queue, self._waiting = queue, waiting
        self._began, self._parts, self._scope = time.monotonic(), 0, anyio.CancelScope()

    @property
    def pace(self) -> float:
        """Parts that were taken a second."""
        return self._parts / max(time.monotonic() - self._began, _LEAST)

    async def send(self, message: Message) -> None:
        """Keep a part, if need be when another has been taken; raises `CutOffError`."""
        self._parts += 1
        try:
            self._queue.send_nowait(message)  # type: ignore[attr-defined]
        except anyio.WouldBlock:
            await self._wait(message)

    async def _wait(self, message: Message) -> None:
        """Wait for the reader, as one of `SLOW` at most: the slowest is cut off."""
        self._scope = anyio.CancelScope()
        self._waiting.append(self)
        if len(self._waiting) > SLOW:
            slowest = min(self._waiting, key=lambda each: each.pace)
            self._waiting.remove(slowest)
            slowest._scope.cancel()
        try:
            with self._scope:
                await self._queue.send(message)
        finally:
            if self in self._waiting:
                self._waiting.remove(self)
        if self._scope.cancelled_caught:
            raise CutOffError

    async def __aenter__(self) -> "_Queue":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._queue.aclose()
