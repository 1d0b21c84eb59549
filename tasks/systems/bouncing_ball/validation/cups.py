"""The cup: what falls into it is counted in simulation, and every role predicts the count."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.prediction import cup_success
from ricochet.tasks.systems.bouncing_ball.validation.results import Outcomes, Role
from ricochet.tasks.systems.bouncing_ball.validation.twin_balls import BallOf


def positions(count: int) -> Float[ndarray, "position 2"]:
    """Return places over the incline from which a ball may reach the cup, evenly picked, m."""
    grid = cup_success.positions().reshape(-1, 2)
    return grid[np.linspace(0, len(grid) - 1, count).round().astype(int)]


def predict(
    ball_of: BallOf,
    known: Mapping[Role, ContactDraws],
    places: Float[ndarray, "position 2"],
    *,
    seed: int,
) -> Outcomes:
    """Tell at which places the count lay in each role's predicted 90 % interval.

    No role knows the nature of the balls, which are dropped from some places, m.
    """
    draw = torch.Generator().manual_seed(seed)
    balls = [ball_of(seed + number) for number in range(len(places))]
    counted = _counted(balls, places, draw)
    inside = {}
    for role, draws in known.items():
        count = len(draws.drag)
        chosen = np.random.default_rng(seed).choice(count, cup_success.DRAWS, replace=False)
        predicting = torch.Generator().manual_seed(seed + 1)
        found = cup_success.predict(
            draws.rows(chosen), places, ball_radius=balls[0].radius, draw=predicting
        )
        inside[role] = tuple(bool(held) for held in found.holds(counted))
    return inside


def _counted(
    balls: Sequence[Ball], places: Float[ndarray, "position 2"], draw: torch.Generator
) -> Int[ndarray, " position"]:
    """Count what falls into the cup from each place; one ball for all places goes at once."""
    radius = balls[0].radius
    if len(set(balls)) == 1:
        return cup_success.count(balls[0].nature, places, ball_radius=radius, draw=draw)
    counts = [
        cup_success.count(ball.nature, place[None], ball_radius=radius, draw=draw)
        for ball, place in zip(balls, places, strict=True)
    ]
    return np.concatenate(counts)
