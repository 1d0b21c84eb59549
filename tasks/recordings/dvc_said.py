"""What others say, as DVC prints it: in one plain line each, and cut short.

What a server answers becomes the text of an error, and DVC prints that as it came. Sequences for a
terminal in it would rename its window or forge a line, and end DVC in a traceback where what it
prints goes to a file.
"""

import re
from collections.abc import Iterator
from typing import Any

from ricochet.models.core.printable_text import one_line, printable_lines

LONGEST, LONGEST_MESSAGE = 400, 2**14
"""Characters of an error of others, and of a message of DVC's own, which has lines."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def verify_words() -> None:
    """Have DVC print messages, errors and tracebacks without what a terminal would obey.

    An error of others is no fault of DVC's, whose support is not asked.
    """
    from dvc import cli, logger
    from dvc.exceptions import DvcException

    module: Any = logger
    program: Any = cli
    kind = module.ColorFormatter
    message, exception = kind.formatMessage, kind.formatException

    def causes(error: BaseException | None) -> Iterator[str]:
        while error:
            own = isinstance(error, DvcException)
            yield _plain(str(error)) if own else one_line(error, longest=LONGEST)
            error = error.__cause__

    module._iter_causes = causes
    program._log_unknown_exceptions = lambda: program.logger.exception("unexpected error")
    kind.formatMessage = lambda self, record: _plain(message(self, record))
    kind.formatException = lambda self, error: _plain(exception(self, error))


def _plain(text: str) -> str:
    """Return a message whose lines are printable; its colours are DVC's own."""
    lines = printable_lines(_COLOUR.sub("", text[:LONGEST_MESSAGE]).expandtabs())
    return lines if len(text) <= LONGEST_MESSAGE else f"{lines}.. ({len(text)} characters)"
