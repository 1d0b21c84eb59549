"""Where a drawer is, by camera and sound: ours. While it is seen the camera is believed.

Each frame of sound moves the joint belief (`belief/place_and_direction.py`). A frame in which the
drawer is seen pins it to where it is seen, so that when the light goes off, or an arm hides the
drawer, the belief goes on from there.

How loud a session is, is found while the drawer is seen (`pace.py`), and so is what its sound is
worth (`rehearsal.py`).
"""

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.systems.drawers.belief import place_and_direction
from ricochet.models.systems.drawers.belief.place_and_direction import (
    UNHEARD,
    Belief,
    Grammar,
    Heard,
)
from ricochet.models.systems.drawers.level import LEVEL, NORMAL
from ricochet.models.systems.drawers.tracking import pace as paces
from ricochet.models.systems.drawers.tracking import rehearsal as rehearsals
from ricochet.models.systems.drawers.tracking.pace import Pace, Seen
from ricochet.models.systems.drawers.tracking.rehearsal import Rehearsal


@dataclass(frozen=True)
class Follower:
    """The belief, what was seen in the last frame, and how the sound compared so far."""

    belief: Belief
    seen: Seen | None = None
    pace: Pace = field(default_factory=Pace)
    rehearsal: Rehearsal = field(default_factory=Rehearsal)


@dataclass(frozen=True)
class Estimate:
    """Where the drawer is.

    Attributes:
        place, deviation: m.
        low, high: Ends of the interval that holds it nine times of ten, m.
        opening: Probability that it opens; at rest, that it will when it goes on.
    """

    place: float
    deviation: float
    low: float
    high: float
    opening: float


@dataclass(frozen=True)
class Estimates:
    """Of consecutive frames, as `Estimate` has them."""

    place: Float[ndarray, " frame"]
    deviation: Float[ndarray, " frame"]
    low: Float[ndarray, " frame"]
    high: Float[ndarray, " frame"]
    opening: Float[ndarray, " frame"]

    def hold(self, place: Float[ndarray, " frame"]) -> Bool[ndarray, " frame"]:
        """Return in which frames the interval holds a place."""
        return (place >= self.low) & (place <= self.high)


def begin(grammar: Grammar) -> Follower:
    """Return a follower that knows the limits alone."""
    return Follower(place_and_direction.anywhere(grammar))


def step(follower: Follower, heard: Heard, seen: Seen | None, grammar: Grammar) -> Follower:
    """Return the follower after a frame.

    Args:
        seen: At the end of the frame; None: not seen.
    """
    pace, rehearsal, before = follower.pace, follower.rehearsal, follower.seen
    paced = paces.scaled(heard, pace.gain)
    taken = rehearsals.taken(paced, rehearsal.way)
    belief = place_and_direction.step(follower.belief, taken, grammar)
    if seen is None:
        return Follower(belief, None, pace, rehearsals.interrupted(rehearsal))
    if pace.is_known:
        rehearsal = rehearsals.rehearse(rehearsal, paced, seen, grammar)
    if before is not None:
        pace = paces.compared(pace, heard, before, seen)
    return Follower(rehearsals.pin(belief, seen), seen, pace, rehearsal)


def unheard(follower: Follower, seen: Seen | None, grammar: Grammar) -> Follower:
    """Return the follower after a frame of which nothing was heard."""
    belief = place_and_direction.step(follower.belief, UNHEARD, grammar)
    pinned = belief if seen is None else rehearsals.pin(belief, seen)
    rehearsal = rehearsals.interrupted(follower.rehearsal)
    return replace(follower, belief=pinned, seen=seen, rehearsal=rehearsal)


def estimate(follower: Follower, grammar: Grammar) -> Estimate:
    """Return where the drawer is: where it is seen, or else what is believed."""
    belief = follower.belief
    if follower.seen is not None:
        place, deviation = follower.seen.place, follower.seen.deviation
        half = NORMAL * deviation
        return Estimate(place, deviation, place - half, place + half, belief.opening)
    calibrated = follower.rehearsal.way != rehearsals.NOTHING
    low, high = belief.interval(grammar.level if calibrated else max(grammar.level, LEVEL))
    return Estimate(belief.mean, belief.deviation, low, high, belief.opening)


def follow(heard: list[Heard], seen: list[Seen | None], grammar: Grammar) -> Estimates:
    """Return where the drawer is after each frame.

    Args:
        heard, seen: Of the same frames.
    """
    follower, rows = begin(grammar), []
    for sound, sight in zip(heard, seen, strict=True):
        follower = step(follower, sound, sight, grammar)
        found = estimate(follower, grammar)
        rows.append((found.place, found.deviation, found.low, found.high, found.opening))
    return Estimates(*np.array(rows).reshape(-1, 5).T)
