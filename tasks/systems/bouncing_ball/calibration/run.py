"""Recordings to posteriors: the steps of `ricochet calibrate`, free of any server.

    sessions -> pairs -> heard drops -> posterior -> files under DIR

A pair is a ball on a surface; its sessions are taken together. One pair writes into DIR itself,
several into DIR/<ball>-<surface>, with an index in DIR. What decides a result is digested to a key,
and a folder that holds the result of the same key is left as it is. `result.json` comes last.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import Progress, bar, no_progress
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import digest_of, output_folder, write_json
from ricochet.tasks.storage.provenance import ROOT, code_digest
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate, Density

MAKER = "ricochet.tasks.systems.bouncing_ball.calibration"
SCHEMA = "ricochet.calibration/1"
INDEX = "ricochet.calibration-index/1"
DATA = ROOT / "data"
SOUNDS = (".wav", ".flac", ".aif", ".aiff", ".ogg", ".mp3")


@dataclass(frozen=True)
class Order:
    """What is wanted of a calibration.

    Attributes:
        settings: The numbers of the run.
        out: Folder of the results.
        seed: Seed of all randomness.
        density: Package of the density network; None finds or trains one under `artifacts/`.
        model: Name of that package in `result.json`; None names it by its digest.
    """

    settings: Settings
    out: Path
    seed: int = 0
    density: Path | None = None
    model: str | None = None


@dataclass(frozen=True)
class Pair:
    """A ball on a surface, and the sessions that recorded it.

    Attributes:
        name: `<ball>-<surface>`, or the name of a bare recording.
        sources: The session folders, or the one bare recording.
        folder: Where its results go.
        digest: Digest of the recordings.
        bare: Whether it is a recording without a session.
    """

    name: str
    sources: tuple[Path, ...]
    folder: Path
    digest: str
    bare: bool = False


def is_bare(sessions: Sequence[str]) -> bool:
    """Tell whether all that was named are recordings without a session.

    Args:
        sessions: Paths as the person gave them.

    Returns:
        True if there is something, and nothing of it is a folder.
    """
    return bool(sessions) and all(_looks_bare(Path(session)) for session in sessions)


def pairs(sessions: Sequence[str], out: Path) -> tuple[Pair, ...]:
    """Group sessions by ball and surface.

    Args:
        sessions: Session folders and bare recordings; nothing means all sessions under `data/`.
        out: Folder of the results.

    Returns:
        The pairs in order of their names.

    Raises:
        BadInput: If there is no session, one cannot be read or is named twice, or a recording has
            the name of another result.
    """
    found: dict[str, list[tuple[Path, str]]] = {}
    bare = []
    for path in _sources(sessions):
        if _looks_bare(path):
            bare.append(path)
        else:
            name, digest = _identity(path)
            if any(digest == other for _, other in found.get(name, ())):
                raise BadInput(str(path), "a session named already", "each session once")
            found.setdefault(name, []).append((path, digest))
    names = [*found, *(path.stem for path in bare)]
    for path in bare:
        if names.count(path.stem) > 1:
            raise BadInput(str(path), f"two results named {path.stem!r}", "names that differ")
    several = len(found) + len(bare) > 1
    place = (lambda name: out / name) if several else (lambda name: out)
    grouped = [
        Pair(name, tuple(p for p, _ in parts), place(name), digest_of(sorted(d for _, d in parts)))
        for name, parts in sorted(found.items())
    ]
    return (*grouped, *(_bare_pair(path, place(path.stem)) for path in bare))


def registered_names(sessions: Sequence[str], out: Path) -> tuple[str, ...]:
    """Return the names in the registry that the sessions lead to; a bare recording has none."""
    return tuple(pair.name for pair in pairs(sessions, out) if not pair.bare)


def key(pair: Pair, order: Order) -> str:
    """Name everything that decides the result of a pair.

    Args:
        pair: The pair.
        order: What is wanted.

    Returns:
        A digest.
    """
    facts: dict[str, Any] = {"pair": pair.name, "data": pair.digest, "seed": order.seed}
    code = code_digest(f"{MAKER}.{'times_only' if pair.bare else 'posterior'}")
    facts |= {"code": code, "calibrate": asdict(order.settings[Calibrate])}
    if not pair.bare:
        named = order.density if order.model is None else None
        facts["density"] = _digest(named) if named else asdict(order.settings[Density])
    return digest_of(facts)


def earlier(pair: Pair, order: Order) -> dict[str, Any] | None:
    """Return the result of an earlier run of the same key.

    Args:
        pair: The pair.
        order: What is wanted.

    Returns:
        What its `result.json` holds, or None where there is none.
    """
    try:
        details = json.loads((pair.folder / "details.json").read_text())
        result = json.loads((pair.folder / "result.json").read_text())
    except (OSError, ValueError):
        return None
    return dict(result) if details.get("key") == key(pair, order) else None


def calibrate_pair(pair: Pair, order: Order, *, progress: Progress = no_progress) -> dict[str, Any]:
    """Calibrate one pair and write its files, all but `result.json`.

    Args:
        pair: The pair.
        order: What is wanted.
        progress: Told of each take.

    Returns:
        What `result.json` shall hold, nothing being registered yet.

    Raises:
        BadInput: If the recordings cannot be used.
    """
    output_folder(pair.folder)
    _clear(pair.folder)
    if pair.bare:
        from ricochet.tasks.systems.bouncing_ball.calibration import times_only

        return times_only.calibrate(pair, order)
    from ricochet.tasks.systems.bouncing_ball.calibration import posterior

    return posterior.calibrate(pair, order, progress=progress)


def unchanged(
    sessions: Sequence[str], order: Order, *, published: bool
) -> dict[str, dict[str, Any]] | None:
    """Return the earlier results, if every pair has one.

    Args:
        sessions: Session folders and bare recordings; nothing means all sessions under `data/`.
        order: What is wanted.
        published: Whether an earlier result counts only if it is registered.

    Returns:
        The results by name of the pair, or None where something is left to do.

    Raises:
        BadInput: If a session cannot be read.
    """
    found = pairs(sessions, order.out)
    before = [(pair, _settled(pair, order, published)) for pair in found]
    entries = {
        pair.name: _entry(pair, result, unchanged=True)
        for pair, result in before
        if result is not None
    }
    if len(entries) < len(before):
        return None
    _write_index(found, order)
    return entries


def run(
    sessions: Sequence[str],
    order: Order,
    *,
    do: Callable[[Pair, Order], Mapping[str, Any]] | None = None,
    published: bool = False,
) -> dict[str, Any]:
    """Calibrate every pair and write every `result.json`.

    Args:
        sessions: Session folders and bare recordings; nothing means all sessions under `data/`.
        order: What is wanted.
        do: Does one pair and returns its result; by default the steps here, nothing published.
        published: Whether an earlier result counts only if it is registered.

    Returns:
        By name of the pair: `result`, `folder`, and whether it was there `unchanged`.

    Raises:
        BadInput: If the recordings cannot be used.
    """
    work = do or _alone
    results: dict[str, Any] = {}
    found = pairs(sessions, order.out)
    for pair in found:
        before = _settled(pair, order, published)
        result = dict(before or work(pair, order))
        if before is None:
            write_json(pair.folder / "result.json", result)
        results[pair.name] = _entry(pair, result, unchanged=before is not None)
    _write_index(found, order)
    return results


def _write_index(found: Sequence[Pair], order: Order) -> None:
    """Say where the results of several pairs are; one pair's result lies in the folder itself."""
    if len(found) > 1:
        index = {pair.name: f"{pair.name}/result.json" for pair in found}
        write_json(order.out / "result.json", {"schema": INDEX, "pairs": index})


