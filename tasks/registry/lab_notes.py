"""What stands with each part of a lab's registry: which one, whose, and as of which start."""

import os
from dataclasses import dataclass
from pathlib import Path

LONGEST = 20_000
"""Bytes of a note: a path has 4096, and JSON takes up to six for one."""


@dataclass(frozen=True)
class Note:
    """A note.

    Attributes:
        registry: The id of the registry.
        home: Where the state was that it was last with (`home_of`); empty in notes of before.
        starts: How many starts of `up --config` on that state there were by then.
    """

    registry: str
    home: str = ""
    starts: int = 0


def home_of(state: Path | str) -> str:
    """Return where a state is, in letters that a database can hold.

    >>> home_of("/lab/artifacts")
    '/lab/artifacts'
    """
    return os.fsencode(state).decode(errors="backslashreplace")
