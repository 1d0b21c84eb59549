r"""Where a soft stroke brings a puck that cannot be shot: into the open, where it can be.

A push is an angle and a speed of the mallet, much less than it could be. What follows is rolled out
as a shot is, period by period with the puck's covariance, for `TIME`. With P(A) the probability of
being in an area then, its axes taken as independent,

    P(A) = prod over both axes of Phi((a_1 - a) / s) - Phi((a_0 - a) / s),

the best push has the largest worth, (P(`OPEN`) + P(`REACH`)) / 2: a puck that lies at the own wall
is brought off it first. Only pushes count after which the puck is slow then, was never near the
middle line, over which it must not come back, nor behind the own line. States are those of the puck
at contact in m, m/s, m/s^2; angles are in rad.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy.special import ndtr

from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import dynamics
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from ricochet.models.systems.air_hockey.table import WIDEST_PUSH

TIME = 1.2  # s after the push
OPEN = ((-0.66, -0.28), (-0.33, 0.33))
"""x and y from which nearly every puck can be shot, m."""
REACH = ((-0.85, -0.25), (-0.42, 0.42))
"""x and y from which nearly every puck can be pushed into the open, m."""
SPEEDS = (0.15, 0.25, 0.4, 0.6)
"""Of the mallet at contact, m/s."""
ANGLES = np.linspace(-WIDEST_PUSH, WIDEST_PUSH, 23)
WIND_UP = 0.12
"""Time of steady acceleration before the contact, s: the run-up is short, for a wall is near."""
MARGIN = 0.015
"""By how much the run-up keeps off the bounds of the mallet's centre, m."""
LEAST = 0.2
"""Worth that makes a push worth its while."""
_SLOW = 0.45  # m/s, then
_FARTHEST = -0.08  # m, that x may get to


@dataclass(frozen=True)
class Push:
    """A push: the angle, rad, the mallet's speed, m/s, and what it is worth, at most 1."""

    angle: float
    speed: float
    worth: float


def best_push(conditions: Conditions, state: Float[ndarray, " 6"]) -> Push | None:
    """Return the best push of a puck at contact; None if none is worth its while."""
    angle, speed = (part.ravel() for part in np.meshgrid(ANGLES, SPEEDS, indexing="ij"))
    states = np.broadcast_to(state, (len(angle), 6))
    normal, most = objective.contact(conditions, states, angle)
    closing = speed - (states[:, 2:4] * normal).sum(-1)
    can = (speed <= most) & (closing > 0.0)
    can = np.flatnonzero(can & _has_run_up(conditions, states, normal, speed))
    if not len(can):
        return None
    worth = worths(conditions, states[can], normal[can], speed[can])
    best = int(worth.argmax())
    if not worth[best] >= LEAST:
        return None
    return Push(float(angle[can][best]), float(speed[can][best]), float(worth[best]))


def _has_run_up(
    conditions: Conditions,
    states: Float[ndarray, "push 6"],
    normal: Float[ndarray, "push 2"],
    speed: Float[ndarray, " push"],
) -> Bool[ndarray, " push"]:
    """Return whether the mallet can start from within its bounds."""
    table = conditions.table
    way = table.contact_radius + 0.5 * WIND_UP * speed
    x, y = (states[:, :2] - way[:, None] * normal).T
    return (x > table.mallet_front + MARGIN) & (np.abs(y) < table.mallet_side - MARGIN)


def worths(
    conditions: Conditions,
    states: Float[ndarray, "push 6"],
    normal: Float[ndarray, "push 2"],
    speed: Float[ndarray, " push"],
) -> Float[ndarray, " push"]:
    """Return what each push is worth."""
    mean, spread = objective.launched(conditions, states, normal, speed)
    nearest = farthest = mean[:, 0]
    for _ in range(round(TIME / PERIOD)):
        mean, spread = dynamics.step(conditions.modes, mean, spread, conditions.table)
        nearest, farthest = np.minimum(nearest, mean[:, 0]), np.maximum(farthest, mean[:, 0])
    sd = np.sqrt(np.maximum(spread[:, (0, 1), (0, 1)], 1e-9))
    worth = 0.5 * (_inside(mean, sd, OPEN) + _inside(mean, sd, REACH))
    good = (np.hypot(mean[:, 2], mean[:, 3]) < _SLOW) & (farthest < _FARTHEST)
    return np.where(good & (nearest > -conditions.table.half_length), worth, 0.0)


def _inside(
    mean: Float[ndarray, "push 6"],
    sd: Float[ndarray, "push 2"],
    area: tuple[tuple[float, float], tuple[float, float]],
) -> Float[ndarray, " push"]:
    """Return the probability of being in an area."""
    low, high = np.transpose(area)
    return np.asarray((ndtr((high - mean[:, :2]) / sd) - ndtr((low - mean[:, :2]) / sd)).prod(-1))
