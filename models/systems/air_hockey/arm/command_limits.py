"""The last check of a command before it leaves: nothing faster or farther than the arm's limits.

Plans keep to the limits by themselves; this holds where a planner was asked for the impossible. A
command that asks too much is replaced by braking: each joint slows down at `BRAKING` of its largest
acceleration. A command is joint positions, rad, and speeds, rad/s; the period, s, is that between
the last command and the next.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa

BRAKING = 0.8
_ROUNDING = 1.001


def excess(before: Float[ndarray, "2 7"], after: Float[ndarray, "2 7"], *, period: float) -> float:
    """Return the largest ratio of what a command asks to what it may ask.

    The most is 1; a command that is not finite gives infinity.
    """
    if not np.isfinite(after).all():
        return float("inf")
    speed = iiwa.USABLE * iiwa.SPEED_LIMIT * _ROUNDING
    ratios = (
        np.abs(after[1]) / speed,
        np.abs(after[0] - before[0]) / (period * speed),
        np.abs(after[1] - before[1]) / (period * iiwa.ACCELERATION_LIMIT),
        np.abs(after[0]) / (iiwa.USABLE * iiwa.JOINT_LIMIT),
    )
    return float(np.max(ratios))


def eased(
    before: Float[ndarray, "2 7"], after: Float[ndarray, "2 7"], *, period: float
) -> Float[ndarray, "2 7"]:
    """Return the command with speeds that change no faster than they may."""
    change = period * iiwa.ACCELERATION_LIMIT
    return np.stack((after[0], np.clip(after[1], before[1] - change, before[1] + change)))


def braked(before: Float[ndarray, "2 7"], *, period: float) -> Float[ndarray, "2 7"]:
    """Return the command that slows every joint down."""
    change = BRAKING * iiwa.ACCELERATION_LIMIT * period
    speeds = np.sign(before[1]) * np.maximum(np.abs(before[1]) - change, 0.0)
    joints = before[0] + 0.5 * period * (before[1] + speeds)
    bound = iiwa.USABLE * iiwa.JOINT_LIMIT
    return np.stack((np.clip(joints, -bound, bound), speeds))
