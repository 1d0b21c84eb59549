"""Progress: a bar for an operator at a terminal, one line a step in a pipe or a log."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

from ricochet.models.core.printable_text import one_line
from ricochet.models.core.progress import Progress, no_progress

LONGEST = 4000
"""Characters of a line."""
ProgressFactory = Callable[[str], contextlib.AbstractContextManager[Progress]]
"""Shows the progress of a step, whose name it is given, while a block runs."""


def part(progress: Progress, number: int, of: int) -> Progress:
    """Return the progress of one of several equal parts; the whole counts hundredths of one."""

    def report(done: int, total: int) -> None:
        progress(100 * number + 100 * done // max(total, 1), 100 * of)

    return report


def announce(line: str, *, stream: TextIO | None = None) -> None:
    """Say on standard error, or another stream, what begins now."""
    stream = sys.stderr if stream is None else stream
    stream.write(f"{one_line(line, longest=LONGEST)}\n")
    stream.flush()


@contextlib.contextmanager
def bar(label: str, *, stream: TextIO | None = None) -> Iterator[Progress]:
    """Show a bar while the block runs, by default on standard error; in a pipe a line before it."""
    stream = sys.stderr if stream is None else stream
    if not stream.isatty():
        announce(f"{label} ...", stream=stream)
        yield no_progress
        return
    from tqdm import tqdm  # a pipe never pays for it

    class Bar(tqdm):  # type: ignore[misc]  # it has no types
        monitor_interval = 0  # no thread: every report is looked at (miniters)

    shown = one_line(label)
    with Bar(desc=shown, file=stream, leave=False, dynamic_ncols=True, miniters=1) as drawn:

        def report(done: int, total: int) -> None:
            drawn.total = total
            drawn.update(done - drawn.n)
            if done == total:
                drawn.refresh()

        yield report
