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
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware import locks
from ricochet.hardware.microphones import journal
from ricochet.hardware.microphones.interface import Recorder
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.recordings import audio_files, sessions
from ricochet.tasks.recordings.sessions import Session, Take
from ricochet.tasks.storage.files import sha256, sync, write_bytes, write_json, writing

PLAN, TAKES = "plan.json", "takes.json"
REPORT = "capture.json"  # beside session.json: how the recording went
SHORTEST = 0.05  # s of a journal that are worth keeping as a take


@dataclass(frozen=True)
class RecordedSession:
    """A session on the disk, and how it came there.

    Attributes:
        state: `recorded` now, `interrupted` when salvaged, or `unchanged` when it was there.
    """

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
    lock_folder: Path | None = None,
) -> RecordedSession:
    """Record and seal a session; the same id is never recorded twice.

    Args:
        plan: The session to make, without takes, at its final folder.
        duration: Length of a take, s.
        form: `flac` or `wav`.
        lock_folder: Where the locks of rigs lie; that of the whole machine when absent.

    Raises:
        BusyError: Another process records this session or uses this rig.
        BadInput: The folder cannot be written or the disk is full; what is complete is kept and
            salvaged by the next call.
    """
    if (plan.folder / sessions.MANIFEST).exists():
        return RecordedSession(sessions.read_session(plan.folder), "unchanged")
    check(plan)
    partial = partial_folder(plan.folder)
    with writing(partial):
        partial.mkdir(parents=True, exist_ok=True)
    with locks.hold(partial):
        if (partial / PLAN).exists() or (partial / sessions.MANIFEST).exists():
            return _salvage(plan.folder)
        begin(plan)
        with _device(recorder, lock_folder):
            for index in range(takes):
                _record_take(recorder, partial, duration=duration, form=form)
                progress(index + 1, takes)
        return RecordedSession(seal(plan.folder, state="recorded"), "recorded")


def salvage(folder: Path) -> RecordedSession:
    """Seal what a crash left of the session that was to lie in a folder, recording nothing.

    Raises:
        BusyError: If a process is recording it.
        BadInput: If what was left cannot be read.
    """
    with locks.hold(partial_folder(folder)):
        return _salvage(folder)


def partial_folder(folder: Path) -> Path:
    """Return the hidden folder in which the session that will lie in a folder is made."""
    return folder.with_name(f".{folder.name}.partial")


def check(plan: Session) -> None:
    """Refuse with BadInput what could not be read again, before anything is recorded."""
    sessions.parse(json.dumps(sessions.to_json(plan, ())), plan.folder / sessions.MANIFEST)


def begin(plan: Session) -> None:
    """Write down what is about to be recorded: a session without takes, at its final folder."""
    write_json(partial_folder(plan.folder) / PLAN, sessions.to_json(plan, ()), indent=1)


def add_take(
    partial: Path,
    samples: Float[ndarray, "channel frame"],
    sample_rate: int,
    *,
    form: str,
    gaps: tuple[int, ...] = (),
) -> Take:
    """Add one complete take to a session in the making, in its hidden folder; return its entry.

    Args:
        sample_rate: Hz.
        form: `flac` or `wav`.
        gaps: Frames at which something was lost.
    """
    listed = _listed(partial)
    content = audio_files.encode(samples, sample_rate=sample_rate, form=form)
    name = f"take-{len(listed):04d}.{form}"
    take = Take(name, sha256(content), int(samples.shape[1]), len(gaps))
    write_bytes(partial / name, content)
    write_json(partial / TAKES, [*listed, vars(take) | {"gaps": list(gaps)}], indent=1)
    return take


def seal(folder: Path, *, state: str) -> Session:
    """Give a session in the making its name, and read it back.

    How the recording ended is kept in `capture.json`.
    """
    partial = partial_folder(folder)
    plan, _ = sessions.read_manifest(partial / PLAN)
    listed = _listed(partial)
    report = {"state": state, "gaps": {row["file"]: row["gaps"] for row in listed if row["gaps"]}}
    takes = tuple(Take(**{key: row[key] for key in Take.__annotations__}) for row in listed)
    write_json(partial / REPORT, report, indent=1)
    write_json(partial / sessions.MANIFEST, sessions.to_json(plan, takes), indent=1)
    return _name(folder)


def _name(folder: Path) -> Session:
    """Clear the scaffolding away and rename; the takes and `session.json` are complete."""
    partial = partial_folder(folder)
    with writing(folder):
        unnamed = (path for path in partial.glob(".*") if path.is_file())
        for path in (*partial.glob("*.journal"), *unnamed, partial / TAKES, partial / PLAN):
            path.unlink(missing_ok=True)
        sync(partial)
        partial.rename(folder)
        sync(folder.parent)
    return sessions.read_session(folder)


def _salvage(folder: Path) -> RecordedSession:
    """Seal what a crash left, in whatever step it came."""
    partial = partial_folder(folder)
    if (partial / sessions.MANIFEST).exists():  # all was written, only the name was missing
        state = sessions.load_json(partial / REPORT)["state"]
        return RecordedSession(_name(folder), state)
    _salvage_journal(partial)
    return RecordedSession(seal(folder, state="interrupted"), "interrupted")


def _salvage_journal(partial: Path) -> None:
    """Turn the take in progress into a take of its own, unless it is too short for any use."""
    listed = _listed(partial)
    try:
        samples, rate = journal.read(_journal(partial, len(listed)))
    except BadInput:
        return
    if samples.shape[1] >= SHORTEST * rate:
        form = Path(listed[-1]["file"]).suffix[1:] if listed else "flac"
        add_take(partial, samples, rate, form=form, gaps=(samples.shape[1],))


def _record_take(recorder: Recorder, partial: Path, *, duration: float, form: str) -> None:
    """Record one take, its journal beside it until it is complete."""
    path = _journal(partial, len(_listed(partial)))
    with writing(path):
        recording = recorder.record(duration, journal=path)
    rate = recorder.rig.sample_rate
    add_take(partial, recording.samples, rate, form=form, gaps=recording.gaps)
    path.unlink(missing_ok=True)


def _journal(partial: Path, index: int) -> Path:
    """Return the journal of a take; its number tells whether that take is complete already."""
    return partial / f"take-{index:04d}.journal"


def _device(recorder: Recorder, folder: Path | None) -> AbstractContextManager[None]:
    """Return the lock on the rig; a simulated one needs none."""
    if not recorder.exclusive:
        return nullcontext()
    return locks.hold(locks.rig_lock(recorder.rig.name, folder))


def _listed(partial: Path) -> list[dict[str, Any]]:
    """Return the entries of the complete takes."""
    path = partial / TAKES
    return list(sessions.load_json(path)) if path.exists() else []
