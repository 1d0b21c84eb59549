"""From recorded sessions to what a drawer sounds like, tried on takes that were held out.

Every fourth take with a motion, lit at first and then dark, is held out. A take whose motion was
not measured, but which was lit, is learnt from while there was light; one that was never lit is
predicted alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.sound import source_direction, spectra
from ricochet.models.systems.drawers import features, hearing, labels, tracks
from ricochet.models.systems.drawers.belief.place_and_direction import Grammar
from ricochet.models.systems.drawers.features import Features
from ricochet.models.systems.drawers.hearing import Hearing
from ricochet.models.systems.drawers.labels import FRAME, PERIOD, Labels
from ricochet.models.systems.drawers.learning import Size
from ricochet.models.systems.drawers.tracking import follower, track_sight
from ricochet.models.systems.drawers.tracking.follower import Estimates
from ricochet.models.systems.drawers.tracking.paper_fusion import Lit
from ricochet.tasks.storage.files import output_folder, write_bytes
from ricochet.tasks.systems.drawers import sessions, trials
from ricochet.tasks.systems.drawers.sessions import Session, Take
from ricochet.tasks.systems.drawers.studies import summary
from ricochet.tasks.systems.drawers.track_files import GAP
from ricochet.tasks.systems.drawers.trials import Frames, Learnt, Measured, Sight, Trial

SCHEMA = "ricochet.drawer-calibration/1"
HELD_OUT = 4
"""One take of so many is held out."""
FEWEST = 2
"""Takes that are learnt from."""
WORTHLESS = 0.02
"""Of odds, below which the direction is not heard."""
APART = 5e-3
"""m, by which microphones of sessions may differ: places are learnt for a ring that stays."""
DARK = 5.0
"""s of darkness at least of a take that is held out."""
MOVED = 30
"""Frames at least of it in which the drawer moves in the dark."""
LIT = 5.0
"""s of light without a gap at least, of a take that is learnt from without a motion."""


@dataclass(frozen=True)
class Recorded:
    """A take of a session, and what is known in each of its frames."""

    session: Session
    take: Take
    frames: Frames

    @property
    def name(self) -> str:
        """Session and file."""
        return f"{self.session.identity}/{self.take.file}"

    @property
    def is_known(self) -> bool:
        """Whether the truth is known long enough, of all of it or while there was light."""
        return self.take.motion is not None or self.lit[1] - self.lit[0] >= LIT

    @property
    def lit(self) -> tuple[float, float]:
        """Longest stretch in which the camera saw the drawer without a gap, s."""
        if self.take.vision is None:
            return 0.0, 0.0
        times = self.take.vision.times
        begins = np.concatenate([[0], np.flatnonzero(np.diff(times) > GAP) + 1])
        ends = np.concatenate([begins[1:], [len(times)]]) - 1
        longest = int(np.argmax(times[ends] - times[begins]))
        return float(times[begins[longest]]), float(times[ends[longest]])

    @property
    def short(self) -> list[str]:
        """Say why nothing is learnt from it, where that is for want of light."""
        if self.is_known or self.take.vision is None:
            return []
        seconds = self.lit[1] - self.lit[0]
        return [f"{seconds:.1f} s of light without a gap, expected {LIT:g} s to learn from it"]

    @property
    def tells_dark(self) -> bool:
        """Whether errors in the dark can be measured."""
        take = self.take
        if take.motion is None or take.vision is None or take.light_off_at is None:
            return False
        labels = self.frames.labels
        dark = PERIOD * np.arange(1, len(labels.speed) + 1) > take.light_off_at
        moved = int((labels.moving & dark).sum())
        return take.seconds - take.light_off_at >= DARK and moved >= MOVED


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
        result: What `result.json` holds.
        shown: The first take that was held out, or else predicted.
    """

    learnt: Learnt
    session: Session
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
        BadInput: If a session cannot be read, sessions are of several drawers or rings, or too few
            takes have a track.
    """
    read = [sessions.read(folder) for folder in folders]
    first = read[0][0]
    for place, (session, _) in enumerate(read[1:], 1):
        _check_alike(first, session)
        if session.identity in {other.identity for other, _ in read[:place]}:
            raise BadInput(str(session.folder), f"{session.identity} twice", "each session once")
    every = [recorded(session, take) for session, takes in read for take in takes]
    held = [each for each in every if each.tells_dark][HELD_OUT - 1 :: HELD_OUT]
    out_names = {each.name for each in held}
    kept = [each for each in every if each.is_known and each.name not in out_names]
    if len(kept) < FEWEST:
        found = f"{len(kept)} takes with a track"
        raise BadInput(str(folders[0]), found, f"{FEWEST} at least to learn from")
    draw = torch.Generator().manual_seed(seed)
    learnt = trials.learn(
        [_learnt_from(each) for each in kept],
        draw,
        groups=_groups(kept),
        size=size,
        progress=progress,
    )
    done = [trials.attempt(learnt, trial(each)) for each in held]
    predicted = [each for each in every if each.take.motion is None]
    files = _predict(learnt, predicted, out)
    rejected = {
        f"{session.identity}/{each.file}": each.reason
        for session, _ in read
        for each in session.rejected
    }
    result = {
        "schema": SCHEMA,
        **_summary(done),
        "drawer": first.drawer,
        "sessions": [session.identity for session, _ in read],
        "takes": {
            "learnt_from": [each.name for each in kept],
            "held_out": [each.name for each in held],
            "predicted": files,
            "rejected": rejected,
        },
        "notes": [
            *(f"{each.name}: {note}" for each in every for note in (*each.take.notes, *each.short)),
            *_alone(kept),
            *_known(kept, held),
            *_unheard(learnt.hearing),
        ],
        "registered": None,
    }
    shown = [*held, *predicted][:1]
    return Calibrated(learnt, first, result, _shown(learnt, shown[0]) if shown else None)


def recorded(session: Session, take: Take) -> Recorded:
    """Return a take with what is heard in its frames, and what is true as far as it is known."""
    seen = features.of_samples(take.samples)
    count = len(seen.speed)
    track = take.motion or take.vision
    nowhere = Labels(*(np.zeros(count) for _ in range(3)))
    truth = labels.of_track(track.times, track.positions, count) if track else nowhere
    return Recorded(session, take, Frames(seen, spectra.powers(take.samples, FRAME), truth))


def trial(each: Recorded) -> Trial:
    """Return what is tried of a take: its frames, what the camera saw, where sounds come from."""
    sources = source_direction.locate(each.take.samples, FRAME, each.session.rig.array())
    return Trial(each.frames, sight(each), sources, dark(each))


def sight(each: Recorded) -> Sight:
    """Return what the camera saw at the end of each frame."""
    take, count = each.take, len(each.frames.labels.speed)
    if (track := take.vision) is None:
        return Sight(Lit([]), [None] * count, lambda heard: Lit([]))
    noise, light_off = tracks.noise(track), min(take.light_off_at or 0.0, take.seconds)
    lit, seen = track_sight.follow(track, noise, light_off)
    return Sight(
        lit,
        [*seen, *[None] * (count - len(seen))][:count],
        lambda heard: track_sight.follow(track, noise, light_off, heard)[0],
    )


def dark(each: Recorded) -> Bool[ndarray, " frame"]:
    """Return which frames are after the light went off."""
    ends = PERIOD * np.arange(1, len(each.frames.labels.speed) + 1)
    return np.asarray(ends > (each.take.light_off_at or 0.0))


def _followed(learnt: Learnt, each: Recorded) -> Estimates:
    """Return where the drawer is believed to be; sources of sound are not asked for."""
    heard = hearing.listen(learnt.hearing, each.frames.features).heard()
    return follower.follow(heard, sight(each).seen, learnt.hearing.grammar)


def _learnt_from(each: Recorded) -> Frames:
    """Return the frames of which the truth is known."""
    if each.take.motion is not None:
        return each.frames
    first, last = math.ceil(each.lit[0] / PERIOD), math.floor(each.lit[1] / PERIOD)
    parts = {name: values[first:last] for name, values in vars(each.frames.features).items()}
    known = {name: values[first:last] for name, values in vars(each.frames.labels).items()}
    return replace(
        each.frames,
        features=Features(**parts),
        power=each.frames.power[first:last],
        labels=Labels(**known),
    )


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
    columns = (found.place, found.deviation, found.opening)
    for frame, (place, deviation, opening) in enumerate(zip(*columns, strict=True)):
        direction = 2.0 * opening - 1.0
        lines.append(f"{PERIOD * (frame + 1):.3f},{place:.5f},{deviation:.5f},{direction:.3f}")
    return ("\n".join(lines) + "\n").encode()


def _summary(done: Sequence[Measured]) -> dict[str, Any]:
    """Return what was measured on takes that were held out; the result names them itself."""
    found = summary.drawer(done) if done else {}
    return {name: value for name, value in found.items() if name != "sessions"}


def _check_alike(first: Session, other: Session) -> None:
    """Refuse sessions of another drawer, or of microphones that stand elsewhere."""
    where = str(other.folder)
    if other.drawer != first.drawer:
        raise BadInput(where, f"the drawer {other.drawer}", f"{first.drawer}, as the first has")
    places = [np.array([each.position for each in x.rig.microphones]) for x in (first, other)]
    if places[0].shape != places[1].shape:
        found = f"{len(places[1])} microphones"
        raise BadInput(where, found, f"{len(places[0])}, as the first has")
    if (apart := float(np.abs(places[1] - places[0]).max())) > APART:
        expected = f"where those of {first.identity} stand, to {APART:g} m"
        raise BadInput(where, f"microphones {apart:.3f} m elsewhere", expected)
