"""Processes named so that a number used again is no mistake: machine, number and time of start.

A name is `<host> <number> <start>`, the start in clock ticks since the machine's own start, as
Linux tells in `/proc`. Without `/proc` the start is `unknown` and the number alone counts.
A process that ended and was not yet collected by its parent is gone.
"""

import os
import socket
from pathlib import Path

ENDED = "ended"


def name_of(number: int) -> str:
    """Name a process of this machine.

    Args:
        number: Its process number.

    Returns:
        Its name.
    """
    return f"{socket.gethostname()} {number} {_started(number)}"


def number_of(name: str) -> int:
    """Return the process number in a name.

    Args:
        name: What `name_of` returned.

    Raises:
        ValueError: If it is no such name.
    """
    _, number, _ = name.split(" ")
    return int(number)


def is_alive(name: str) -> bool:
    """Tell whether a process is known to live: on this machine, with this number and start.

    Args:
        name: Its name; a text that is none is not known to live.
    """
    return _lives(name) is True


def is_gone(name: str) -> bool:
    """Tell whether a process is known to be gone; one of another machine never is.

    Args:
        name: Its name; a text that is none is not known to be gone.
    """
    return _lives(name) is False


def _lives(name: str) -> bool | None:
    host, _, rest = name.partition(" ")
    number, _, started = rest.partition(" ")
    if host != socket.gethostname() or not number.isdecimal():
        return None
    try:
        os.kill(int(number), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it exists and is another person's
    return started == _started(int(number)) != ENDED


def _started(number: int) -> str:
    """Return when a process started, `unknown` without `/proc`, ENDED where it has."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        return ENDED if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return "unknown"
