"""Where a drawer is, by camera and sound: ours. While it is seen the camera is believed.

Each frame of sound moves the joint belief (`belief/place_and_direction.py`). A frame in which the
drawer is seen pins it to where it is seen, so that when the light goes off, or an arm hides the
drawer, the belief goes on from there.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.drawers.belief import place_and_direction
from ricochet.models.systems.drawers.belief.place_and_direction import Belief, Grammar, Heard
from ricochet.models.systems.drawers.level import NORMAL

LEAST_SEEN = 0.003  # m, that a belief on cells can be pinned to


@dataclass(frozen=True)
class Seen:
    """Where a camera sees the drawer, and how far off that may be, m."""

    place: float
    deviation: float


@dataclass(frozen=True)
class Follower:
    """The belief, and what was seen in the last frame."""

    belief: Belief
    seen: Seen | None = None


@dataclass(frozen=True)
class Estimate:
    """Where the drawer is.

    Attributes:
        place, deviation: m.
        low, high: Ends of the interval that holds it nine times of ten, m.
        opening: Probability that it opens, if it moves.
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


def begin(grammar: Grammar) -> Follower:
    """Return a follower that knows the limits alone."""
    return Follower(place_and_direction.anywhere(grammar))


def step(follower: Follower, heard: Heard, seen: Seen | None, grammar: Grammar) -> Follower:
    """Return the follower after a frame.

    Args:
        seen: At the end of the frame; None: not seen.
    """
    belief = place_and_direction.step(follower.belief, heard, grammar)
    if seen is not None:
        deviation = max(seen.deviation, LEAST_SEEN)
        belief = place_and_direction.see(belief, seen.place, deviation)
    return Follower(belief, seen)


def estimate(follower: Follower, grammar: Grammar) -> Estimate:
    """Return where the drawer is: where it is seen, or else what is believed."""
    belief = follower.belief
    if follower.seen is not None:
        place, deviation = follower.seen.place, follower.seen.deviation
        half = NORMAL * deviation
        return Estimate(place, deviation, place - half, place + half, belief.opening)
    low, high = belief.interval(grammar.level)
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
