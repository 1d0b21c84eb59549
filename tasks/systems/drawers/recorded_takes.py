"""Takes of recorded sessions: what is known and seen in each frame, and which teach something."""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

from ricochet.models.sound import source_direction, spectra
from ricochet.models.systems.drawers import features, labels, tracks
from ricochet.models.systems.drawers.features import Features
from ricochet.models.systems.drawers.labels import FRAME, PERIOD, Labels
from ricochet.models.systems.drawers.tracking import track_sight
from ricochet.models.systems.drawers.tracking.paper_fusion import Lit
from ricochet.tasks.systems.drawers.sessions import Session, Take
from ricochet.tasks.systems.drawers.track_files import GAP
from ricochet.tasks.systems.drawers.trials import Frames, Sight, Trial

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
    def is_known_in_the_dark(self) -> bool:
        """Whether errors in the dark can be measured."""
        take = self.take
        if take.motion is None or take.vision is None or take.light_off_at is None:
            return False
        moved = int((self.frames.labels.moving & dark(self)).sum())
        return take.seconds - take.light_off_at >= DARK and moved >= MOVED


def recorded(session: Session, take: Take) -> Recorded:
    """Return a take with what is heard in its frames, and what is true as far as it is known."""
    samples = take.samples
    seen = features.of_samples(samples)
    count = len(seen.speed)
    track = take.motion or take.vision
    nowhere = Labels(*(np.zeros(count) for _ in range(3)))
    truth = labels.of_track(track.times, track.positions, count) if track else nowhere
    return Recorded(session, take, Frames(seen, spectra.powers(samples, FRAME), truth))


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


def learnt_from(each: Recorded) -> Frames:
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
