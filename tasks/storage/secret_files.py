"""Passwords in files that their owner alone may read: made once, at random, never shown.

They go from here to a process through its environment, which another user cannot read, and never
through its arguments, which everybody can.
"""

import contextlib
import grp
import os
import pwd
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.files import read_regular, writing

OTHERS = stat.S_IRWXG | stat.S_IRWXO
LARGEST = 2**16
"""Bytes of a file."""
WITHIN = tuple(map(Path, ("/etc", "/usr", "/usr/local", "/var")))
SYSTEM = (*WITHIN, *map(Path, ("/boot", "/dev", "/home", "/opt", "/run", "/srv")))
"""Folders of a machine that its users need, whose own folders are such too, and all of them."""


def own_folder(path: Path) -> Path:
    """Make a folder for its owner alone where there is none, and return it.

    Raises:
        BadInput: It belongs to somebody else, or others may look into it.
    """
    with writing(path):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_owner(path, "0700")
    return path


def taken_folder(path: Path) -> Path:
    """Make a folder, or take one of one's own, for its owner alone; return its absolute path.

    Raises:
        BadInput: It belongs to somebody else or to all, as `/etc` does whoever owns it, another
            user could move it away, or it cannot be made or written.
    """
    with writing(path):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = path.resolve()
        refuse_shared_way(place)
        facts = place.stat()
        looked_into = place.parent in WITHIN and facts.st_mode & OTHERS
        shared = place in (place.parent, *SYSTEM) or looked_into
        if shared or facts.st_mode & stat.S_ISVTX:
            raise BadInput(str(path), "a folder of all users", "one of yours")
        if facts.st_uid == os.geteuid():
            place.chmod(0o700)
    _check_owner(place, "0700")
    return place


def refuse_shared_way(place: Path) -> None:
    """Refuse an absolute place that another user could move away, with `BadInput`."""
    for each in place.parents:
        if each.exists():
            _check_parent(each)


def refuse_foreign(place: Path, *, users: tuple[str, ...] = ()) -> None:
    """Refuse an absolute place that another user made, may write or could move away: `BadInput`.

    Args:
        users: Names of those who may, where there are such, beside root and this one.
    """
    refuse_shared_way(place)
    if place.exists():
        trusted = frozenset(each.pw_uid for each in pwd.getpwall() if each.pw_name in users)
        _check_parent(place, sticky=False, trusted=trusted)


@contextlib.contextmanager
def private() -> Iterator[None]:
    """Keep all that this process, and what it starts, makes in the block for its owner alone."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def kept(folder: Path, name: str, *, prefix: str = "") -> str:
    """Return the secret of a name, made where there is none."""
    return read(folder, name) if (folder / name).exists() else fresh(folder, name, prefix=prefix)


def fresh(folder: Path, name: str, *, prefix: str = "") -> str:
    """Make a secret of a name, in place of an earlier one, and return it."""
    text = prefix + secrets.token_hex(24)
    write(folder, name, text)
    return text


def read(folder: Path, name: str) -> str:
    """Return the first line of a secret's file; BadInput where others may read it."""
    path = folder / name
    content = read_regular(path, "a file with a password", largest=LARGEST)
    _check_owner(path, "0600")
    text = content.decode(errors="replace").partition("\n")[0].strip()
    if not text.isascii() or not text.isprintable() or len(text) < 12:
        expected = "a line of at least 12 printable ASCII characters"
        raise BadInput(str(path), "no such line", expected)
    return text


def write(folder: Path, name: str, text: str) -> Path:
    """Write a secret's file, whole or absent, readable by its owner alone from the first byte."""
    path, partial = folder / name, folder / f".{name}.{secrets.token_hex(4)}"
    with writing(path):
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(handle)
        partial.rename(path)
    return path


def _check_parent(
    path: Path, *, sticky: bool = True, trusted: frozenset[int] = frozenset()
) -> None:
    """Refuse a folder in which another user may rename, or but for `sticky` write, anything."""
    facts, mine = path.stat(), trusted | {0, os.geteuid()}
    if facts.st_uid not in mine:
        raise BadInput(str(path), f"one of user {facts.st_uid}", "a way through your own or root's")
    if sticky and facts.st_mode & stat.S_ISVTX:
        return
    expected = "one that is yours or sticky" if sticky else "one that you alone may write"
    if facts.st_mode & stat.S_IWOTH:
        raise BadInput(str(path), "a folder where all may rename", expected)
    if facts.st_mode & stat.S_IWGRP and (_listed(path) or _has_others(facts.st_gid, mine)):
        raise BadInput(str(path), f"a folder where group {facts.st_gid} may rename", expected)


def _listed(path: Path) -> bool:
    """Tell whether a folder has a list of who may write it, beside owner and group."""
    try:
        return "system.posix_acl_access" in os.listxattr(path)
    except OSError:  # a file system without
        return False


def _has_others(group: int, mine: frozenset[int]) -> bool:
    """Tell whether anybody else is in a group; it may be a user's own."""
    users = pwd.getpwall()
    first = {each.pw_uid for each in users if each.pw_gid == group}
    try:
        named = set(grp.getgrgid(group).gr_mem)
    except KeyError:  # of no name
        named = set()
    more = {each.pw_uid for each in users if each.pw_name in named}
    unknown = named - {each.pw_name for each in users}
    return bool((first | more) - mine or unknown)


def _check_owner(path: Path, mode: str) -> None:
    facts = path.stat()
    if facts.st_uid != os.geteuid():
        raise BadInput(str(path), f"one of user {facts.st_uid}", "one of yours")
    if facts.st_mode & OTHERS:
        raise BadInput(str(path), f"mode {facts.st_mode & 0o777:04o}", f"mode {mode}")
