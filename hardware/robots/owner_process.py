"""Starts the process that owns an arm, and ends it."""

import socket
import subprocess
import sys
from typing import Protocol


class OwnerProcess(Protocol):
    """A process that was started."""

    def wait(self, patience: float) -> bool:
        """Return whether it has ended, after so long, s, at most."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...


class _Child:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def wait(self, patience: float) -> bool:
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        self.process.kill()


def launch(*inherited: int) -> tuple[socket.socket, OwnerProcess]:
    """Start `owner` as a process of its own session, which no terminal's signal reaches.

    Args:
        inherited: Descriptors that stay open in it until it ends.

    Returns:
        This side of the connection, and the process.
    """
    ours, theirs = socket.socketpair()
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ricochet.hardware.robots.owner", str(theirs.fileno())],
            pass_fds=(theirs.fileno(), *inherited),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
    return ours, _Child(process)
