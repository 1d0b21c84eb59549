"""What a backup says of itself: `backup.json`, the size and the SHA-256 of each file.

A manifest comes from outside: its paths stay within the backup and are such as backups have, it is
of bounded size, and the folder must hold exactly the regular files that it names, no link, device
or other one.
"""

import json
import math
import os
import stat
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from annotated_types import Ge
from pydantic import BeforeValidator, StringConstraints

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import contents
from ricochet.tasks.storage import checked_json, limits
from ricochet.tasks.storage.checked_json import EXACT, expecting
from ricochet.tasks.storage.files import read_regular, shown

MANIFEST = "backup.json"
SCHEMA = "ricochet.backup/1"
_LONGEST = 1024
_FACTS, _SELF = 200, 2**16
"""Bytes of a manifest for each file beside its name, and for all else, at most."""
_RUNS = ("mlflow", "artifacts")
_DEPTH, _MOST_SAID = 4, 20
"""Of the folder of a run, `mlflow/artifacts/EXPERIMENT/RUN`; folders of what is left out."""


def can_hold(path: str) -> bool:
    """Tell whether a manifest can name a file so."""
    return 0 < len(path) <= _LONGEST and path.isprintable()


def split(names: Iterable[str]) -> tuple[list[str], dict[str, int]]:
    """Choose the files that a manifest can name.

    What is no run's is held first. Where runs have too many, each experiment has an equal share of
    what others leave, and in it those runs are left out that have most: nobody takes the room of an
    experiment that he may not write to, or of the other runs with a single one.

    Returns:
        The names that it holds, and how many of each folder it does not, as those are shown.
    """
    folders: defaultdict[str, list[str]] = defaultdict(list)
    left: Counter[str] = Counter()
    for name in names:
        folder = "/".join(PurePosixPath(name).parent.parts[:_DEPTH])
        if can_hold(name):
            folders[folder].append(name)
        else:
            left[shown(Path(folder))] += 1
    sized: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for folder, found in folders.items():
        sized[_experiment(folder)].append((room_for(found), folder))
    held: list[str] = []
    room = limits.MANIFEST - _SELF
    order = sorted((bool(key), sum(size for size, _ in each), key) for key, each in sized.items())
    for number, (of_runs, _, key) in enumerate(order):
        share = room // (len(order) - number) if of_runs else room
        for size, folder in sorted(sized[key]):
            if size <= share:
                share, room = share - size, room - size
                held += folders[folder]
            else:
                left[shown(Path(folder))] += len(folders[folder])
    shortened = dict(left.most_common(_MOST_SAID))
    others = left.total() - sum(shortened.values())
    return held, shortened | ({"others": others} if others else {})


def _experiment(folder: str) -> str:
    """Return the experiment that a folder of runs' files is of; nothing where it has none."""
    parts = PurePosixPath(folder).parts
    if parts[: len(_RUNS)] != _RUNS:
        return ""
    return parts[len(_RUNS)] if len(parts) > len(_RUNS) else "."


def room_for(names: Iterable[str]) -> int:
    """Return how many bytes of a manifest these files take at most."""
    least = limits.MANIFEST / limits.FILES
    return math.ceil(sum(max(len(json.dumps(name)) + _FACTS, least) for name in names))


def _inside(path: Any) -> Any:
    """Refuse a path that leads out of its folder, or is not written the usual way."""
    if not isinstance(path, str) or not can_hold(path):
        raise ValueError("path")
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or str(pure) != path or path in (".", MANIFEST):
        raise ValueError("path")
    return path


Inside = Annotated[str, BeforeValidator(_inside), expecting("a path within the backup")]
Digest = Annotated[
    str, StringConstraints(pattern="^[0-9a-f]{64}$"), expecting("64 hexadecimal digits")
]


@dataclass(frozen=True)
class Entry:
    """A file: its size in bytes and its digest."""

    size: Annotated[int, Ge(0)]
    sha256: Digest

    __pydantic_config__ = EXACT


@dataclass(frozen=True)
class Backup:
    """A manifest.

    Attributes:
        when: Time in UTC at which it was begun.
        commit: The program's commit, `-dirty` where tracked files differed.
        state: Folder that was backed up; MLflow's database names files by it.
        counts: How many runs, versions, aliases, flow runs and promotions it holds.
        files: By path within the backup, which is that within the state.
        left_out: How many files it cannot name, by folder.
    """

    schema: str
    when: str
    commit: str
    state: str
    counts: Mapping[str, int]
    files: Mapping[Inside, Entry]
    left_out: Mapping[str, int] = field(default_factory=dict)

    __pydantic_config__ = EXACT

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.files.values())


def read(folder: Path) -> Backup:
    """Read the manifest of a backup and compare names, kinds and sizes with what is there.

    Raises:
        BadInput: It is no backup, is damaged, or holds something else than it says.
    """
    path = folder / MANIFEST
    content = read_regular(path, "the manifest of a backup", largest=limits.MANIFEST)
    found = checked_json.read(Backup, content, str(path), largest=limits.MANIFEST)
    if found.schema != SCHEMA:
        raise BadInput(f"{path}: schema", repr(found.schema)[:100], SCHEMA)
    if strangers := contents.strangers(found.files):
        expected = "databases, packages, the log, recordings and settings"
        raise BadInput(shown(folder / strangers[0]), "a file that no backup has", expected)
    there = sizes(folder)
    there.pop(MANIFEST, None)
    for name, entry in found.files.items():
        if there.pop(name, None) != entry.size:
            raise BadInput(shown(folder / name), "no file of the size", f"{entry.size} bytes")
    if there:
        raise BadInput(shown(folder / min(there)), "a file", "none that the manifest lacks")
    return found


def sizes(folder: Path) -> dict[str, int]:
    """Return the sizes of all files in a folder by path; BadInput where one is none."""
    found: dict[str, int] = {}
    for place, folders, names in os.walk(folder, followlinks=False):
        for name in (*folders, *names):
            path = Path(place, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                found[path.relative_to(folder).as_posix()] = path.lstat().st_size
            elif not stat.S_ISDIR(mode):
                raise BadInput(shown(path), "a link, device or pipe", "files and folders alone")
    return found
