"""Logs of servers that never end and never grow beyond a bound: older parts are moved aside.

A child writes to a descriptor of its own and knows nothing of that: its log is opened to append, a
full one is copied, of one that grew far beyond its bound the end, and emptied where it stands; once
the copy is whole the older parts make room for it, and it becomes `NAME.log.1`. What is written
between the copy and the emptying is lost.
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
            copied = _copy_end(log, round(2 * largest))
            _shift(log, kept)
            copied.rename(_part(log, 1))
            os.truncate(log, 0)
            return True
    return False


def _copy_end(log: Path, most: int) -> Path:
    """Copy the end of a log beside it, under a name that is no part's; whole or absent."""
    copied = log.with_name(f"{log.name}.copied")
    try:
        with log.open("rb") as source, copied.open("wb") as target:
            source.seek(max(os.fstat(source.fileno()).st_size - most, 0))
            shutil.copyfileobj(source, target)
    except OSError:
        copied.unlink(missing_ok=True)
        raise
    return copied


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
