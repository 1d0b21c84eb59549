"""What crashes leave behind, found and repaired where that cannot be wrong: runs, folders, aliases.

A run whose process is gone is closed, a session is sealed with what was recorded, an unfinished
file is removed, an interrupted promotion is completed or reverted. An alias that was moved by hand,
a damaged package and recordings that differ from `data.dvc` are reported and left.
"""

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import dvc_publish, recorder
from ricochet.tasks.recordings.dvc_commands import PublicationError
from ricochet.tasks.registry import abandoned_runs, promotion, promotion_log, versions
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION, PREVIOUS
from ricochet.tasks.registry.promotion_log import AliasPair
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.systems import catalogue

UNNAMED = re.compile(r"\.(.+)\.[a-z0-9_]{8}")
"""Name of a file or folder that is being written (`tasks.storage.files`)."""
IDLE = 3600.0
"""Time without a change after which it is taken to be left behind, s."""
DEPTH = 3


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be, in one line, and whether it is now repaired."""

    line: str
    mended: bool


def runs(tracker: Tracker) -> list[Finding]:
    """Close runs left RUNNING by processes that are gone."""
    return [
        Finding(f"run {run}: left RUNNING by a process that is gone, closed", True)
        for run in abandoned_runs.close(tracker)
    ]


def folders(place: Path, data: Path) -> list[Finding]:
    """Seal interrupted sessions and remove unfinished files, among outputs and recordings."""
    found = [_seal(partial) for partial in _hidden(place) if _is_session(partial)]
    copies = [path for path in data.glob(".*.partial") if _idle(path)]
    unnamed = [path for path in _hidden(place) if UNNAMED.fullmatch(path.name) and _idle(path)]
    return found + [_remove(path) for path in (*copies, *unnamed)]


def aliases(tracker: Tracker) -> list[Finding]:
    """Settle interrupted promotions, and compare every alias with the log and its package."""
    names = versions.names(tracker)
    found = []
    for name in names:
        found += [*_settled(tracker, name), *_against_log(tracker, name)]
        found += _against_packages(tracker, name)
    strangers = sorted({entry.name for entry in promotion_log.read()} - set(names))
    return found + [
        Finding(f"{name}: in the log of promotions and not in the registry", False)
        for name in strangers
    ]


def recordings() -> list[Finding]:
    """Compare `data/` with `data.dvc`, and that with Git; nothing is repaired."""
    found = []
    if dvc_publish.awaits_commit():
        found.append("data.dvc: has changed, to be committed by hand")
    try:
        if dvc_publish.differs():
            found.append("data/: differs from data.dvc; `make pull` fetches what it names")
    except (PublicationError, ValueError) as error:
        found.append(f"data.dvc: DVC cannot say ({error})")
    return [Finding(line, False) for line in found]


def _settled(tracker: Tracker, name: str) -> list[Finding]:
    if promotion_log.unsettled(promotion_log.read(name)) is None:
        return []
    try:
        with promotion.lock():
            entry = promotion.settle(tracker, name)
    except (BadInput, locks.BusyError) as error:
        return [Finding(f"{name}: {error}", False)]
    if entry is None:
        return []
    return [Finding(f"{name}: {entry.action} interrupted, now {entry.step}", True)]


def _against_log(tracker: Tracker, name: str) -> list[Finding]:
    done = promotion_log.last_done(promotion.entries(tracker, name))
    logged = vars(AliasPair(None, None) if done is None else done.after)
    return [
        Finding(
            f"{name}: {alias} is {there or 'none'}, the log of promotions says {said or 'none'}; "
            f"`ricochet promote {name} VERSION` asks the gate",
            False,
        )
        for alias, there in vars(promotion.present(tracker, name)).items()
        if there != (said := logged[alias])
    ]


def _against_packages(tracker: Tracker, name: str) -> list[Finding]:
    """Download what every alias points at and verify it, each version once."""
    pointed: dict[str, str] = {}
    for alias in (CHAMPION, PREVIOUS, CANDIDATE):
        version = versions.resolve(tracker, name, alias)
        if version is not None:
            pointed.setdefault(version.version, alias)
    return [
        Finding(f"{name}: {alias}, version {version}, has a damaged package: {fault}", False)
        for version, alias in pointed.items()
        if (fault := _fault(tracker, name, version)) is not None
    ]


def _fault(tracker: Tracker, name: str, version: str) -> str | None:
    try:
        versions.load(tracker, Registered(name, version), kind=catalogue.kind_of(name))
    except Exception as error:  # whatever the store raises for files that are gone
        return " ".join(str(error).split())
    return None


def _hidden(place: Path) -> Iterator[Path]:
    for depth in range(DEPTH):
        yield from place.glob("*/" * depth + ".*")


def _is_session(partial: Path) -> bool:
    return partial.suffix == ".partial" and partial.is_dir() and any(partial.iterdir())


def _seal(partial: Path) -> Finding:
    folder = partial.with_name(partial.name.removesuffix(".partial")[1:])
    try:
        sealed = recorder.salvage(folder)
    except (BadInput, locks.BusyError) as error:
        return Finding(f"{folder}: interrupted; {error}", False)
    kept = f"{sealed.takes} takes"
    return Finding(f"{folder}: interrupted, sealed as {sealed.state} with {kept}", True)


def _idle(path: Path) -> bool:
    inside = path.rglob("*") if path.is_dir() else ()
    try:
        latest = max(entry.stat().st_mtime for entry in (path, *inside))
    except FileNotFoundError:  # somebody is moving or finishing it now
        return False
    return time.time() - latest > IDLE


def _remove(path: Path) -> Finding:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return Finding(f"{path}: unfinished, removed", not path.exists())
