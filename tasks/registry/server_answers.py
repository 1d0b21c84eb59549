"""Answers of MLflow's server that are taken slowly, or not at all.

MLflow answers in threads, of which a server has forty, and whatever a thread gives is kept until
somebody takes it: a hundred readers that take nothing of large files fill the memory. So the files
of its pages, for which nobody is asked who he is, are read without a thread as they are taken. Of
other answers a few parts are kept, then the thread waits; and where `SLOW` threads wait already,
the answer is cut off, so that others have their threads.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import anyio
from anyio.abc import ObjectSendStream

from ricochet.tasks.registry.server_limits import CUT_OFF

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

PAGES = "/static-files"
"""Where the files of pages are."""
PARTS = 16
"""Parts of an answer that are kept; those of a file have 8 KiB."""
SLOW = 10
"""Threads that may wait for readers, of the forty of a server."""


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
    waiting = _Waiting()

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


class _Waiting:
    """How many threads wait."""

    threads = 0


class _Queue:
    """Takes the parts of an answer; to be used in the event loop alone."""

    def __init__(self, queue: ObjectSendStream[Message], waiting: _Waiting) -> None:
        self._queue, self._waiting = queue, waiting

    async def send(self, message: Message) -> None:
        """Keep a part, if need be when another has been taken; raises `CutOffError`."""
        try:
            self._queue.send_nowait(message)  # type: ignore[attr-defined]
            return
        except anyio.WouldBlock:
            if self._waiting.threads >= SLOW:
                raise CutOffError from None
        self._waiting.threads += 1
        try:
            await self._queue.send(message)
        finally:
            self._waiting.threads -= 1

    async def __aenter__(self) -> "_Queue":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._queue.aclose()
