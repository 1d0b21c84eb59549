"""Prefect's server, where nobody without a login takes the place of others.

On SQLite Prefect answers a hundred requests at a time, and lets others wait. It counts websockets
among them, from before a login to their end, and files of its pages, until they are read: whoever
opens a hundred without a word stops the server. Here requests of its interface alone are counted,
until their answer is there and not until it is taken; a websocket that says nothing is closed, and
an answer that nobody takes is given up (`tasks.registry.server_limits`). No page of another's
frames its pages, where clicks meant for that one would start runs.
"""

import asyncio
import base64
import hmac
import os
import re
from collections.abc import MutableMapping
from typing import Any

from ricochet.flows.servers.environments import SERVER_LOGIN
from ricochet.tasks.registry.server_limits import (
    KNOWN,
    Application,
    Bounded,
    Message,
    Receive,
    Send,
)

PATIENCE = 10.0
"""Longest wait for the first words of a websocket, which are its login, s."""
KEPT = 2**20
"""Bytes of an answer that are kept for its reader; one that is longer keeps its place."""
ASKED = re.compile(r"/api/(?!.*(?:health|ready|version)/?$).*")
"""What Prefect's server answers to no stranger; its page stands for what is not below `/api`."""
UNFRAMED = (b"x-frame-options", b"DENY")
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


class Known:
    """An application in front of another that notes at once of whom a request with a login is.

    Prefect asks for it; a body may take long to come, and an answer to be made.
    """

    def __init__(self, application: Application, login: str) -> None:
        """Stand in front of an application that takes one login, `name:password`."""
        self.application = application
        self._stated = b"Basic " + base64.b64encode(login.encode())

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass a request on."""
        found = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        if len(found) == 1 and hmac.compare_digest(found[0], self._stated):
            scope.setdefault("state", {})[KNOWN] = b""
        await self.application(scope, receive, send)


class Unframed:
    """An application in front of another whose pages are shown in no page of another's."""

    def __init__(self, application: Application) -> None:
        """Stand in front of an application."""
        self.application = application

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), UNFRAMED]}
            await send(message)

        await self.application(scope, receive, sent)


class _Answer:
    """An answer that is kept while it is short."""

    def __init__(self, send: Send) -> None:
        self._send, self._kept, self._size = send, list[Message](), 0

    async def send(self, message: Message) -> None:
        """Keep a part, or pass all on."""
        self._kept.append(message)
        self._size += len(message.get("body", b""))
        if self._size > KEPT:
            await self.pass_on()

    async def pass_on(self) -> None:
        """Send what is kept."""
        kept, self._kept = self._kept, []
        for message in kept:
            await self._send(message)


def uncounted(limited: type) -> type:
    """Return Prefect's limit of requests as one of its interface alone, and not of its readers."""

    class OfRequests(limited):  # type: ignore[misc]
        """A limit that websockets, files of pages and answers that are sent are not counted in."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            """Wait for a place, if one is needed, and answer when it is free again."""
            if scope["type"] == "websocket" or not scope.get("path", "").startswith("/api"):
                await self.app(scope, receive, send)
                return
            answer = _Answer(send)
            try:
                await super().__call__(scope, receive, answer.send)
            finally:  # a fault is answered, and raised for the log
                await answer.pass_on()

    return OfRequests


def without_descriptions(application: Any) -> Any:
    """Return an application of FastAPI's, and all in it, without what describes its routes.

    That is made anew for whoever asks, in seconds, without a login.
    """
    names = ("openapi_url", "docs_url", "redoc_url", "swagger_ui_oauth2_redirect_url")
    described = {getattr(application, name, None) for name in names}
    routes = application.router.routes
    routes[:] = [each for each in routes if getattr(each, "path", None) not in described]
    for each in routes:
        if hasattr(getattr(each, "app", None), "openapi_url"):
            without_descriptions(each.app)
    return application


class Comparing:
    """What Prefect compares logins by, in place of `hmac`, which takes texts of ASCII alone."""

    @staticmethod
    def compare_digest(found: Any, expected: str) -> bool:
        """Tell whether a login is right; one of other letters is wrong, and no fault."""
        if not isinstance(found, str):
            return False
        stated = found.encode("utf-8", "surrogatepass")
        return hmac.compare_digest(stated, expected.encode())


def create_app() -> Bounded:
    """Make the application from Prefect's settings."""
    from prefect.server.api import server
    from prefect.server.utilities import subscriptions

    module: Any = server
    for each in (server, subscriptions):
        each.hmac = Comparing  # type: ignore[attr-defined]
    module.RequestLimitMiddleware = uncounted(server.RequestLimitMiddleware)
    application: Application = Unframed(Impatient(without_descriptions(server.create_app())))
    if login := os.environ.get(SERVER_LOGIN):
        application = Known(application, login)
    return Bounded(application, asked=ASKED)
