"""Stopping paths from a moving arm to a rest, and the choice among them.

Of the paths that use least of joint speed and acceleration, the one of most clearance is chosen;
among about equal ones, the quickest.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import splines
from ricochet.models.arms.splines import Path
from ricochet.models.systems.air_hockey.arm.stroke_path import LimitUsage

_BRAKES = (0.12, 0.16, 0.22)  # s
_RESTS = np.array((0.3, 0.45, 0.6, 0.75, 0.9, 1.1, 1.3, 1.6, 2.0, 2.6))  # s
_EQUAL = 0.05
"""Difference of clearance use that does not count."""


def stopping_paths(
    joints: Float[ndarray, " 7"], joint_speeds: Float[ndarray, " 7"], target: Float[ndarray, " 7"]
) -> Path:
    """Return paths to a rest, the quickest first: straight there, or steadily braking before."""
    straight = [(0.5 * rest, 0.5 * rest) for rest in _RESTS]
    braked = [(brake, rest) for brake in _BRAKES for rest in _RESTS]
    spans = np.array(straight + braked)
    times = np.stack((0.0 * spans[:, 0], spans[:, 0], spans.sum(-1)), -1)
    first = np.broadcast_to(joints, (len(spans), 7))
    middle = first + 0.5 * spans[:, :1] * joint_speeds
    speeds = np.zeros((len(spans), 3, 7))
    speeds[:, 0] = joint_speeds
    part = slice(len(straight))
    ends = [first[part], 0.0 * first[part] + target, speeds[part, 0], speeds[part, 2]]
    halves = splines.cubic(ends, np.full(len(straight), 0.5), times[part, 2])
    middle[part], speeds[part, 1] = halves
    points = np.stack((first, middle, 0.0 * first + target), -2)
    order = np.argsort(times[:, 2], kind="stable")
    return Path(times[order], points[order], speeds[order])


def choose_path(used: LimitUsage) -> int:
    """Return the number of the path to take, given what each uses, the quickest first."""
    moves = np.maximum(used.speed, used.acceleration)
    moves = np.maximum(moves, max(1.0, float(moves.min())))
    clearance = np.where(moves <= moves.min(), np.maximum(used.clearance_use, 1.0), np.inf)
    return int((clearance <= clearance.min() + _EQUAL).argmax())
