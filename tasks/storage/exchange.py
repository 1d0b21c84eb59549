"""Folders put in the place of others, all of them or none, though the process may be killed.

What a folder is to hold is made beside it. What was there is renamed aside, what was made to its
place, the main folder last; which those are is noted before in what was made of the main one. A
process that is killed between leaves that note beside the place, which is refused then: it may be
empty, or beside folders of another time. The next to put something there undoes what was begun.
"""

import itertools
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import sync, write_json, writing

NOTED = ".exchange.json"
"""File in what was made of the main folder, from before the first renaming until after the last."""


@dataclass(frozen=True)
class Move:
    """What is renamed at a place.

    Attributes:
        aside: Where what was there goes; None where nothing was.
        made: The inode of what was made, by which it is known there.
    """

    place: Path
    aside: Path | None
    made: int


def staged(place: Path) -> Path:
    """Return where it is made what a folder is to hold."""
    return place.with_name(f".{place.name}.restored")


def lock_of(place: Path) -> Path:
    """Return the file whose lock is held while a folder is exchanged."""
    return place.with_name(f".{place.name}.lock")


@contextmanager
def exchanged(places: Sequence[Path]) -> Iterator[dict[Path, Path | None]]:
    """Rename what was made to its places, the main one last; an error in the block undoes it.

    Yields where what was there is now, by place.
    """
    moves = [Move(place, _aside(place), staged(place).stat().st_ino) for place in places]
    noted = [[str(m.place), m.aside and str(m.aside), m.made] for m in moves]
    write_json(staged(places[-1]) / NOTED, {"moves": noted})
    try:
        for move in moves:
            with writing(move.place):
                _put(move)
        yield {move.place: move.aside for move in moves}
    except BaseException:
        _undo(moves)
        raise
    (places[-1] / NOTED).unlink(missing_ok=True)


def undo_killed(place: Path, refuse: Callable[[], None]) -> None:
    """Undo what a process that was killed had begun to rename, and remove what it had made.

    Args:
        refuse: Raises BadInput where servers run there; asked while the lock is held.
    """
    if _noted(place):
        with locks.hold(lock_of(place)):
            refuse()
            moves = _noted(place)
            _undo(moves)
            for move in moves:
                shutil.rmtree(staged(move.place), ignore_errors=True)


def refuse_unfinished(place: Path) -> None:
    """Refuse a folder while another is put in its place, and after a kill amid the renamings.

    Raises:
        BadInput: So it is.
    """
    if _is_left(place):
        refuse_busy(place)
    moves = _noted(place)
    if not moves:  # what was there is as it was
        return
    back = [f"{m.aside} as {m.place}" for m in moves if m.aside and m.aside.exists()]
    expected = " and ".join([*back, f"no {staged(place)}"])
    found = "a restore that was killed before its end"
    raise BadInput(str(place), found, f"the same `ricochet restore` again, or {expected}")


def refuse_busy(place: Path) -> None:
    """Refuse a folder while another is put in its place."""
    try:
        if lock_of(place).exists():
            with locks.hold(lock_of(place)):
                return
    except locks.BusyError as error:
        raise BadInput(str(place), "a backup that is being put back", "none") from error


def _put(move: Move) -> None:
    """Rename what is there aside, and what was made to its place."""
    if move.aside is not None:
        move.place.rename(move.aside)
    elif move.place.exists():
        move.place.rmdir()
    staged(move.place).rename(move.place)
    sync(move.place.parent)


def _undo(moves: Sequence[Move]) -> None:
    """Rename what was made and what was there back, as far as it had come and nobody else did.

    That can be killed and begun anew as well.
    """
    for move in reversed(moves):
        with writing(move.place):
            if move.place.exists() and move.place.stat().st_ino == move.made:
                move.place.rename(staged(move.place))
            if move.aside is not None and move.aside.exists():
                with suppress(OSError):  # something is there
                    move.place.rmdir()
                if not move.place.exists():
                    move.aside.rename(move.place)
            sync(move.place.parent)
    if moves:
        (staged(moves[-1].place) / NOTED).unlink(missing_ok=True)


def _is_left(place: Path) -> bool:
    """Tell whether something was made for a place and is there, not put there by another user."""
    with suppress(FileNotFoundError):
        facts = staged(place).lstat()
        return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()
    return False


def _noted(place: Path) -> list[Move]:
    """Return what a process that was killed had begun, or nothing."""
    file = staged(place) / NOTED
    if not _is_left(place) or not file.exists():
        return []
    moves = dict(checked_json.load(file, "what was to be renamed"))["moves"]
    return [Move(Path(at), aside and Path(aside), made) for at, aside, made in moves]


def _aside(place: Path) -> Path | None:
    """Return a path for what is at a place: nothing is there, though two fall into one second."""
    if not place.exists() or not any(place.iterdir()):
        return None
    path = place.with_name(f"{place.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S}")
    numbered = (path.with_name(f"{path.name}-{number}") for number in itertools.count(2))
    return next(each for each in itertools.chain([path], numbered) if not each.exists())
