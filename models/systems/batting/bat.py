"""The bat's motion: angles at instants, with even turning between, within its range and rate.

Eq. 10 of Fu et al., theta = A sin(omega t), is followed from frame to frame of the camera. A swing
passes an angle at a rate at the instant at which an object is expected there: the bat goes evenly
to the start of the swing, turns at the rate, and rests at its end.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.systems.batting.table import CAMERA_PERIOD, LARGEST_ANGLE, LARGEST_RATE

AMPLITUDE = math.pi / 6  # rad, A of Eq. 10
RUN_UP, FOLLOW_THROUGH = 0.3, 0.3  # s, longest, before and after the expected impact
SLACK = 1e-9


class BatPath(NamedTuple):
    """Angles of the bat at instants after now; the last is kept.

    Attributes:
        times: In seconds, increasing, the first is 0.
        angles: In radians.
    """

    times: Float[ndarray, " knot"]
    angles: Float[ndarray, " knot"]


@compiled
def angle_and_rate(path: BatPath, time: float) -> tuple[float, float]:
    """Return the angle and the rate of the bat, rad and rad/s; at a knot, the rate after it."""
    times, angles = path.times, path.angles
    last = len(times) - 1
    if time >= times[last] - SLACK:
        return angles[last], 0.0
    i = np.searchsorted(times, time + SLACK, side="right") - 1
    rate = (angles[i + 1] - angles[i]) / (times[i + 1] - times[i])
    return angles[i] + rate * (time - times[i]), rate


@compiled
def time_to_knot(path: BatPath, time: float) -> float:
    """Return how long the rate stays what it is, s; infinite after the last knot."""
    i = np.searchsorted(path.times, time + SLACK, side="right")
    return path.times[i] - time if i < len(path.times) else np.inf


def hold(angle: float) -> BatPath:
    """Return the path of a bat that rests."""
    return BatPath(np.zeros(1), np.full(1, angle))


def cyclic(
    angle: float, frequency: float, duration: float, amplitude: float = AMPLITUDE
) -> BatPath:
    """Return theta = A sin(omega t + phase) from an angle on (Eq. 10), rising first.

    Args:
        angle: Where the bat is now, rad; beyond the amplitude it first goes there evenly.
        frequency: omega, rad/s.
        duration: Of the path, s.
        amplitude: A, rad.
    """
    reached = min(max(angle, -amplitude), amplitude)
    frames = math.ceil(abs(angle - reached) / LARGEST_RATE / CAMERA_PERIOD - SLACK)
    times = np.arange(math.ceil(duration / CAMERA_PERIOD - SLACK) + 1) * CAMERA_PERIOD
    phase = math.asin(reached / amplitude)
    angles = amplitude * np.sin(frequency * (times - frames * CAMERA_PERIOD) + phase)
    angles[: frames + 1] = np.linspace(angle, reached, frames + 1)[: len(times)]
    return BatPath(times, angles)


@compiled
def swing(now: float, impact_time: float, angle: float, rate: float, path: BatPath) -> bool:
    """Write the path of a swing into four knots; return whether the bat can follow it.

    Args:
        now: The bat's angle, rad.
        impact_time: When the object is expected at the bat, s.
        angle, rate: Of the bat at that instant, rad and rad/s.
        path: Is written: now, start of the swing, its end, rest.
    """
    before, after = RUN_UP, FOLLOW_THROUGH
    if rate > 0.0:
        before = min(before, (angle + LARGEST_ANGLE) / rate)
        after = min(after, (LARGEST_ANGLE - angle) / rate)
    if rate < 0.0:
        before = min(before, (LARGEST_ANGLE - angle) / -rate)
        after = min(after, (LARGEST_ANGLE + angle) / -rate)
    # Knots at frames of the camera, so that the filter sees even turning within each frame.
    start = math.ceil((impact_time - before) / CAMERA_PERIOD - SLACK) * CAMERA_PERIOD
    start = max(start, CAMERA_PERIOD)
    end = max(math.floor((impact_time + after) / CAMERA_PERIOD + SLACK) * CAMERA_PERIOD, start)
    path.times[:] = (0.0, start, end + CAMERA_PERIOD, end + 2.0 * CAMERA_PERIOD)
    first = angle + rate * (start - impact_time)
    last = angle + rate * (end - impact_time)
    path.angles[:] = (now, first, last, last)
    if end > start:
        path.times[2] = end
        path.times[3] = end + CAMERA_PERIOD
    within = max(abs(first), abs(last), abs(angle)) <= LARGEST_ANGLE + SLACK
    return within and abs(first - now) <= LARGEST_RATE * start + SLACK
