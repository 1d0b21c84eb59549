"""Where a drawer is, by camera and sound: ours. While it is seen the camera is believed.

Each frame of sound moves the joint belief (`belief/place_and_direction.py`). A frame in which the
drawer is seen pins it to where it is seen, so that when the light goes off, or an arm hides the
drawer, the belief goes on from there.

What a drawer holds, and how hard it rubs, differs from session to session, and so does how loud it
is: speeds by the sound are off by a common factor. While the drawer is seen its path L is compared
with the path l that is heard, and speeds are multiplied by g = (L + c) / (l + c): as if c = PRIOR
had been moved as it was heard before anything was.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.drawers.belief import place_and_direction
from ricochet.models.systems.drawers.belief.place_and_direction import Belief, Grammar, Heard
from ricochet.models.systems.drawers.level import NORMAL

LEAST_SEEN = 0.003  # m, that a belief on cells can be pinned to
PRIOR = 0.5  # m, two strokes
MOVING = 0.1  # m/s heard, above which a path is counted: noise of the camera is no path
GAINS = (0.5, 2.0)


@dataclass(frozen=True)
class Seen:
    """Where a camera sees the drawer, and how far off that may be, m."""

    place: float
    deviation: float


@dataclass(frozen=True)
class Pace:
    """How far the drawer moved while it was seen, m, and how far by the sound."""

    seen: float = 0.0
    heard: float = 0.0

    @property
    def gain(self) -> float:
        """Factor of speeds by the sound."""
        return min(max((self.seen + PRIOR) / (self.heard + PRIOR), GAINS[0]), GAINS[1])


@dataclass(frozen=True)
class Follower:
    """The belief, what was seen in the last frame, and how the sound compared so far."""

    belief: Belief
    seen: Seen | None = None
    pace: Pace = Pace()


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
    pace = follower.pace
    belief = place_and_direction.step(follower.belief, scaled(heard, pace.gain), grammar)
    if seen is not None:
        deviation = max(seen.deviation, LEAST_SEEN)
        belief = place_and_direction.see(belief, seen.place, deviation)
    if seen is not None and follower.seen is not None:
        pace = moved(pace, heard, abs(seen.place - follower.seen.place))
    return Follower(belief, seen, pace)


def scaled(heard: Heard, gain: float) -> Heard:
    """Return a frame whose speed is multiplied by a factor."""
    speed, deviation = gain * heard.speed, gain * heard.speed_deviation
    return replace(heard, speed=speed, speed_deviation=deviation)


def moved(pace: Pace, heard: Heard, path: float) -> Pace:
    """Return the pace after a frame in which a path was seen, m; slow frames do not count."""
    if heard.speed < MOVING:
        return pace
    return Pace(pace.seen + path, pace.heard + heard.speed * heard.duration)


def paced(heard: Sequence[Heard], places: Float[ndarray, " frame"]) -> Pace:
    """Return the pace after frames at whose ends the drawer was at some places, m."""
    pace = Pace()
    for before, after, frame in zip(places[:-1], places[1:], heard[1:], strict=True):
        pace = moved(pace, frame, abs(float(after - before)))
    return pace


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
