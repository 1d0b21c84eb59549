"""Detection in sessions: what each recording of a drop says about times and places of bounces.

One bad take never ends a session: whatever is wrong with it becomes its reason to be set aside.
Neither does a poor session spoil the good ones: places come before times, so that a session of
fewer than three microphones counts only where no session of the target tells places.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.models.sound.channel_faults import ChannelFaultError
from ricochet.models.systems.bouncing_ball.calibration.calibrate import MeasuredDrops
from ricochet.models.systems.bouncing_ball.listening import takes as sound
from ricochet.models.systems.bouncing_ball.listening.takes import DetectedTake
from ricochet.models.systems.bouncing_ball.problem import Release
from ricochet.tasks.recordings import manifests
from ricochet.tasks.recordings import sessions as recordings
from ricochet.tasks.recordings.manifests import Rejected
from ricochet.tasks.recordings.sessions import Session, Take
from ricochet.tasks.systems.bouncing_ball.calibration import channel_checks, repeated_takes
from ricochet.tasks.systems.bouncing_ball.settings import HIGHEST, LOWEST

BOUNCES = 3
"""Bounces of a drop that the features need."""
LEFT_OUT = "fewer than three microphones: times alone, left out as other sessions tell places"


@dataclass(frozen=True)
class NamedTake:
    """A take, `<session>/<file>`, in which the bounces were detected, and its noise."""

    file: str
    path: Path
    detected: DetectedTake
    noises: tuple[Float[ndarray, " frame"], ...]


@dataclass(frozen=True)
class Detections:
    """All takes of the sessions of a target; `placed` if their rigs tell where a bounce was.

    The rejected takes are those that cannot be used, those of sessions left out among them. The
    tolerances are those with which the takes were detected.
    """

    sessions: tuple[Session, ...]
    takes: tuple[NamedTake, ...]
    rejected: tuple[Rejected, ...]
    placed: bool
    tolerances: Tolerances


def detect(
    folders: Sequence[Path],
    *,
    tolerances: Tolerances | None = None,
    progress: Progress = no_progress,
) -> Detections:
    """Detect the bounces of every take of some sessions.

    The tolerances say how well the rig is known; None is a perfect one.

    Raises:
        BadInput: A session cannot be read, or one of its channels cannot be what is stated.
    """
    found = (recordings.read_session(folder) for folder in folders)
    named = recordings.once(sorted(found, key=lambda session: session.started_at))
    for session in named:
        _check_height(session)
    sessions, left_out = _best(named)
    tolerances = tolerances or Tolerances()
    placed = _tells_places(sessions[0])
    total = sum(len(session.takes) for session in sessions)
    takes, known = list[NamedTake](), repeated_takes.KnownTakes()
    rejected = [entry for session in named for entry in _rejected(session)]
    rejected += [
        Rejected(f"{session.identity}/{take.file}", LEFT_OUT)
        for session in left_out
        for take in session.takes
    ]
    done = 0
    for session in sessions:
        detected, faults = [], []
        for take in session.takes:
            outcome = _detect_take(session, take, tolerances=tolerances)
            result = _judged(outcome, known, placed=placed)
            takes.append(result) if isinstance(result, NamedTake) else rejected.append(result)
            if isinstance(outcome, NamedTake):
                detected.append(outcome.detected)
            elif isinstance(outcome, _Faulty):
                faults.append(outcome.reason)
            done += 1
            progress(done, total)
        channel_checks.check_faults(session, faults)
        if placed:
            usable = sum(take.path.parent == session.folder for take in takes)
            channel_checks.check_order(session, detected)
            channel_checks.check_misfit(session, detected, usable, tolerances.place_sd)
    return Detections(sessions, tuple(takes), tuple(rejected), placed, tolerances)


def measured(detected: Detections, *, release_sd: float) -> MeasuredDrops:
    """Give the drops, of a rig that tells places, the form that the calibration takes.

    The error of a session's height of release has a standard deviation, m.
    """
    takes = [take.detected for take in detected.takes]
    return MeasuredDrops(
        times=_stack([take.times[:BOUNCES] for take in takes]),
        positions=_stack([_places(take)[:BOUNCES] for take in takes]),
        time_sd=_stack([_pooled(take.time_sd[:BOUNCES]) for take in takes]),
        position_sd=_stack([_position_sd(take) for take in takes]),
        release=_release(detected, release_sd),
        later_times=tuple(take.times for take in takes),
        names=tuple(take.file for take in detected.takes),
    )


def object_of(detected: Detections) -> dict[str, Any]:
    """Describe what was dropped; the height only where it was the same in all sessions."""
    first = detected.sessions[0]
    heights = {session.drop_height for session in detected.sessions}
    return {
        "ball": first.ball,
        "surface": first.surface,
        "drop_height": first.drop_height if len(heights) == 1 else None,
    }


def provenance(detected: Detections) -> dict[str, Any]:
    """Say which sessions were read, and what they were simulated with."""
    truth = detected.sessions[0].truth
    return {
        "sessions": [
            {"id": each.identity, "started_at": each.started_at.isoformat(), "rig": each.rig.name}
            for each in detected.sessions
        ],
        "truth": None if truth is None else recordings.stated(truth),
    }


def _release(detected: Detections, release_sd: float) -> Release:
    """Return what the sessions state of the release of each take."""
    names = [session.identity for session in detected.sessions]
    number = torch.tensor([names.index(take.file.split("/")[0]) for take in detected.takes])
    stated = [
        math.nan if session.drop_height is None else session.drop_height
        for session in detected.sessions
    ]
    height = torch.tensor(stated, dtype=torch.float64)[number]
    return Release(height, torch.full_like(height, release_sd), number)


def _check_height(session: Session) -> None:
    if session.drop_height is not None and not LOWEST <= session.drop_height <= HIGHEST:
        where = f"{session.folder / manifests.MANIFEST}: object.drop_height"
        raise BadInput(where, f"{session.drop_height:g}", f"metres, from {LOWEST:g} to {HIGHEST:g}")


def _best(named: tuple[Session, ...]) -> tuple[tuple[Session, ...], tuple[Session, ...]]:
    """Split sessions into those to use and those to leave out: places come before times."""
    telling = tuple(session for session in named if _tells_places(session))
    if not telling:
        return named, ()
    return telling, tuple(session for session in named if not _tells_places(session))


def _tells_places(session: Session) -> bool:
    return len(session.rig.microphones) >= manifests.LOCATABLE


def _rejected(session: Session) -> list[Rejected]:
    return [
        Rejected(f"{session.identity}/{entry.file}", entry.reason) for entry in session.rejected
    ]


class _Faulty(Rejected):
    """A take set aside for a channel that cannot be used."""


def _detect_take(
    session: Session, take: Take, *, tolerances: Tolerances | None
) -> NamedTake | Rejected:
    name, path = f"{session.identity}/{take.file}", session.folder / take.file
    if take.xruns:
        return Rejected(name, f"the recorder lost samples ({take.xruns} xruns): its times are off")
    try:
        samples = recordings.load_take(path)
        detected = sound.detect(samples, session.rig.array(), tolerances=tolerances)
        noises = repeated_takes.noises(samples, detected, sample_rate=session.rig.sample_rate)
    except ChannelFaultError as error:
        return _Faulty(name, str(error))
    except (BadInput, ValueError) as error:
        return Rejected(name, str(error))
    return NamedTake(name, path, detected, noises)


def _judged(
    take: NamedTake | Rejected, known: repeated_takes.KnownTakes, *, placed: bool
) -> NamedTake | Rejected:
    """Set a take aside whose first bounces have no places where they need some, and a copy."""
    if not isinstance(take, NamedTake):
        return take
    if placed and bool(np.any(take.detected.outliers[:BOUNCES])):
        return Rejected(take.file, f"one of its first {BOUNCES} bounces could not be placed")
    if (before := known.before(take.file, take.detected, take.noises)) is not None:
        return Rejected(take.file, recordings.again(before))
    return take


def _places(take: DetectedTake) -> Float[ndarray, "bounce 2"]:
    if take.positions is None:
        raise ValueError("positions must be known, got a take of times alone")
    return take.positions


def _position_sd(take: DetectedTake) -> Float[ndarray, ""]:
    if take.covariances is None:
        raise ValueError("covariances must be known, got a take of times alone")
    variance = np.trace(take.covariances[:BOUNCES], axis1=1, axis2=2) / 2.0
    return np.sqrt(variance.mean())


def _pooled(deviations: Float[ndarray, " bounce"]) -> Float[ndarray, ""]:
    return np.sqrt(np.mean(np.square(deviations)))


def _stack(parts: Sequence[ndarray]) -> torch.Tensor:
    return torch.from_numpy(np.stack([np.asarray(part, dtype=np.float64) for part in parts]))
