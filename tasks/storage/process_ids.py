"""Processes named so that a number used again is no mistake: machine, number and time of start.

A name is `<host> <number> <start>`, the start in hundredths of a second since the machine's own, so
that setting its clock changes no name. A process that ended and was not yet collected is gone.
"""

import re
import socket

import psutil

ENDED = "ended"
NUMBER = re.compile(r"[0-9]{1,9}")
"""Names are read of a registry, where others write."""


def name_of(number: int) -> str:
    """Name the process of this machine that has a number."""
    return f"{socket.gethostname()} {number} {_started(number)}"


def is_alive(name: str) -> bool:
    """Tell whether a process is known to live: on this machine, with this number and start."""
    return _lives(name) is True


def is_gone(name: str) -> bool:
    """Tell whether a process is known to be gone; one of another machine never is."""
    return _lives(name) is False


def _lives(name: str) -> bool | None:
    host, _, rest = name.partition(" ")
    number, _, started = rest.partition(" ")
    if host != socket.gethostname() or not NUMBER.fullmatch(number):
        return None
    return started == _started(int(number)) != ENDED


def _started(number: int) -> str:
    try:
        process = psutil.Process(number)
        if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            return ENDED
        return str(round(100.0 * (process.create_time() - psutil.boot_time())))
    except psutil.NoSuchProcess:
        return ENDED
