"""Sessions made: recorded take by take into a hidden folder, sealed by one rename.

    ROOT/.ID.partial/plan.json          the session without takes: what is being recorded
    ROOT/.ID.partial/take-0000.flac     complete takes, with their entries in takes.json
    ROOT/.ID.partial/take-0001.journal  the take in progress
    ROOT/ID/                            the same, sealed: session.json written, then renamed

A session that is there is returned as it is. A hidden folder left by a crash is salvaged: what is
complete, and what the journal holds of the take in progress, is sealed and marked as interrupted;
nothing is ever recorded again. Each file is forced to the disk before it gets its name.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware import locks
from ricochet.hardware.microphones import finite, journal
from ricochet.hardware.microphones.interface import Recorder
from ricochet.models.core.bad_input import BadInput, shown
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.recordings import audio_files, sessions
from ricochet.tasks.recordings.manifests import MANIFEST, StatedNotFinite
from ricochet.tasks.recordings.sessions import Session, Take
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import sha256, sync, write_bytes, write_json, writing

PLAN, TAKES = "plan.json", "takes.json"
REPORT = "capture.json"  # beside session.json: how the recording went
STATES = ("recorded", "interrupted")
SHORTEST = 0.05  # s of a journal that are worth keeping as a take
Beside = Callable[[Path, int], Mapping[str, Any]]
"""Takes the hidden folder and the take's number."""


@dataclass(frozen=True)
class Sealed:
    """A folder that is a session now.

    Attributes:
        state: `recorded` now, `interrupted` when salvaged, or `unchanged` when it was there.
        takes: How many it lists.
    """

    folder: Path
    state: str
    takes: int


@dataclass(frozen=True)
class RecordedSession:
    """A session of the usual form on the disk, and how it came there, as `Sealed` says it."""

    session: Session
    state: str


def record_session(
    recorder: Recorder,
    plan: Session,
    *,
    takes: int,
    duration: float,
    form: str = "flac",
    progress: Progress = no_progress,
    lock_scope: str = "",
) -> RecordedSession:
    """Record and seal a session of the usual form; see `record`.

    Args:
        plan: The session to make, without takes, at its final folder.
        duration: Length of a take, s.
        form: `flac` or `wav`.
        lock_scope: Whose rigs are locked; those of the whole machine when empty.

    Raises:
        BusyError, BadInput: As `record`.
    """
    if not (plan.folder / MANIFEST).exists():
        check(plan)
    sealed = record(
        recorder,
        plan.folder,
        sessions.to_json(plan, ()),
        takes=takes,
        duration=duration,
        form=form,
        progress=progress,
        lock_scope=lock_scope,
    )
    return RecordedSession(sessions.read_session(plan.folder), sealed.state)


def record(
    recorder: Recorder,
    folder: Path,
    stated: Mapping[str, Any],
    *,
    takes: int,
    duration: float,
    form: str = "flac",
    beside: Beside | None = None,
    progress: Progress = no_progress,
    lock_scope: str = "",
) -> Sealed:
    """Record and seal a session of any kind; the same id is never recorded twice.

    Args:
        folder: Where it is to lie.
        stated: Its manifest without takes; the caller has checked it.
        duration: Length of a take, s.
        form: `flac` or `wav`.
        beside: Writes what belongs to a take beside its sound, and returns it for the manifest.
        lock_scope: Whose rigs are locked; those of the whole machine when empty.

    Raises:
        BusyError: Another process records this session or uses this rig.
        BadInput: The folder cannot be written or the disk is full; what is complete is kept and
            salvaged by the next call.
    """
    if (folder / MANIFEST).exists():
        return _sealed(folder, "unchanged")
    rate, channels = recorder.rig.sample_rate, len(recorder.rig.microphones)
    frames = round(duration * rate)
    audio_files.check_size("a take", channels=channels, frames=frames, sample_rate=rate)
    partial = partial_folder(folder)
    with writing(partial):
        partial.mkdir(parents=True, exist_ok=True)
    with locks.hold(partial):
        if (partial / PLAN).exists() or (partial / MANIFEST).exists():
            return _salvage(folder)
        begin(folder, stated)
        with _device(recorder, lock_scope):
            for index in range(takes):
                _record_take(recorder, partial, duration=duration, form=form, beside=beside)
                progress(index + 1, takes)
        return seal(folder, state="recorded")


def salvage(folder: Path) -> Sealed:
    """Seal what a crash left of the session that was to lie in a folder, recording nothing.

    Raises:
        BusyError: If a process is recording it.
        BadInput: If what was left cannot be read.
    """
    with locks.hold(partial_folder(folder)):
        return _salvage(folder)


def check_name(session: str) -> None:
    """Refuse with BadInput an id that cannot name a folder."""
    named = session and session == Path(session).name and session.isprintable()
    if not named or session.startswith("."):
        raise BadInput("--session", repr(session), "a plain name, as of a folder")


def partial_folder(folder: Path) -> Path:
    """Return the hidden folder in which the session that will lie in a folder is made."""
    return folder.with_name(f".{folder.name}.partial")


def check(plan: Session) -> None:
    """Refuse with BadInput what could not be read again, before anything is recorded."""
    sessions.parse(json.dumps(sessions.to_json(plan, ())), plan.folder / MANIFEST)


