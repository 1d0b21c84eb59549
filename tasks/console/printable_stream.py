"""A stream that shows what others wrote: lines stay lines, control characters are spelled out.

Names and messages that a server chose are among what Prefect prints, with the escape sequences that
they hold.
"""

import sys
from typing import Any, TextIO

from ricochet.models.core.printable_text import printable_lines


class PrintableStream:
    """A text stream in front of another, which is no terminal to whoever would colour text."""

    def __init__(self, stream: TextIO) -> None:
        """Stand in front of a stream."""
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text as `printable_lines` shows it; returns its characters."""
        self._stream.write(printable_lines(text))
        return len(text)

    def isatty(self) -> bool:
        """Tell that colours are not taken."""
        return False

    def __getattr__(self, name: str) -> Any:
        """Return what else the stream has."""
        return getattr(self._stream, name)


def show_printable() -> None:
    """Have this process write to its standard streams by such ones."""
    sys.stdout, sys.stderr = map(PrintableStream, (sys.stdout, sys.stderr))
