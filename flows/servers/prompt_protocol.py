"""uvicorn's HTTP, which closes connections that ask for nothing.

uvicorn waits for a request without end: a thousand silent connections take all files that a server
may have open, and shut everybody out.
"""

from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

CLOSING = object()
PATIENCE = 10.0
"""Longest time without a whole head of a request, beside those that are answered, s."""


class PromptProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that is closed where no request comes of it."""

    def connection_made(self, transport: Any) -> None:
        """Begin to look."""
        super().connection_made(transport)
        self._is_lost = False
        self.loop.call_later(PATIENCE, self._look, None)

    def connection_lost(self, exc: Exception | None) -> None:
        """End to look."""
        self._is_lost = True
        super().connection_lost(exc)

    def _look(self, before: Any) -> None:
        """Close what is where it was, between two requests, when it was looked at before.

        What is closed and still has something to send, which nobody takes, is cut off.
        """
        transport: Any = self.transport
        if self._is_lost or transport.get_protocol() is not self:  # a websocket by now
            return
        idle = self.cycle is None or self.cycle.response_complete
        now = CLOSING if transport.is_closing() else self.cycle if idle else self
        if now is before and transport.is_closing():
            transport.abort()
            return
        if idle and now is before:
            transport.close()
            now = CLOSING
        self.loop.call_later(PATIENCE, self._look, now)
