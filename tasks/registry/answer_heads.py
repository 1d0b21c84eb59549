"""Heads of answers over http, of few bytes and of lines that end as they should.

`http.client` takes a hundred lines of 64 KiB and gives them to a parser of mail, for which a lone
carriage return ends a line too: a head may then hold millions of lines, and messages in messages.
"""

import http.client
from typing import IO

LONGEST = 2**16
"""Bytes of a head, those of answers that go before it among them."""


class ShortHead(http.client.HTTPResponse):
    """An answer whose head is bounded; it is refused as an `http.client.HTTPException`."""

    def begin(self) -> None:
        """Read the head."""
        if self.headers is not None:
            return
        stream = self.fp
        self.fp = _Lines(stream)
        try:
            super().begin()
        finally:
            if self.fp is not None:  # else it was closed: no answer of http
                self.fp = stream


class _Lines:
    """The lines of a head."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._left = stream, LONGEST

    def readline(self, most: int) -> bytes:
        """Return the next line."""
        line = self._stream.readline(most)
        self._left -= len(line)
        if self._left < 0:
            raise http.client.HTTPException(f"a head of more than {LONGEST} bytes")
        if b"\r" in line.removesuffix(b"\n").removesuffix(b"\r"):
            raise http.client.HTTPException("a line of a head that a carriage return ends")
        return line

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
