"""How fast a drawer moves for what is heard, found while it is seen.

What a drawer holds, and how hard it rubs, differs from session to session, and so does how loud it
is: speeds by the sound are off by a common factor. While the drawer is seen its path L is compared
with the path l that is heard, and speeds are multiplied by g = (L + c) / (l + c): as if c = PRIOR
had been moved as it was heard before anything was.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ricochet.models.systems.drawers.belief.place_and_direction import Heard

PRIOR = 0.5  # m, two strokes
COMPARED = 1.0  # m, of both paths together, from which the factor is known
MOVING = 0.1  # m/s heard or seen, above which a path is counted
CLEAR = 4.0  # deviations of a seen speed, above which it is one
GAINS = (0.5, 2.0)


@dataclass(frozen=True)
class Seen:
    """Where a camera sees the drawer, and how far off that may be, m."""

    place: float
    deviation: float


@dataclass(frozen=True)
class Pace:
    """Path of the drawer while it was seen, m, and by the sound."""

    seen: float = 0.0
    heard: float = 0.0

    @property
    def is_known(self) -> bool:
        """Whether so much was compared that the factor is more than the prior's."""
        return bool(self.seen + self.heard >= COMPARED)

    @property
    def gain(self) -> float:
        """Factor of speeds by the sound."""
        return min(max((self.seen + PRIOR) / (self.heard + PRIOR), GAINS[0]), GAINS[1])


def compared(pace: Pace, heard: Heard, before: Seen, now: Seen) -> Pace:
    """Return the pace after a frame at whose beginning and end the drawer was seen.

    Frames that rest by both do not count: noise of the camera is no path. Nor does one whose speed
    is not finite, which was not heard.
    """
    if not math.isfinite(heard.speed):
        return pace
    path = abs(now.place - before.place)
    noise = math.hypot(before.deviation, now.deviation)
    if heard.speed < MOVING and path < max(MOVING * heard.duration, CLEAR * noise):
        return pace
    return Pace(pace.seen + path, pace.heard + heard.speed * heard.duration)


def paced(heard: Sequence[Heard], seen: Sequence[Seen]) -> Pace:
    """Return the pace after frames at whose ends the drawer was seen."""
    pace = Pace()
    for before, now, frame in zip(seen[:-1], seen[1:], heard[1:], strict=True):
        pace = compared(pace, frame, before, now)
    return pace


def scaled(heard: Heard, gain: float) -> Heard:
    """Return a frame whose speed is multiplied by a factor."""
    speed, deviation = gain * heard.speed, gain * heard.speed_deviation
    return replace(heard, speed=speed, speed_deviation=deviation)
