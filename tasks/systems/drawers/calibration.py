"""From recorded sessions to what a drawer sounds like, tried on takes that were held out.

Every fourth take with a motion, lit at first and then dark, is held out. A take whose motion was
not measured, but which was lit, is learnt from while there was light; one that was never lit is
predicted alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.drawers import hearing
from ricochet.models.systems.drawers.belief.place_and_direction import Grammar
from ricochet.models.systems.drawers.hearing import Hearing
from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.models.systems.drawers.learning import Size
from ricochet.models.systems.drawers.level import NORMAL
from ricochet.models.systems.drawers.tracking import follower
from ricochet.models.systems.drawers.tracking.follower import Estimates
from ricochet.tasks.storage.files import output_folder, write_bytes
from ricochet.tasks.systems.drawers import recorded_takes, session_sets, trials
from ricochet.tasks.systems.drawers.recorded_takes import Recorded
from ricochet.tasks.systems.drawers.session_sets import SessionSet
from ricochet.tasks.systems.drawers.sessions import Session
from ricochet.tasks.systems.drawers.studies import summary
from ricochet.tasks.systems.drawers.trials import Learnt, Measured

SCHEMA = "ricochet.drawer-calibration/1"
HELD_OUT = 4
"""One take of so many is held out."""
FEWEST = 2
"""Takes that are learnt from."""
WORTHLESS = 0.02
"""Of odds, below which the direction is not heard."""


@dataclass(frozen=True)
class Shown:
    """A take that was followed, to be looked at.

    Attributes:
        truth: The opening at the end of each frame, m; None: not measured.
        light_off: When the light went off, s; 0: never lit.
    """

    name: str
    estimates: Estimates
    grammar: Grammar
    truth: Float[ndarray, " frame"] | None
    light_off: float


@dataclass(frozen=True)
class Calibrated:
    """What was learnt, and how it did.

    Attributes:
        session: The first.
        sounds: Digest of each take's recording, by session and file.
        result: What `result.json` holds.
        shown: The first take that was held out, or else predicted.
    """

    learnt: Learnt
    session: Session
    sounds: dict[str, str]
    result: dict[str, Any]
    shown: Shown | None = None


def run(
    folders: Sequence[Path],
    out: Path,
    *,
    seed: int = 0,
    size: Size | None = None,
    progress: Progress = no_progress,
) -> Calibrated:
    """Learn from sessions of a drawer, try on takes held out, and predict takes without motion.

    Args:
        folders: Of the sessions.
        out: Receives `positions-NNNN.csv` of each predicted take.
        seed: Of the trainings.
        size: Of the trainings.

    Raises:
        BadInput: If no session can be read, or too few takes have a track.
    """
    read = session_sets.read(folders)
    every = [recorded_takes.recorded(*pair) for pair in read.takes]
    held = [each for each in every if each.is_known_in_the_dark][HELD_OUT - 1 :: HELD_OUT]
    out_names = {each.name for each in held}
    kept = [each for each in every if each.is_known and each.name not in out_names]
    if len(kept) < FEWEST:
        found = f"{len(kept)} takes with a track{_set_aside(read)}"
        raise BadInput(str(folders[0]), found, f"{FEWEST} at least to learn from")
    draw = torch.Generator().manual_seed(seed)
    learnt = trials.learn(
        [recorded_takes.learnt_from(each) for each in kept],
        draw,
        groups=_groups(kept),
        size=size,
        progress=progress,
    )
    done = [trials.attempt(learnt, recorded_takes.trial(each)) for each in held]
    predicted = [each for each in every if each.take.motion is None]
    files = _predict(learnt, predicted, out)
    first = read.sessions[0][0]
    result = {
        "schema": SCHEMA,
        **_summary(done),
        "drawer": first.drawer,
        "sessions": [session.identity for session, _ in read.sessions],
        "takes": {
            "learnt_from": [each.name for each in kept],
            "held_out": [each.name for each in held],
            "predicted": files,
            "rejected": read.rejected,
        },
        "notes": [
            *(f"{each.name}: {note}" for each in every for note in (*each.take.notes, *each.short)),
            *_alone(kept),
            *_known(kept, held),
            *session_sets.one_zero(every),
            *_unheard(learnt.hearing),
        ],
        "registered": None,
    }
    shown = [*held, *predicted][:1]
    seen = _shown(learnt, shown[0]) if shown else None
    return Calibrated(learnt, first, read.sounds, result, seen)


def _followed(learnt: Learnt, each: Recorded) -> Estimates:
    """Return where the drawer is believed to be; sources of sound are not asked for."""
    heard = hearing.listen(learnt.hearing, each.frames.features).heard()
    return follower.follow(heard, recorded_takes.sight(each).seen, learnt.hearing.grammar)


def _predict(learnt: Learnt, takes: Sequence[Recorded], out: Path) -> dict[str, str]:
    """Write where the drawer is in each frame of takes whose motion was not measured."""
    written = {}
    for number, each in enumerate(takes):
        ours = _followed(learnt, each)
        name = f"positions-{number:04d}.csv"
        write_bytes(output_folder(out) / name, _rows(ours))
        written[each.name] = name
    return written


def _alone(kept: Sequence[Recorded]) -> list[str]:
    """Say where all takes are of one session, which share what another will not."""
    if len({each.session.identity for each in kept}) > 1:
        return []
    return ["all takes are of one session: intervals may be too narrow in others"]


def _known(kept: Sequence[Recorded], held: Sequence[Recorded]) -> list[str]:
    """Say where takes that were held out are of sessions that others were learnt from."""
    learnt_from = {each.session.identity for each in kept}
    same = [each.name for each in held if each.session.identity in learnt_from]
    if not same:
        return []
    return [f"other takes of the same sessions were learnt from: {', '.join(same)}"]


def _groups(kept: Sequence[Recorded]) -> list[int]:
    """Return the session of each take, in their order; where all are of one, each is its own."""
    names = [each.session.identity for each in kept]
    order = list(dict.fromkeys(names))
    return [order.index(name) for name in names] if len(order) > 1 else list(range(len(kept)))


def _unheard(heard: Hearing) -> list[str]:
    """Say what the ring does not hear of the drawer."""
    notes = []
    if not heard.place.hears:
        notes.append("the ring does not hear where the drawer is: in the dark only motion counts")
    if heard.direction.worth * heard.grammar.direction_weight < WORTHLESS:
        notes.append("the ring does not hear which way the drawer moves")
    return notes


def _shown(learnt: Learnt, each: Recorded) -> Shown:
    """Return a take as it is followed."""
    ours = _followed(learnt, each)
    truth = None if each.take.motion is None else each.frames.labels.position
    light_off = each.take.light_off_at or 0.0
    return Shown(each.name, ours, learnt.hearing.grammar, truth, light_off)


def _rows(found: Estimates) -> bytes:
    lines = ["time,position,sd,direction"]
    deviations = 0.5 * (found.high - found.low) / NORMAL  # as wide as the interval is
    columns = (found.place, deviations, found.opening)
    for frame, (place, deviation, opening) in enumerate(zip(*columns, strict=True)):
        direction = 2.0 * opening - 1.0
        lines.append(f"{PERIOD * (frame + 1):.3f},{place:.5f},{deviation:.5f},{direction:.3f}")
    return ("\n".join(lines) + "\n").encode()


def _set_aside(read: SessionSet) -> str:
    """Say why the first of the takes or sessions that were left out was, and how many were."""
    if not read.rejected:
        return ""
    name, reason = next(iter(read.rejected.items()))
    more = f" and {len(read.rejected) - 1} more" if len(read.rejected) > 1 else ""
    return f" ({name}: {reason}{more})"


def _summary(done: Sequence[Measured]) -> dict[str, Any]:
    """Return what was measured on takes that were held out; the result names them itself."""
    found = summary.drawer(done) if done else {}
    return {name: value for name, value in found.items() if name != "sessions"}
