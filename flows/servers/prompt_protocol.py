"""uvicorn's HTTP, which closes connections that ask for nothing.

uvicorn waits for a request without end: a thousand silent connections take all files that a server
may have open, and shut everybody out.
"""

from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

PATIENCE = 10.0
"""Longest time without a whole head of a request, beside those that are answered, s."""


class PromptProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that is closed where no request comes of it."""

    def connection_made(self, transport: Any) -> None:
        """Begin to look."""
        super().connection_made(transport)
        self.loop.call_later(PATIENCE, self._look, None)

    def _look(self, before: Any) -> None:
        """Close what is where it was, between two requests, when it was looked at before."""
        transport: Any = self.transport
        if transport.is_closing() or transport.get_protocol() is not self:  # a websocket by now
            return
        idle = self.cycle is None or self.cycle.response_complete
        if idle and self.cycle is before:
            transport.close()
        else:
            self.loop.call_later(PATIENCE, self._look, self.cycle if idle else self)
