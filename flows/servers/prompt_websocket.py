"""uvicorn's websockets, which take little of whoever has not been answered.

Prefect answers a first message, which is a login, and what comes before that is kept unread: a
thousand unfinished first messages of a megabyte fill the memory.
"""

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from ricochet.flows.servers.prompt_protocol import PromptProtocol

FIRST = 2**13
"""Bytes of a message that comes before an answer."""


class PromptWebSocket(WebSocketsSansIOProtocol):
    """A websocket whose messages are small until one is answered."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Begin with small messages."""
        super().__init__(*arguments, **options)
        self._largest = self.conn.max_message_size
        self.conn.max_message_size = FIRST
        self.is_answered = False

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and be counted no longer."""
        PromptProtocol.forget(self.transport)
        super().connection_lost(exc)

    async def send(self, message: Any) -> None:
        """Send what the application says; an answer allows larger messages."""
        if message["type"] == "websocket.send":
            self.is_answered, self.conn.max_message_size = True, self._largest
        await super().send(message)
