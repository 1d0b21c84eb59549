"""Sessions that are learnt from together: of one drawer and one ring, each recording once.

What does not go with the others is left out in a line, and the others go on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.drawers import sessions
from ricochet.tasks.systems.drawers.recorded_takes import Recorded
from ricochet.tasks.systems.drawers.repeated_takes import KnownTakes
from ricochet.tasks.systems.drawers.sessions import Session, Take

APART = 5e-3
"""m, by which microphones of sessions may differ: places are learnt for a ring that stays."""
SHIFTED = 0.02
"""m, by which both ends of a session's strokes may lie beside those of the others."""
LONGER = 1.15
"""Times the stroke of the others, which nothing that is measured in the same unit exceeds."""


@dataclass(frozen=True)
class SessionSet:
    """Sessions and their takes.

    Attributes:
        sounds: Digest of each take's recording, by session and file.
        known: The same recordings, to find copies that have another digest.
        rejected: Why sessions and takes were left out, by folder or by session and file.
        errors: Of the sessions that were left out.
    """

    sessions: list[tuple[Session, list[Take]]] = field(default_factory=list)
    sounds: dict[str, str] = field(default_factory=dict)
    known: KnownTakes = field(default_factory=KnownTakes)
    rejected: dict[str, str] = field(default_factory=dict)
    errors: list[BadInput] = field(default_factory=list)

    @property
    def takes(self) -> Iterator[tuple[Session, Take]]:
        """Every take and its session."""
        return ((session, take) for session, takes in self.sessions for take in takes)


def read(folders: Sequence[Path]) -> SessionSet:
    """Read sessions and those of their takes that can be used.

    Raises:
        BadInput: If none can be read.
    """
    found = SessionSet()
    for folder in folders:
        try:
            session, takes = sessions.read(folder)
            _check_alike([other for other, _ in found.sessions], session)
        except BadInput as error:
            found.errors.append(error)
            found.rejected[str(folder)] = str(error)
        else:
            found.sessions.append((session, _once(found, session, takes)))
    if not found.sessions:
        raise found.errors[0] if found.errors else BadInput("sessions", "none", "one at least")
    return found


def one_zero(takes: Sequence[Recorded]) -> list[str]:
    """Say which session's strokes lie beside the median of all, or are longer: zero or unit.

    Of two sessions each is compared with the other, and both are named.
    """
    ends = {}
    for name in dict.fromkeys(each.session.identity for each in takes):
        places = [
            each.frames.labels.position
            for each in takes
            if each.session.identity == name and each.take.motion is not None
        ]
        if places:
            ends[name] = np.quantile(np.concatenate(places), [0.0, 1.0])
    if len(ends) < 2:
        return []
    notes = []
    for name, (first, last) in ends.items():
        others = [each for other, each in ends.items() if other != name or len(ends) > 2]
        low, high = np.median(others, axis=0)
        shifts = np.array([first - low, last - high])
        shifted = bool((shifts > SHIFTED).all() or (shifts < -SHIFTED).all())
        if shifted or last - first > LONGER * (high - low):
            notes.append(
                f"{name}: strokes from {first:.3f} to {last:.3f} m, others from {low:.3f} to"
                f" {high:.3f} m: one zero and one unit?"
            )
    return notes


def _once(found: SessionSet, session: Session, takes: Sequence[Take]) -> list[Take]:
    """Return the takes that were not heard before, and note the others and what was rejected."""
    kept = []
    found.rejected.update(
        {f"{session.identity}/{each.file}": each.reason for each in session.rejected}
    )
    for stated, take in zip(session.takes, takes, strict=True):
        name = f"{session.identity}/{take.file}"
        if (before := found.known.before(name, take.kept)) is not None:
            found.rejected[name] = f"the recording of {before}, expected each once"
        else:
            found.sounds[name] = stated.sha256
            kept.append(take)
    return kept


def _check_alike(before: Sequence[Session], other: Session) -> None:
    """Refuse sessions of another drawer, of microphones that stand elsewhere, or given twice."""
    if not before:
        return
    first, where = before[0], str(other.folder)
    if other.identity in {each.identity for each in before}:
        raise BadInput(where, f"{other.identity} twice", "each session once")
    if other.drawer != first.drawer:
        raise BadInput(where, f"the drawer {other.drawer}", f"{first.drawer}, as the first has")
    places = [each.rig.array().positions for each in (first, other)]
    if places[0].shape != places[1].shape:
        found = f"{len(places[1])} microphones"
        raise BadInput(where, found, f"{len(places[0])}, as the first has")
    if (apart := float(np.abs(places[1] - places[0]).max())) > APART:
        expected = f"where those of {first.identity} stand, to {APART:g} m"
        raise BadInput(where, f"microphones {apart:.3f} m elsewhere", expected)
