"""How many takes a wanted deviation needs, from what some numbers of takes are expected to reach.

Between the numbers tried, log deviation is linear in log takes; beyond them it falls with the root
of the takes, more slowly than it was seen to (`benchmarks.bouncing_ball.planned_sessions`). More
takes never tell less.
"""

import math

import numpy as np
from jaxtyping import Float
from numpy import ndarray


def reached(
    takes: float, tried: Float[ndarray, " size"], deviations: Float[ndarray, " size"]
) -> float:
    """Return the deviation that a number of takes reaches, at least the smallest number tried.

    >>> found = reached(80.0, np.array([5.0, 20.0]), np.array([4.0, 1.0]))
    >>> round(found, 3), round(reached(10.0, np.array([5.0, 20.0]), np.array([4.0, 1.0])), 3)
    (0.5, 2.0)
    """
    falling = np.minimum.accumulate(deviations)
    if takes >= tried[-1]:
        return float(falling[-1] * math.sqrt(tried[-1] / takes))
    return float(np.exp(np.interp(math.log(takes), np.log(tried), np.log(falling))))


def needed(
    wanted: float,
    tried: Float[ndarray, " size"],
    deviations: Float[ndarray, " size"],
    *,
    most: int,
) -> int | None:
    """Return the fewest takes, none fewer than the smallest number tried, or None beyond `most`.

    >>> needed(0.5, np.array([5.0, 20.0]), np.array([4.0, 1.0]), most=100)
    80
    """
    for takes in range(int(tried[0]), most + 1):
        if reached(takes, tried, deviations) <= wanted * (1.0 + 1e-9):
            return takes
    return None