def begin(folder: Path, stated: Mapping[str, Any]) -> None:
    """Write down what is about to be recorded: a manifest without takes, of its final folder."""
    write_json(partial_folder(folder) / PLAN, dict(stated), indent=1)


def add_take(
    partial: Path,
    samples: Float[ndarray, "channel frame"],
    sample_rate: int,
    *,
    form: str,
    gaps: tuple[int, ...] = (),
    beside: Beside | None = None,
) -> dict[str, Any]:
    """Add one complete take to a session in the making, in its hidden folder; return its entry.

    Samples that are not finite are stored as 0, and the entry says where they were.

    Args:
        sample_rate: Hz.
        form: `flac` or `wav`.
        gaps: Frames at which something was lost or doubled.
        beside: As in `record`.
    """
    listed = _listed(partial)
    samples, bad = finite.without(samples)
    content = audio_files.encode(samples, sample_rate=sample_rate, form=form)
    name = f"take-{len(listed):04d}.{form}"
    more = beside(partial, len(listed)) if beside else {}
    marks = tuple(StatedNotFinite(**vars(each)) for each in bad)
    take = Take(name, sha256(content), int(samples.shape[1]), len(gaps), marks)
    write_bytes(partial / name, content)
    entry = sessions.stated_take(take) | dict(more) | {"gaps": list(gaps)}
    write_json(partial / TAKES, [*listed, entry], indent=1)
    return entry


def seal(folder: Path, *, state: str) -> Sealed:
    """Give a session in the making its name.

    How the recording ended is kept in `capture.json`.
    """
    partial = partial_folder(folder)
    stated, listed = checked_json.load(partial / PLAN), _listed(partial)
    if not isinstance(stated.get("schema"), str):
        raise BadInput(f"{partial / PLAN}: schema", shown(stated.get("schema")), "a schema")
    report = {"state": state, "gaps": {row["file"]: row["gaps"] for row in listed if row["gaps"]}}
    takes = [{key: row[key] for key in row if key != "gaps"} for row in listed]
    write_json(partial / REPORT, report, indent=1)
    write_json(partial / MANIFEST, stated | {"takes": takes}, indent=1)
    return _name(folder, state)


def _name(folder: Path, state: str) -> Sealed:
    """Clear the scaffolding away and rename; the takes and `session.json` are complete."""
    partial = partial_folder(folder)
    with writing(folder):
        unnamed = (path for path in partial.glob(".*") if path.is_file())
        for path in (*partial.glob("*.journal"), *unnamed, partial / TAKES, partial / PLAN):
            path.unlink(missing_ok=True)
        sync(partial)
        partial.rename(folder)
        sync(folder.parent)
    return _sealed(folder, state)


def _sealed(folder: Path, state: str) -> Sealed:
    path = folder / MANIFEST
    takes = checked_json.load(path).get("takes")
    if not isinstance(takes, list):
        raise BadInput(f"{path}: takes", shown(takes), "a list")
    return Sealed(folder, state, len(takes))


def _salvage(folder: Path) -> Sealed:
    """Seal what a crash left, in whatever step it came."""
    partial = partial_folder(folder)
    if (partial / MANIFEST).exists():  # all was written, only the name was missing
        state = checked_json.load(partial / REPORT).get("state")
        if state not in STATES:
            raise BadInput(f"{partial / REPORT}: state", shown(state), " or ".join(STATES))
        return _name(folder, state)
    _salvage_journal(partial)
    return seal(folder, state="interrupted")


def _salvage_journal(partial: Path) -> None:
    """Turn the take in progress into a take of its own, unless it is too short for any use."""
    listed = _listed(partial)
    try:
        path = _journal(partial, len(listed))
        samples, rate = journal.read(path)
        audio_files.check_size(
            str(path), channels=len(samples), frames=samples.shape[1], sample_rate=rate
        )
    except BadInput:
        return
    if samples.shape[1] >= SHORTEST * rate:
        form = "wav" if listed and listed[-1]["file"].endswith(".wav") else "flac"
        add_take(partial, samples, rate, form=form, gaps=(samples.shape[1],))


def _record_take(
    recorder: Recorder, partial: Path, *, duration: float, form: str, beside: Beside | None
) -> None:
    """Record one take, its journal beside it until it is complete."""
    path = _journal(partial, len(_listed(partial)))
    with writing(path):
        recording = recorder.record(duration, journal=path)
    rate = recorder.rig.sample_rate
    add_take(partial, recording.samples, rate, form=form, gaps=recording.gaps, beside=beside)
    path.unlink(missing_ok=True)


def _journal(partial: Path, index: int) -> Path:
    """Return the journal of a take; its number tells whether that take is complete already."""
    return partial / f"take-{index:04d}.journal"


def _device(recorder: Recorder, scope: str) -> AbstractContextManager[object]:
    """Return the lock on the rig; a simulated one needs none."""
    if not recorder.exclusive:
        return nullcontext()
    return locks.hold(locks.RigLock(recorder.rig.name, scope))


def _listed(partial: Path) -> list[dict[str, Any]]:
    """Return the entries of the complete takes."""
    path = partial / TAKES
    rows = sessions.load_json(path) if path.exists() else []
    for row in rows if isinstance(rows, list) else [rows]:
        kinds = {"file": str, "gaps": list}
        if not isinstance(row, dict) or not all(
            isinstance(row.get(key), kind) for key, kind in kinds.items()
        ):
            raise BadInput(str(path), shown(row), "takes with file and gaps")
    return list(rows)
