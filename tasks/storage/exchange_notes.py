"""What is noted beside a folder while another is put in its place (`tasks.storage.exchange`).

A note says where things are from where it lies itself, so that it is of what was moved or copied
with it. What was made is known by a random name within. A note of another place, or one that names
folders apart and was moved or copied itself, is refused: they may be another's.
"""

import glob
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.checked_json import EXACT
from ricochet.tasks.storage.files import read_bytes, write_json

NOTED = ".exchange.json"
"""File in what was made, from before the first renaming until after the last."""
KILLED = "a restore that was killed before its end"


@dataclass(frozen=True)
class Move:
    """What is renamed at a place.

    Attributes:
        aside: Where what was there goes; None where nothing was.
        made: The random name in what was made, by which it is known there.
    """

    place: Path
    aside: Path | None
    made: str

    @property
    def is_put(self) -> bool:
        """Whether what was made is in the place."""
        return is_made(self.place, self.made)

    @property
    def is_back(self) -> bool:
        """Whether what was there is in the place, if anything was."""
        if self.aside is None:
            return True
        return os.path.lexists(self.place) and not os.path.lexists(self.aside) and not self.is_put


@dataclass(frozen=True)
class _Note:
    """What the main folder holds.

    Attributes:
        main: The main place, as it was called then.
        moves: Each place, the main one last, and the name that what was there gets beside it. A
            place below the folder of the main one is relative to that.
    """

    __pydantic_config__ = EXACT
    made: str
    main: str
    moves: list[tuple[str, str | None]]


def write(moves: Sequence[Move], folders: Sequence[Path]) -> None:
    """Write in all that was made the name by which it is known, and in the main one the rest.

    Args:
        folders: What was made, as the moves, the main one last.
    """
    main, beside = moves[-1], moves[-1].place.parent
    for folder in folders[:-1]:
        write_json(folder / NOTED, {"made": main.made})
    noted = [(_seen(each.place, beside), each.aside and each.aside.name) for each in moves]
    note = {"made": main.made, "main": str(main.place), "moves": noted}
    write_json(folders[-1] / NOTED, note)


def is_in(folder: Path) -> bool:
    """Tell whether a folder holds a note."""
    return os.path.lexists(folder / NOTED)


def is_made(folder: Path, made: str) -> bool:
    """Tell whether a folder is what was made, by the name within."""
    with suppress(BadInput):
        return bool(checked_json.load(folder / NOTED).get("made") == made)
    return False


def read(folder: Path, place: Path) -> list[Move]:
    """Return what was to be renamed by the note in what was made for a place, the main one last.

    Raises:
        BadInput: The note cannot be read, or names folders that may be another place's.
    """
    try:
        content = read_bytes(folder / NOTED, "what was to be renamed")
        note = checked_json.read(_Note, content, str(folder / NOTED))
        *others, main = (_move(place.parent / at, name, note.made) for at, name in note.moves)
        apart = [
            move for move in others if not _real(move.place).is_relative_to(_real(place.parent))
        ]
        is_other = main.place != place or (apart and _real(Path(note.main)) != _real(place))
    except ValueError as error:
        found = f"{KILLED}, whose note cannot be read"
        raise BadInput(str(place), found, _by_hand(place, folder)) from error
    if is_other:
        found = f"what is left of {KILLED}, moved or copied: it was to {note.main}"
        raise BadInput(str(place), found, _by_hand(place, folder, apart))
    return [*others, main]


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _seen(place: Path, folder: Path) -> str:
    return str(place.relative_to(folder) if place.is_relative_to(folder) else place)


def _move(place: Path, aside: str | None, made: str) -> Move:
    return Move(place, None if aside is None else place.with_name(aside), made)


def _by_hand(place: Path, folder: Path, apart: Sequence[Move] = ()) -> str:
    """Say what is to be where, which its user alone knows."""
    names = glob.glob(f"{glob.escape(place.name)}.before-*", root_dir=place.parent)
    asides = " or ".join(str(place.with_name(name)) for name in sorted(names, reverse=True))
    was = f" (it may be {asides})" if asides else ""
    others = "".join(f"{m.place} as it was (it may be {m.aside or 'empty'}), " for m in apart)
    return f"by hand what was there{was} as {place}, {others}and no {folder}"
