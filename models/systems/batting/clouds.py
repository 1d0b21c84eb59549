"""Many objects at once: what the compiled functions of one object do to rows of arrays."""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.systems.batting.camera import project
from ricochet.models.systems.batting.motion import advance
from ricochet.models.systems.batting.world import World


@compiled
def move(
    states: Float[ndarray, "particle 6"],
    kinds: Int[ndarray, " particle"],
    bat: tuple[float, float],
    duration: float,
    world: World,
    counts: Int[ndarray, "particle 3"],
) -> Float[ndarray, " particle"]:
    """Move objects in place under one bat; return their least squared distances from the goal, m^2.

    The arguments are those of `motion.advance`, with a row or an entry for each object.
    """
    closest = np.empty(len(states))
    for i in range(len(states)):
        _, closest[i] = advance(states[i], kinds[i], bat, duration, world, counts[i], False)
    return closest


@compiled
def readings(
    states: Float[ndarray, "particle 6"],
    kinds: Int[ndarray, " particle"],
    world: World,
) -> Float[ndarray, "particle 2"]:
    """Return the two ends of the projection of each object on the screen, m, without noise."""
    ends = np.empty((len(states), 2))
    for i in range(len(states)):
        ends[i, 0], ends[i, 1] = project(states[i], kinds[i], world)
    return ends
