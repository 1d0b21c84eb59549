"""The cup: what falls into it is counted in simulation, and every role predicts the count."""

from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.prediction import cup_success
from ricochet.tasks.systems.bouncing_ball.validation.results import Outcomes, Role


def positions(count: int) -> Float[ndarray, "position 2"]:
    """Return places over the incline from which a ball may reach the cup, evenly picked, m."""
    grid = cup_success.positions().reshape(-1, 2)
    return grid[np.linspace(0, len(grid) - 1, count).round().astype(int)]


def predict(
    ball: Ball,
    known: Mapping[Role, ContactDraws],
    places: Float[ndarray, "position 2"],
    *,
    seed: int,
) -> Outcomes:
    """Tell at which places the count lay in each role's predicted 90 % interval.

    No role knows the nature of the ball, which is dropped from some places, m.
    """
    draw = torch.Generator().manual_seed(seed)
    counted = cup_success.count(ball.nature, places, ball_radius=ball.radius, draw=draw)
    inside = {}
    for role, draws in known.items():
        count = len(draws.drag)
        chosen = np.random.default_rng(seed).choice(count, cup_success.DRAWS, replace=False)
        predicting = torch.Generator().manual_seed(seed + 1)
        found = cup_success.predict(
            draws.rows(chosen), places, ball_radius=ball.radius, draw=predicting
        )
        inside[role] = tuple(bool(held) for held in found.holds(counted))
    return inside
