"""What a learnt model says of shots as they were played: each with the speed of its own stroke.

A stroke may be slower than the fastest that the arm's table has for its contact, and a puck may
have moved to where the table has none: `objective.evaluate` would ask about another shot.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.air_hockey.shots import goal_probability, objective
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from ricochet.models.systems.air_hockey.strike_plan import StrikePlan


@dataclass(frozen=True)
class Chances:
    """Probability of a goal with nobody in it, and mean speed at the goal line, m/s."""

    goal: Float[ndarray, " shot"]
    speed: Float[ndarray, " shot"]


def as_played(known: Conditions, plans: Sequence[StrikePlan]) -> Chances:
    """Return what the modes and the uncertainty of `known` say of shots as they were planned last.

    A shot that does not reach the line has speed 0.
    """
    states = np.array([plan.puck for plan in plans]).reshape(-1, 6)
    angles = np.array([plan.angle for plan in plans])
    strokes = np.array([plan.contact.speed for plan in plans])
    normal = np.stack((np.cos(angles), np.sin(angles)), -1)
    pushed = objective.pushing(angles) * strokes
    mean, spread = objective.launched(known, states, normal, pushed)
    goal, found = goal_probability.predict(known.modes, mean, spread, known.table)
    return Chances(goal, np.where(found.arrives, np.hypot(*found.velocity.T), 0.0))
