"""One rig, one user: locks that the operating system holds and drops when their process ends.

A rig is locked by a name of the machine, an abstract socket: bound for as long as any process has
it open, free at once after a kill -9. It lies in no folder, so nobody can move it away and bind
another in its place. A user who binds it first denies the rig to others, and the line says who that
is. A container with a network of its own has names of its own.

A file or a folder is locked as it is open, not by its existence: one left behind means nothing.
What somebody else put there, a pipe or a link is refused, and never waited for or followed.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import socket
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ricochet.models.core.bad_input import BadInput

EXPECTED = "a file or a folder of yours"
SHARED = Path("/tmp")
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_READABLE = 40
"""Letters of a rig's name that its socket's name shows; the digest tells rigs apart."""


class BusyError(RuntimeError):
    """What was to be locked is held by another process; the text is one line."""


@dataclass(frozen=True)
class RigLock:
    """The lock of a rig, one for all users of this machine.

    Attributes:
        scope: Rigs of another scope are others; those of the machine have none.
    """

    name: str
    scope: str = ""

    @property
    def socket(self) -> str:
        """Return the name that is bound, of at most 80 ASCII characters."""
        plain = "".join(x if x.isascii() and (x.isalnum() or x in "-_") else "_" for x in self.name)
        digest = hashlib.sha256(f"{self.scope}\0{self.name}".encode()).hexdigest()
        return f"ricochet-rig-{plain[:_READABLE]}-{digest[:16]}"


def hold(place: Path | RigLock) -> AbstractContextManager[int]:
    """Hold the lock on a rig, a file or a folder for the length of a `with` block.

    Yields the descriptor that holds it. A process that inherits it holds the lock as well, until
    it ends: beyond the block, and beyond the end of this process.

    Args:
        place: A rig, an existing folder, or a file, which is made where it is missing.

    Raises:
        BusyError: Another process, or another holder in this one, has it.
        BadInput: What is there is no file or folder, or belongs to neither this user nor root.
    """
    if isinstance(place, Path):
        return _hold_file(place)
    if sys.platform == "linux":
        return _hold_name(place)
    return _hold_file(SHARED / f"{place.socket}.lock")


@contextmanager
def _hold_name(rig: RigLock) -> Iterator[int]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as held:
        try:
            held.bind(f"\0{rig.socket}")
        except OSError as error:
            where, found = f"rig {rig.name!r}", error.strerror or str(error)
            if error.errno != errno.EADDRINUSE:
                raise BadInput(where, found.lower(), "a socket of its name") from error
            said = f"in use by another process{_holder(rig)}, wait for it to end"
            raise BusyError(f"{where}: {said}") from error
        held.listen(1)  # so that others learn whose it is
        yield held.fileno()


def _holder(rig: RigLock) -> str:
    """Return who bound a name, as far as the system says it."""
    form = struct.Struct("iII")
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as asking:
        asking.setblocking(False)
        asking.connect(f"\0{rig.socket}")
        found = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, form.size)
        process, user, _ = form.unpack(found)
        return f" ({process}, of user {user})"
    return ""


@contextmanager
def _hold_file(path: Path) -> Iterator[int]:
    handle = _open(path)
    try:
        _check(path, os.fstat(handle))
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError(f"{path}: in use by another process, wait for it to end") from error
        if not _is_at(path, os.fstat(handle)):  # its last holder removed or renamed it
            raise BusyError(f"{path}: another process has just ended with it, try again")
        yield handle
    finally:
        os.close(handle)


def _open(path: Path) -> int:
    """Open for locking alone; a file that is there must not be created again."""
    try:
        try:
            return os.open(path, _FLAGS)
        except FileNotFoundError:
            return os.open(path, _FLAGS | os.O_CREAT, 0o600)
    except OSError as error:
        found = "a link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise BadInput(str(path), found.lower(), EXPECTED) from error


def _check(path: Path, facts: os.stat_result) -> None:
    if not stat.S_ISREG(facts.st_mode) and not stat.S_ISDIR(facts.st_mode):
        raise BadInput(str(path), "a pipe, device or socket", EXPECTED)
    if facts.st_uid not in (os.geteuid(), 0):
        raise BadInput(str(path), f"one of user {facts.st_uid}", EXPECTED)


def _is_at(path: Path, facts: os.stat_result) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (facts.st_dev, facts.st_ino)
