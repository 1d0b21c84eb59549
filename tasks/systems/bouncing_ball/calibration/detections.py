"""Sessions to heard takes: what each recording of a drop says about times and places of bounces.

One bad take never ends a session: whatever is wrong with it becomes its reason to be set aside.
Neither does a poor session spoil the good ones: places come before times, so that a session of
fewer than three microphones counts only where no session of the pair tells places.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.models.systems.bouncing_ball.calibration.calibrate import MeasuredDrops
from ricochet.models.systems.bouncing_ball.listening import takes as sound
from ricochet.models.systems.bouncing_ball.listening.takes import DetectedTake
from ricochet.tasks.console.progress import Progress, no_progress
from ricochet.tasks.recordings import sessions as recordings
from ricochet.tasks.recordings.sessions import Rejected, Session

BOUNCES = 3
"""Bounces of a drop that the features need."""
LEFT_OUT = "fewer than three microphones: times alone, left out beside sessions that tell places"


@dataclass(frozen=True)
class NamedTake:
    """A take that was heard.

    Attributes:
        file: `<session>/<file>`.
        path: Where the recording lies.
        heard: What was heard in it.
    """

    file: str
    path: Path
    heard: DetectedTake


@dataclass(frozen=True)
class Heard:
    """All takes of the sessions of a pair.

    Attributes:
        sessions: The sessions that were heard.
        takes: The takes that can be used.
        rejected: Those that cannot, those of sessions left out among them.
        placed: Whether the rigs of these sessions tell where a bounce was.
    """

    sessions: tuple[Session, ...]
    takes: tuple[NamedTake, ...]
    rejected: tuple[Rejected, ...]
    placed: bool


def hear(
    folders: Sequence[Path],
    *,
    tolerances: Tolerances | None = None,
    progress: Progress = no_progress,
) -> Heard:
    """Hear every take of some sessions.

    Args:
        folders: The session folders.
        tolerances: How well the rig is known; None is a perfect one.
        progress: Told of each take.

    Returns:
        What was heard.

    Raises:
        BadInput: If a session as a whole cannot be read.
    """
    named = tuple(recordings.read_session(folder) for folder in folders)
    sessions, left_out = _best(named)
    placed = _tells_places(sessions[0])
    total = sum(len(session.takes) for session in sessions)
    heard: list[NamedTake] = []
    rejected = [entry for session in named for entry in _rejected(session)]
    rejected += [
        Rejected(f"{session.identity}/{take.file}", LEFT_OUT)
        for session in left_out
        for take in session.takes
    ]
    done = 0
    for session in sessions:
        for take in session.takes:
            result = _hear_take(session, take.file, placed=placed, tolerances=tolerances)
            heard.append(result) if isinstance(result, NamedTake) else rejected.append(result)
            done += 1
            progress(done, total)
    return Heard(sessions, tuple(heard), tuple(rejected), placed)


def measured(heard: Heard) -> MeasuredDrops:
    """Give the drops the form that the calibration takes.

    Args:
        heard: Takes of a rig that tells places.

    Returns:
        First three bounces of each, with their noise, and all later times.
    """
    takes = [take.heard for take in heard.takes]
    return MeasuredDrops(
        times=_stack([take.times[:BOUNCES] for take in takes]),
        positions=_stack([_places(take)[:BOUNCES] for take in takes]),
        time_sd=_stack([_pooled(take.time_sd[:BOUNCES]) for take in takes]),
        position_sd=_stack([_position_sd(take) for take in takes]),
        later_times=tuple(take.times for take in takes),
        names=tuple(take.file for take in heard.takes),
    )


def _best(named: tuple[Session, ...]) -> tuple[tuple[Session, ...], tuple[Session, ...]]:
    """Split sessions into those to hear and those to leave out: places come before times."""
    telling = tuple(session for session in named if _tells_places(session))
    if not telling:
        return named, ()
    return telling, tuple(session for session in named if not _tells_places(session))


def _tells_places(session: Session) -> bool:
    return len(session.rig.microphones) >= recordings.LOCATABLE


def _rejected(session: Session) -> list[Rejected]:
    return [
        Rejected(f"{session.identity}/{entry.file}", entry.reason) for entry in session.rejected
    ]


def _hear_take(
    session: Session, file: str, *, placed: bool, tolerances: Tolerances | None
) -> NamedTake | Rejected:
    name, path = f"{session.identity}/{file}", session.folder / file
    try:
        samples = recordings.load_take(path)
        heard = sound.detect(samples, session.rig.array(), tolerances=tolerances)
    except (BadInput, ValueError) as error:
        return Rejected(name, str(error))
    if placed and bool(np.any(heard.outliers[:BOUNCES])):
        return Rejected(name, f"one of its first {BOUNCES} bounces could not be placed")
    return NamedTake(name, path, heard)


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
