"""Logs of servers that never end and never grow beyond a bound: older parts are moved aside.

A child writes to a descriptor of its own and knows nothing of that: its log is opened to append, a
full one is copied to `NAME.log.1`, of one that grew far beyond its bound the end, and emptied where
it stands. What is written between the copy and the emptying, microseconds, is lost.
"""

import contextlib
import os
import shutil
from pathlib import Path


def rotate(log: Path, *, largest: float, kept: int) -> bool:
    """Move a log aside if it is larger than so many bytes; tell whether it was.

    Args:
        kept: Older parts that stay, `.1` the latest.
    """
    with contextlib.suppress(OSError):  # it is not there, or the disk is full: the next time
        if log.stat().st_size > largest:
            _shift(log, kept)
            _copy_end(log, _part(log, 1), round(2 * largest))
            os.truncate(log, 0)
            return True
    return False


def _copy_end(log: Path, part: Path, most: int) -> None:
    with log.open("rb") as source, part.open("wb") as target:
        source.seek(max(os.fstat(source.fileno()).st_size - most, 0))
        shutil.copyfileobj(source, target)


def _shift(log: Path, kept: int) -> None:
    """Rename each older part to the next number; the last one goes."""
    for number in range(kept, 0, -1):
        with contextlib.suppress(FileNotFoundError):
            if number == kept:
                _part(log, number).unlink()
            else:
                _part(log, number).rename(_part(log, number + 1))


def _part(log: Path, number: int) -> Path:
    return log.with_name(f"{log.name}.{number}")
