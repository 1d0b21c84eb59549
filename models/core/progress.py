"""How a computation reports its progress, whoever shows it."""

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with the number of steps done and the number in all."""


def no_progress(done: int, total: int) -> None:
    """Take a report of progress and show nothing.

    >>> no_progress(3, 10)
    """
