"""h11's reading of requests, of short heads alone, and of few blanks in a row.

h11 compares a head with its bound only while it is incomplete, and one that comes whole in one read
is read whatever its length. So it is handed no more than the bound at a time: then each head, each
line before a part of a body, and what stands behind all parts, is incomplete at the bound. And its
expression for a header's value, `OWS value OWS`, tries each way to share blanks between the two
where no value follows: n blanks and a NUL take time as n^2. So where h11 is to read lines, more
blanks in a row than anybody honest sends are refused before. Lines that begin with blanks go on
with the one before, which makes a row of blanks of several lines. The bytes of a body are free.
"""

import re
from typing import Any

import h11

MOST_BLANKS = 100
"""In a row, ends of lines among them."""
ROW, AS_SPACES = b" " * (MOST_BLANKS + 1), bytes.maketrans(b"\t\r\n", b"   ")
END = re.compile(rb"\n\r?\n")
"""Of a head, and of what stands behind all parts of a body, as h11 finds it."""
PART = re.compile(rb"(?:\r?\n)?0*[1-9A-Fa-f][0-9A-Fa-f]*(?:;[^\n]*|[ \t]*)\r\n")
"""What is left of the end of a part, and the line before the next, in the form that h11 takes."""


class ShortHeads(h11.Connection):
    """What reads requests, and refuses heads and lines that h11 would read for long."""

    def __init__(self, longest: int) -> None:
        """Read for a server.

        Args:
            longest: Bytes of a head, of a line before a part, and of what stands behind all parts.
        """
        super().__init__(h11.SERVER, longest)
        self._longest, self._later, self._awaits_part = longest, bytearray(), False

    def receive_data(self, data: bytes) -> None:
        """Keep what has come until it is asked for."""
        self._later += data

    def next_event(self) -> Any:
        """Return what has come; `h11.RemoteProtocolError` where it is refused."""
        event = self._read()
        while event is h11.NEED_DATA and self._later:
            self._hand_on()
            event = self._read()
        if isinstance(event, h11.Request):
            self._awaits_part = any(name == b"transfer-encoding" for name, _ in event.headers)
        if isinstance(event, h11.Data):
            self._awaits_part = event.chunk_end
        return event

    def _hand_on(self) -> None:
        """Give h11 as much as it may have at a time: one byte more is too long."""
        room = self._longest + 1 - len(self.trailing_data[0])
        super().receive_data(bytes(self._later[:room]))
        del self._later[:room]

    def _read(self) -> Any:
        if ROW in self._lines().translate(AS_SPACES):
            raise h11.RemoteProtocolError("too many blanks in a row", error_status_hint=400)
        return super().next_event()

    def _lines(self) -> bytes:
        """Return what is to be read as lines, without the bytes of a body that follow."""
        if self.their_state is not h11.IDLE and not self._awaits_part:
            return b""
        waiting: bytes = self.trailing_data[0]
        if self._awaits_part and (found := PART.match(waiting)):
            return found[0]
        end = END.search(waiting)
        return waiting if end is None else waiting[: end.end()]
