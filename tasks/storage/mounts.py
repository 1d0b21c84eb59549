"""Whether something is mounted on a folder, which then can be neither renamed nor removed."""

import os
import re
from pathlib import Path

LINUX = Path("/proc/self/mountinfo")
"""Linux's list of mounts; the fifth word of a line is the place."""
ESCAPED = re.compile(r"\\([0-7]{3})")


def is_mounted(place: Path) -> bool:
    """Tell whether something is mounted on an absolute place.

    >>> is_mounted(Path("/"))
    True
    """
    return os.path.ismount(place) or str(place) in _listed()


def _listed() -> set[str]:
    """Return all places that Linux lists: those too where a folder of the same disk is mounted."""
    try:
        lines = LINUX.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return set()
    return {ESCAPED.sub(lambda each: chr(int(each[1], 8)), line.split()[4]) for line in lines}
