"""Processes named so that a number used again is no mistake: machine, number and time of start.

A name is `<host> <number>@<boot>,<namespace>,<machine> <start>`, the start in hundredths of a
second since the machine's own, so that setting its clock changes no name. Numbers mean something
within a boot and a namespace (a container has its own); of any other of the same host name nothing
is known, but that an earlier boot of the same machine is over, and another namespace of the same
container, which is to hold no further one. Linux alone says what follows `@`, and older names lack
it: by those the host is the machine. A process that ended and was not yet collected is gone.
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
LAYER = re.compile(r"^\d+ \d+ \S+ / / .*\bupperdir=([^,\s]+)", re.MULTILINE)
"""Where a container's own files lie, in Linux's list of mounts."""
RANDOM = re.compile(r"[0-9a-f]{64}")
CONTAINER, MACHINE = "c", "m"
"""What the last word of a place begins with."""


def name_of(number: int) -> str:
    """Name the process of this machine that has a number."""
    place = ",".join(_place())
    return f"{socket.gethostname()} {number}{place and '@'}{place} {_started(number)}"


def number_of(name: str) -> int:
    """Return the number in a name that `name_of` gave."""
    return int(name.split()[1].partition("@")[0])


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
    process, _, started = rest.partition(" ")
    number, _, place = process.partition("@")
    if host != socket.gethostname() or not NUMBER.fullmatch(number):
        return None
    there, here = place.split(","), _place()
    if place and there[:2] != here[:2]:
        return False if _is_over(there, here) else None
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
        mounts = Path("/proc/self/mountinfo").read_text(errors="replace")
    except OSError:
        return []
    layer = None if namespace == FIRST else LAYER.search(mounts)
    return [boot, namespace, _container(layer[1], boot) if layer else _machine()]


def _is_over(there: list[str], here: list[str]) -> bool:
    """Tell whether a place was this machine in another boot, or this container before."""
    if len(there) != 3 or there[2] == UNKNOWN or there[2:] != here[2:]:
        return False
    return there[0] != here[0] or there[2].startswith(CONTAINER)


def _machine() -> str:
    """Return what distinguishes this machine, and not its secret id."""
    try:
        secret = Path("/etc/machine-id").read_text(errors="replace").strip()
    except OSError:
        return UNKNOWN
    return MACHINE + _short(secret) if len(secret) == 32 else UNKNOWN  # an image has none


def _container(layer: str, boot: str) -> str:
    """Return what distinguishes this container, and stays when it is started anew.

    Its files lie at a random place, or at one that is numbered by each machine.
    """
    return CONTAINER + _short(layer if RANDOM.search(layer) else layer + boot)


def _short(text: str) -> str:
    return hashlib.sha256(f"ricochet {text}".encode()).hexdigest()[:16]
