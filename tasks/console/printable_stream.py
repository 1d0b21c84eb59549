"""A stream that shows what others wrote: lines stay lines, control characters are spelled out.

Names and messages that a server chose are among what Prefect prints, with the escape sequences that
they hold.
"""

import logging
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
    """Have this process, its loggers too, write to its standard streams by such ones."""
    shown = {id(stream): PrintableStream(stream) for stream in (sys.stdout, sys.stderr)}
    sys.stdout, sys.stderr = (shown[id(stream)] for stream in (sys.stdout, sys.stderr))
    known = [logging.root, *map(logging.getLogger, logging.root.manager.loggerDict)]
    for handler in {each for logger in known for each in logger.handlers}:
        for holder, name in ((handler, "stream"), (getattr(handler, "console", None), "file")):
            if found := shown.get(id(getattr(holder, name, None))):
                setattr(holder, name, found)