def _clear(folder: Path) -> None:
    """Take away what an earlier run left, the result first."""
    for name in ("result.json", "details.json", "samples.npz"):
        (folder / name).unlink(missing_ok=True)
    for name in ("package", "figures"):
        shutil.rmtree(folder / name, ignore_errors=True)


def _alone(pair: Pair, order: Order) -> dict[str, Any]:
    with bar(pair.name) as progress:
        return calibrate_pair(pair, order, progress=progress)


def _settled(pair: Pair, order: Order, published: bool) -> dict[str, Any] | None:
    before = earlier(pair, order)
    lacking = published and before is not None and before["registered"] is None
    return None if lacking and (pair.folder / "package").is_dir() else before


def _entry(pair: Pair, result: Mapping[str, Any], *, unchanged: bool) -> dict[str, Any]:
    return {"result": dict(result), "unchanged": unchanged, "folder": str(pair.folder)}


def _sources(sessions: Sequence[str]) -> list[Path]:
    if sessions:
        return [Path(session) for session in sessions]
    found = sorted(path.parent for path in DATA.glob("[!.]*/session.json"))
    if not found:
        raise BadInput(str(DATA), "no session", "session folders; `make pull` fetches the sample")
    return found


def _looks_bare(path: Path) -> bool:
    return path.is_file() or (not path.is_dir() and path.suffix.lower() in SOUNDS)


def _bare_pair(path: Path, folder: Path) -> Pair:
    from ricochet.tasks.storage.files import sha256

    if not path.is_file():
        raise BadInput(str(path), "nothing", "a recording")
    return Pair(path.stem, (path,), folder, sha256(path), bare=True)


def _digest(package: Path) -> str:
    """Digest a density that was named, by its manifest, which holds the digests of the rest."""
    from ricochet.tasks.registry.packages import MANIFEST
    from ricochet.tasks.storage.files import sha256

    try:
        return sha256(package / MANIFEST)
    except OSError as error:
        found = error.strerror or str(error)
        raise BadInput(f"--density {package / MANIFEST}", found, "a density's package") from error


def _identity(folder: Path) -> tuple[str, str]:
    """Return a session's pair and its digest: that of its manifest, which names its takes' digests.

    Where a take is not what the manifest says, the digest is another, so that it is heard again.
    """
    from ricochet.tasks.recordings import sessions as recordings
    from ricochet.tasks.storage.files import sha256

    manifest = folder / recordings.MANIFEST
    session, takes = recordings.read_manifest(manifest)
    there = {
        entry.file: sha256(folder / entry.file) if (folder / entry.file).is_file() else "missing"
        for entry in takes
    }
    digest = sha256(manifest)
    if any(there[entry.file] != entry.sha256 for entry in takes):
        digest = digest_of([digest, there])
    return f"{session.ball}-{session.surface}", digest
