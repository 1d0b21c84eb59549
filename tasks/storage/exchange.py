"""Folders put in the place of others, all of them or none, though the process may be killed.

What a folder is to hold is made beside it. What was there is renamed aside, what was made to its
place, the main folder last; which those are is noted before in what was made of the main one. A
process that is killed between leaves that note beside the place, which is refused then: it may be
empty, or beside folders of another time. The next to put something there undoes what was begun.

Nothing is renamed or removed but what it made and what it moved: where something else is in a place
since, or what was noted may be of another place, that is said, and all of it stays.
"""

import itertools
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import exchange_notes
from ricochet.tasks.storage.exchange_notes import KILLED, NOTED, Move
from ricochet.tasks.storage.files import sync, writing


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
    made = secrets.token_hex(16)
    moves = [Move(place, _aside(place), made) for place in places]
    try:
        exchange_notes.write(moves, [staged(place) for place in places])
        for move in moves:
            with writing(move.place):
                _put(move)
        yield {move.place: move.aside for move in moves}
    except BaseException:
        _undo(moves, staged)
        _remove(moves)
        raise
    for place in places:
        (place / NOTED).unlink(missing_ok=True)


def undo_killed(place: Path, refuse: Callable[[], None]) -> list[Path]:
    """Undo what a process that was killed had begun to rename, and remove what was in no place yet.

    Args:
        refuse: Raises BadInput where servers run there; asked while the lock is held.

    Returns:
        Where what it had put in place is now.

    Raises:
        BadInput: It is not beyond doubt what was begun, or something else is in a place since;
            what was there before is named, and all of it stays.
        BusyError: Another process exchanges the folder.
    """
    if not _is_noted(place):
        return []
    with locks.hold(lock_of(place)):
        refuse()
        moves = _noted(place)
        kept = _undo(moves, _beside)
        _remove(moves)
    return kept


def clear(places: Sequence[Path]) -> None:
    """Remove what was made for places, unless a note in it says where what was there is."""
    if not _is_noted(places[-1]):
        for place in places:
            shutil.rmtree(staged(place), ignore_errors=True)


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
    back = [f"{m.aside} as {m.place}" for m in moves if not m.is_back]
    expected = " and ".join([*back, f"no {staged(place)}"])
    raise BadInput(str(place), KILLED, f"the same `ricochet restore` again, or {expected}")


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


def _undo(moves: Sequence[Move], away: Callable[[Path], Path]) -> list[Path]:
    """Rename what was made and what was there back, as far as it had come and nobody else did.

    That can be killed and begun anew as well.

    Args:
        away: Tells where what was made goes from its place.

    Returns:
        Where that is now.

    Raises:
        BadInput: What was there is missing, and nothing is renamed; or something else is in its
            place, where it stays aside.
    """
    for move in moves:
        _refuse_missing(move, staged(moves[-1].place))
    gone = [_take_back(move, away) for move in reversed(moves)]
    for move in reversed(moves):
        if not move.is_back:
            again = f"and the same `ricochet restore` again, which renames {move.aside} back first"
            found = f"something that is there since {KILLED}"
            raise BadInput(str(move.place), found, f"that elsewhere {again}")
    return [each for each in gone if each is not None]


def _take_back(move: Move, away: Callable[[Path], Path]) -> Path | None:
    """Rename both back, but nothing over something else; return where what was made is now."""
    gone = None
    with writing(move.place):
        if move.is_put:
            gone = move.place.rename(away(move.place))
        if move.aside is not None and not move.is_back and not _is_taken(move.place):
            move.aside.rename(move.place)
        if move.place.parent.is_dir():
            sync(move.place.parent)
    return gone


def _refuse_missing(move: Move, note: Path) -> None:
    """Refuse to undo where what was there is in neither of its places."""
    if move.aside is None or move.is_back or os.path.lexists(move.aside):
        return
    expected = f"there what was {move.place} before {KILLED}, or no {note}"
    raise BadInput(str(move.aside), "nothing", expected)


def _remove(moves: Sequence[Move]) -> None:
    """Remove what was made and is in no place."""
    for move in moves:
        if exchange_notes.is_made(staged(move.place), move.made):
            shutil.rmtree(staged(move.place), ignore_errors=True)


def _is_taken(place: Path) -> bool:
    """Tell whether something is at a place, other than an empty folder."""
    is_folder = place.is_dir() and not place.is_symlink()
    return any(place.iterdir()) if is_folder else os.path.lexists(place)


def _is_left(place: Path) -> bool:
    """Tell whether something was made for a place and is there, not put there by another user."""
    with suppress(FileNotFoundError):
        facts = staged(place).lstat()
        return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()
    return False


def _is_noted(place: Path) -> bool:
    """Tell whether a note of an exchange is left beside a place."""
    return _is_left(place) and exchange_notes.is_in(staged(place))


def _noted(place: Path) -> list[Move]:
    """Return what a process that was killed had begun, or nothing."""
    return exchange_notes.read(staged(place), place) if _is_noted(place) else []


def _aside(place: Path) -> Path | None:
    """Return a path for what is at a place, where something is."""
    return _beside(place) if _is_taken(place) else None


def _beside(place: Path) -> Path:
    """Return a path for what is at a place: nothing is there, though two fall into one second."""
    path = place.with_name(f"{place.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S}")
    numbered = (path.with_name(f"{path.name}-{number}") for number in itertools.count(2))
    return next(each for each in itertools.chain([path], numbered) if not os.path.lexists(each))
