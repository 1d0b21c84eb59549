"""Balls for which sessions are planned."""

import numpy as np

from ricochet.models.systems.bouncing_ball.chains import family, parameters
from ricochet.models.systems.bouncing_ball.chains.parameters import NAMES
from ricochet.models.systems.bouncing_ball.planning.planned_sessions import KnownBall

DRAG = family.drag_prior(None, 20.0)
MEMBERS = ("constant without loss or air", "constant without loss", "constant")


def paper_ball(
    *, take_scatter: float = 1e-4, log10_concentration: float = 3.5, noise: float = 1.0
) -> KnownBall:
    """Return the paper's ball, all of whose contacts are alike but for what is named.

    Args:
        noise: Of times and places, relative to what is stated.
    """
    theta = family.members(DRAG)[MEMBERS[0]].centre.copy()
    logs = {"scatter": 3e-4, "take_scatter": take_scatter, "release_speed": 0.1}
    logs |= {"time_noise": noise, "place_noise": noise}
    for name, value in logs.items():
        theta[NAMES.index(f"log_{name}")] = np.log(value)
    theta[NAMES.index("logit_tail_share")] = -8.0
    theta[:2] = 0.85, log10_concentration
    return KnownBall(theta, family.LAWS["constant"])


def units(ball: KnownBall) -> parameters.Values:
    """Return its parameters in their units."""
    return parameters.values(ball.theta[None])
