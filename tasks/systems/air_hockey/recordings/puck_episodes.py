"""Recorded episodes of puck and mallet on the disk, `ricochet.puck-episodes/1`.

    recording.json        {"schema", "period": 0.02, "frame": "table", "table": {..}, "files":
                           [{"file", "sha256"}, ..], "note"}
    episode-0000.npz ..   `time` (s), `puck` and `mallet` (m): a row a sample, NaN where not seen;
                          `puck_velocity`, `mallet_velocity` (m/s) where they were measured

Or one file of several episodes, `NAME.npz` beside its `NAME.json`: the same arrays, with the
episodes in front. The frame is that of `models.systems.air_hockey.table`. Nothing of a file is used
before its size and its digest are right; what its numbers mean is checked by `episode_checks`. A
recording is known by the digest of its numbers: its place, the names and the order of its files,
and the note do not change it.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from pydantic import StringConstraints

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck.recorded_modes import Places
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.storage import array_files, checked_json
from ricochet.tasks.storage.checked_json import EXACT, Name, expecting
from ricochet.tasks.storage.files import (
    digest_of,
    output_folder,
    read_regular,
    sha256,
    shown,
    write_arrays,
    write_json,
)
from ricochet.tasks.systems.air_hockey.recordings import episode_checks
from ricochet.tasks.systems.air_hockey.recordings.episode_checks import Episode

SCHEMA = "ricochet.puck-episodes/1"
MANIFEST = "recording.json"
MOST_FILES, MOST_EPISODES, MOST_SAMPLES = 1000, 1000, 100_000
LARGEST, LARGEST_MANIFEST = 2**24, 2**20  # bytes of a file, and of what is in it
FEWEST = 10  # episodes, one in `HELD_OUT` of which are held out
HELD_OUT = 5
_NEEDED, _MEASURED = ("time", "puck", "mallet"), ("puck_velocity", "mallet_velocity")
_NUMBERS = (np.dtype("<f4"), np.dtype("<f8"))
_SHAPES = "float32 or float64; (n, 2) of puck and mallet, or (episodes, n, 2)"
_EXPECTED = f"a folder with {MANIFEST}, or NAME.npz beside NAME.json, of {SCHEMA}"


@dataclass(frozen=True)
class StatedTable:
    """The table as a recording states it, m."""

    __pydantic_config__ = EXACT
    half_length: float
    half_width: float
    goal_half_width: float
    puck_radius: float
    mallet_radius: float


@dataclass(frozen=True)
class StatedFile:
    """A file of episodes as the manifest states it."""

    __pydantic_config__ = EXACT
    file: Name
    sha256: Annotated[
        str, StringConstraints(pattern="^[0-9a-f]{64}$"), expecting("64 hexadecimal digits")
    ]


@dataclass(frozen=True)
class _Manifest:
    __pydantic_config__ = EXACT
    schema: Literal["ricochet.puck-episodes/1"]
    period: float
    frame: Literal["table"]
    table: StatedTable
    files: tuple[StatedFile, ...]
    note: str = ""


@dataclass(frozen=True)
class PuckEpisodes:
    """A recording.

    Attributes:
        episodes: In the order of their digests.
        digest: Of all that was recorded.
    """

    episodes: tuple[Episode, ...]
    digest: str


def read(path: Path, table: Table | None = None) -> PuckEpisodes:
    """Read a recording, a folder or a file.

    Args:
        table: The table that it must be of, to a millimetre; the standard one when absent.

    Raises:
        BadInput: A file is missing, too large, damaged or not the one that was recorded, or what
            it says cannot be puck and mallet on this table at 50 Hz.
    """
    wanted, manifest = table or Table(), _manifest_of(path)
    content = read_regular(manifest, _EXPECTED, largest=LARGEST_MANIFEST)
    stated = checked_json.read(_Manifest, content, str(manifest))
    _check_manifest(stated, manifest, wanted)
    if manifest.name != MANIFEST and [each.file for each in stated.files] != [path.name]:
        raise BadInput(f"{manifest}: files", "others", f"{path.name} alone")
    episodes = _read_all(stated, manifest, wanted)
    _check_alike(episodes, manifest)
    by_digest = sorted((_digest(episode), number) for number, episode in enumerate(episodes))
    facts = [digest for digest, _ in by_digest]
    if len(set(facts)) < len(facts):
        raise BadInput(str(manifest), "an episode twice", "each once: others are held out")
    return PuckEpisodes(tuple(episodes[number] for _, number in by_digest), digest_of(facts))


def _manifest_of(path: Path) -> Path:
    """Return the path of a recording's manifest, a folder's or that beside its one file."""
    if not str(path).isprintable():
        raise BadInput(shown(path), "a name that cannot be printed", _EXPECTED)
    if os.path.isdir(path):
        return path / MANIFEST
    if path.suffix != ".npz" or not os.path.isfile(path):
        found = "no file" if path.suffix == ".npz" else "no folder, and no file NAME.npz"
        raise BadInput(shown(path), found, _EXPECTED)
    return path.with_suffix(".json")


def _read_all(stated: _Manifest, manifest: Path, table: Table) -> list[Episode]:
    """Return the checked episodes of all files; no file is read once there are too many."""
    episodes: list[Episode] = []
    samples = 0
    for each in stated.files:
        found = _episodes(manifest.parent / each.file, each.sha256, table)
        episodes += found
        samples += sum(len(episode.time) for episode in found)
        _refuse_count(len(episodes), 0, MOST_EPISODES, "episodes", manifest)
        _refuse_count(samples, 0, MOST_SAMPLES, "samples", manifest)
    _refuse_count(len(episodes), FEWEST, MOST_EPISODES, "episodes", manifest)
    return episodes


def _check_alike(episodes: Sequence[Episode], manifest: Path) -> None:
    """Refuse velocities of some episodes alone, which nothing would be learnt from."""
    for name in _MEASURED:
        measured = sum(getattr(episode, name) is not None for episode in episodes)
        if 0 < measured < len(episodes):
            found = f"{name} in {measured} of {len(episodes)} episodes"
            raise BadInput(str(manifest), found, "it in all or in none")


def split(recording: PuckEpisodes) -> tuple[Places, Places]:
    """Return the episodes to learn from, and every fifth, by the order of digests, held out."""
    held_out = recording.episodes[HELD_OUT - 1 :: HELD_OUT]
    learnt = [each for k, each in enumerate(recording.episodes) if k % HELD_OUT != HELD_OUT - 1]
    return padded(learnt), padded(held_out)


def padded(episodes: Sequence[Episode]) -> Places:
    """Return episodes as arrays, from the first sample of each on that shows the puck."""
    first = [int(np.isfinite(each.puck[:, 0]).argmax()) for each in episodes]
    longest = max(len(each.puck) - start for each, start in zip(episodes, first, strict=True))

    def stacked(name: str) -> Float[ndarray, "episode time 2"] | None:
        parts = [getattr(each, name) for each in episodes]
        if any(part is None for part in parts):
            return None
        found = np.full((len(parts), longest, 2), np.nan)
        for row, part, start in zip(found, parts, first, strict=True):
            row[: len(part) - start] = part[start:]
        return found

    puck, mallet = stacked("puck"), stacked("mallet")
    assert puck is not None and mallet is not None
    return Places(puck, mallet, stacked("puck_velocity"), stacked("mallet_velocity"))


def write(folder: Path, episodes: Sequence[Episode], *, table: Table, note: str = "") -> Path:
    """Write a recording of some episodes into a folder; return the path of its manifest."""
    place = output_folder(folder)
    for number, episode in enumerate(episodes):
        write_arrays(place / f"episode-{number:04d}.npz", episode_checks.arrays(episode))
    names = [f"episode-{number:04d}.npz" for number in range(len(episodes))]
    content = {
        "schema": SCHEMA,
        "period": PERIOD,
        "frame": "table",
        "table": {each.name: getattr(table, each.name) for each in fields(StatedTable)},
        "files": [{"file": name, "sha256": sha256(place / name)} for name in names],
        "note": note,
    }
    write_json(place / MANIFEST, content)
    return place / MANIFEST


def _check_manifest(stated: _Manifest, manifest: Path, table: Table) -> None:
    if abs(stated.period - PERIOD) > 1e-6:
        raise BadInput(f"{manifest}: period", f"{stated.period:g}", f"{PERIOD:g} s")
    for name, found in asdict(stated.table).items():
        expected = getattr(table, name)
        if not abs(found - expected) <= episode_checks.SAME_TABLE:
            raise BadInput(f"{manifest}: table.{name}", f"{found:g} m", f"{expected:g} m")
    _refuse_count(len(stated.files), 1, MOST_FILES, "files", manifest)
    for name in ("file", "sha256"):
        listed = [getattr(each, name) for each in stated.files]
        if len(set(listed)) < len(listed):
            twice = next(each for each in listed if listed.count(each) > 1)
            raise BadInput(f"{manifest}: files", f"{name} {twice[:60]} twice", "each once")


def _refuse_count(count: int, least: int, most: int, what: str, manifest: Path) -> None:
    if not least <= count <= most:
        raise BadInput(str(manifest), f"{count} {what}", f"{least} to {most}")


def _episodes(path: Path, digest: str, table: Table) -> list[Episode]:
    """Return the checked episodes of a file."""
    content = read_regular(path, "a file of episodes", largest=LARGEST)
    if sha256(content) != digest:
        raise BadInput(str(path), f"sha256 {sha256(content)[:12]}..", f"{digest[:12]}.. as stated")
    arrays = _loaded(content, path)
    many = arrays["puck"].ndim == 3
    if many:
        _refuse_count(len(arrays["puck"]), 1, MOST_EPISODES, "episodes", path)
    rows = range(len(arrays["puck"])) if many else (None,)
    return [_checked(arrays, row, path, table) for row in rows]


def _checked(arrays: Mapping[str, ndarray], row: int | None, path: Path, table: Table) -> Episode:
    """Return one episode of a file."""
    where = str(path) if row is None else f"{path}: episode {row}"
    parts: dict[str, Any] = {
        name: array if row is None or name == "time" else array[row]
        for name, array in arrays.items()
    }
    return episode_checks.checked(Episode(**parts), where, table)


def _loaded(content: bytes, path: Path) -> dict[str, ndarray]:
    """Return the arrays of an archive whose unpacked size is bounded, of like shapes."""
    arrays = array_files.parse(content, str(path), largest=LARGEST)
    names = set(arrays)
    if not set(_NEEDED) <= names <= {*_NEEDED, *_MEASURED}:
        needed = f"{', '.join(_NEEDED)}, and {', '.join(_MEASURED)} or not"
        raise BadInput(str(path), f"arrays {sorted(names)!r}"[:200], needed)
    return {name: _numbers(name, array, arrays, path) for name, array in arrays.items()}


def _numbers(
    name: str, array: ndarray, arrays: Mapping[str, ndarray], path: Path
) -> Float[ndarray, "..."]:
    """Return an array in double precision, if it is one of numbers in the shape that it must be."""
    shape, puck = array.shape, arrays["puck"].shape
    wanted = puck[-2:-1] if name == "time" else puck
    if array.dtype not in _NUMBERS or len(puck) not in (2, 3) or puck[-1:] != (2,):
        raise BadInput(f"{path}: {name}", f"{array.dtype} of shape {shape}", _SHAPES)
    if shape != wanted:
        raise BadInput(f"{path}: {name}", f"shape {shape}", f"{wanted}")
    return np.asarray(array, float)


def _digest(episode: Episode) -> str:
    """Return the digest of an episode's numbers."""
    arrays = episode_checks.arrays(episode)
    return digest_of([[name, sha256(part.tobytes())] for name, part in arrays.items()])
