"""Processes named so that a number used again is no mistake: machine, number and time of start.

A name is `<host> <number> <start> <boot> <namespace> <machine>`, the start in hundredths of a
second since the machine's own, so that setting its clock changes no name. Numbers mean something
within a boot and a namespace (a container has its own); of any other of the same host name nothing
is known, but that another boot of the same machine is over. Linux alone says the last three, and
older names lack them: by those the host is the machine. A process that ended and was not yet
collected is gone.
"""

import hashlib
import os
import re
import socket
from pathlib import Path

import psutil

ENDED, UNKNOWN = "ended", "unknown"
NUMBER = re.compile(r"[0-9]{1,9}")
"""Names are read of a registry, where others write."""
FIRST = "4026531836"
"""Linux's own number of the namespace that no container has."""


def name_of(number: int) -> str:
    """Name the process of this machine that has a number."""
    return " ".join((socket.gethostname(), str(number), _started(number), *_place()))


def is_alive(name: str) -> bool:
    """Tell whether a process is known to live: on this machine, with this number and start."""
    return _lives(name) is True


def is_gone(name: str) -> bool:
    """Tell whether a process is known to be gone; one of another machine never is."""
    return _lives(name) is False


def is_known(name: str) -> bool:
    """Tell whether a process is known to live or to be gone."""
    return _lives(name) is not None


def _lives(name: str) -> bool | None:
    host, _, rest = name.partition(" ")
    number, _, rest = rest.partition(" ")
    started, *there = rest.split(" ")
    if host != socket.gethostname() or not NUMBER.fullmatch(number):
        return None
    here = _place()
    if there and there[:2] != here[:2]:
        return False if _is_another_boot(there, here) else None
    now = _started(int(number))
    return None if UNKNOWN in (now, started) else started == now != ENDED


def _started(number: int) -> str:
    """Return when a process started; `unknown` of one that lives and is hidden from this user."""
    try:
        process = psutil.Process(number)
        if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            return ENDED
        return str(round(100.0 * (process.create_time() - psutil.boot_time())))
    except psutil.ZombieProcess:
        return ENDED
    except psutil.Error:  # `hidepid` of /proc
        return UNKNOWN if _is_there(number) else ENDED


def _is_there(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _place() -> list[str]:
    """Return this boot, namespace of processes and machine; nothing where the system has none."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except (FileNotFoundError, PermissionError):
        return []
    return [boot, namespace, _machine() if namespace == FIRST else UNKNOWN]


def _machine() -> str:
    """Return what tells this machine from others, and not its secret id."""
    try:
        secret = Path("/etc/machine-id").read_bytes().strip()
    except (FileNotFoundError, PermissionError):
        return UNKNOWN
    whole = len(secret) == 32  # an image has an empty one, or a word
    return hashlib.sha256(b"ricochet" + secret).hexdigest()[:16] if whole else UNKNOWN


def _is_another_boot(there: list[str], here: list[str]) -> bool:
    """Tell whether a boot is another one of this very machine, outside of any container."""
    return len(there) == len(here) == 3 and there[1:] == here[1:] and UNKNOWN not in here
