"""One rig, one user: a lock that the operating system holds and drops when its process ends.

The lock is on the open file, not on its existence: after a kill -9 it is free at once, and a file
left behind means nothing.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class BusyError(RuntimeError):
    """What was to be locked is held by another process; the text is one line."""


def rig_lock(name: str, folder: Path | None = None) -> Path:
    """Return the lock file of a rig, one for all users of this machine.

    Args:
        folder: Where lock files lie; the system's temporary folder when absent.
    """
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)
    return (folder or Path(tempfile.gettempdir())) / f"ricochet-rig-{safe}.lock"


@contextmanager
def hold(path: Path) -> Iterator[int]:
    """Hold the lock on a file or a folder for the length of a `with` block.

    Yields the descriptor that holds it. A process that inherits it holds the lock as well, until
    it ends: beyond the block, and beyond the end of this process.

    Args:
        path: An existing folder, or a file, which is made where it is missing.

    Raises:
        BusyError: Another process, or another holder in this one, has it.
    """
    handle = _open(path)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError(f"{path}: in use by another process, wait for it to end") from error
        yield handle
    finally:
        os.close(handle)


def _open(path: Path) -> int:
    """Open for locking alone; a file that another user made must not be created again."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
