"""uvicorn's websockets, which take little of whoever has not been answered.

Prefect answers a first message, which is a login, and what comes before that is kept unread: a
thousand unfinished first messages of a megabyte fill the memory, and 12 MB of pings take a server
fifteen seconds.
"""

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from ricochet.flows.servers.prompt_protocol import PromptProtocol

FIRST, HEAD = 2**11, 2**4
"""Bytes of a message before an answer, which is all that comes before it, and of its frame."""


class PromptWebSocket(WebSocketsSansIOProtocol):
    """A websocket whose messages are small until one is answered."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Begin with small messages."""
        super().__init__(*arguments, **options)
        self._largest = self.conn.max_message_size
        self.conn.max_message_size = FIRST
        self.is_answered, self._early = False, 0

    def data_received(self, data: bytes) -> None:
        """Read what comes; one that sends much before an answer is cut off."""
        if self.handshake_initiated and not self.is_answered:
            self._early += len(data)
            if self._early > FIRST + HEAD:
                self.transport.abort()
                return
        super().data_received(data)

    def handle_parser_exception(self) -> None:
        """End what sends no frame; one that was refused before it was a websocket is cut off."""
        if self.conn.close_sent is None:
            self.transport.abort()
        else:
            super().handle_parser_exception()

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and be counted no longer."""
        PromptProtocol.forget(self.transport)
        super().connection_lost(exc)

    async def send(self, message: Any) -> None:
        """Send what the application says; an answer allows larger messages."""
        if message["type"] == "websocket.send":
            self.is_answered, self.conn.max_message_size = True, self._largest
        await super().send(message)
