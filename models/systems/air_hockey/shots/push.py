r"""Where a soft stroke brings a puck that cannot be shot: into the open, where it can be.

A push is an angle and a speed of the mallet, much less than it could be. What follows is rolled out
as a shot is, period by period with the puck's covariance, for `TIME`; the best push is that with
the largest probability of being in the `OPEN` then, its axes taken as independent,

    P = (Phi((x_1 - x) / s_x) - Phi((x_0 - x) / s_x)) (Phi((y_1 - y) / s_y) - Phi((y_0 - y) / s_y)),

among those after which the puck is then slow and was never near the middle line, over which it must
not come back. States are those of the puck at contact in m, m/s, m/s^2; angles are in rad.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
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
SPEEDS = (0.15, 0.25, 0.4, 0.6)
"""Of the mallet at contact, m/s."""
ANGLES = np.linspace(-WIDEST_PUSH, WIDEST_PUSH, 23)
LEAST = 0.2
"""Probability that makes a push worth its while."""
_SLOW = 0.45  # m/s, then
_FARTHEST = -0.08  # m, that x may get to


@dataclass(frozen=True)
class Push:
    """A push: the angle, rad, the mallet's speed, m/s, and the chance that it opens the puck up."""

    angle: float
    speed: float
    chance: float


def best_push(conditions: Conditions, state: Float[ndarray, " 6"]) -> Push | None:
    """Return the best push of a puck at contact; None if none is worth its while."""
    angle, speed = (part.ravel() for part in np.meshgrid(ANGLES, SPEEDS, indexing="ij"))
    states = np.broadcast_to(state, (len(angle), 6))
    normal, most = objective.contact(conditions, states, angle)
    closing = speed - (states[:, 2:4] * normal).sum(-1)
    can = np.flatnonzero((speed <= most) & (closing > 0.0))
    if not len(can):
        return None
    chance = chances(conditions, states[can], normal[can], speed[can])
    best = int(chance.argmax())
    if not chance[best] >= LEAST:
        return None
    return Push(float(angle[can][best]), float(speed[can][best]), float(chance[best]))


def chances(
    conditions: Conditions,
    states: Float[ndarray, "push 6"],
    normal: Float[ndarray, "push 2"],
    speed: Float[ndarray, " push"],
) -> Float[ndarray, " push"]:
    """Return the probability that each push brings its puck into the open."""
    mean, spread = objective.launched(conditions, states, normal, speed)
    farthest = mean[:, 0].copy()
    for _ in range(round(TIME / PERIOD)):
        mean, spread = dynamics.step(conditions.modes, mean, spread, conditions.table)
        farthest = np.maximum(farthest, mean[:, 0])
    sd = np.sqrt(np.maximum(spread[:, (0, 1), (0, 1)], 1e-9))
    low, high = np.transpose(OPEN)
    inside = (ndtr((high - mean[:, :2]) / sd) - ndtr((low - mean[:, :2]) / sd)).prod(-1)
    good = (np.hypot(mean[:, 2], mean[:, 3]) < _SLOW) & (farthest < _FARTHEST)
    return np.where(good, inside, 0.0)
