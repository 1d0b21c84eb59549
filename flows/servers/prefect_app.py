"""Prefect's server, where nobody without a login takes the place of others.

On SQLite Prefect answers a hundred requests at a time, and lets others wait. It counts websockets
among them, from before a login to their end, and files of its pages, until they are read: whoever
opens a hundred without a word stops the server. Here requests of its interface alone are counted,
a websocket that says nothing is closed, and an answer that nobody takes is given up
(`tasks.registry.server_limits`).
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ricochet.tasks.registry.server_limits import Bounded

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Application = Callable[[MutableMapping[str, Any], Receive, Any], Awaitable[None]]

DESCRIPTIONS = re.compile(r"/+(?:api/+)?(?:docs|redoc|openapi\.json)(?:/.*)?")
"""Of the interface: made anew for whoever asks, they take seconds."""
PATIENCE = 10.0
"""Longest wait for the first words of a websocket, which are its login, s."""
SILENT: Message = {"type": "websocket.disconnect", "code": 1008}


class Impatient:
    """An application in front of another that has websockets say something."""

    def __init__(self, application: Application, patience: float = PATIENCE) -> None:
        """Stand in front of an application.

        Args:
            patience: Longest wait for the first words, s.
        """
        self.application, self.patience = application, patience

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Any) -> None:
        """Pass a request on."""
        heard = self._heard(receive) if scope["type"] == "websocket" else receive
        await self.application(scope, heard, send)

    def _heard(self, receive: Receive) -> Receive:
        """Return what receives the same, and says that a websocket has gone which stays silent."""
        spoken = False

        async def heard() -> Message:
            nonlocal spoken
            if spoken:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), self.patience)
            except TimeoutError:
                return SILENT
            spoken = message["type"] == "websocket.receive"
            return message

        return heard


def uncounted(limited: type) -> type:
    """Return Prefect's limit of requests as one of its interface alone."""

    class OfRequests(limited):  # type: ignore[misc]
        """A limit that websockets and the files of pages are not counted in."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            """Wait for a place, if one is needed."""
            if scope["type"] == "websocket" or not scope.get("path", "").startswith("/api"):
                await self.app(scope, receive, send)
            else:
                await super().__call__(scope, receive, send)

    return OfRequests


def create_app() -> Bounded:
    """Make the application from Prefect's settings."""
    from prefect.server.api import server

    module: Any = server
    module.RequestLimitMiddleware = uncounted(server.RequestLimitMiddleware)
    return Bounded(Impatient(server.create_app()), hidden=DESCRIPTIONS)
