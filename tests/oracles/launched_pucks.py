"""Pucks that were just struck, and where they cross the goal line by one law of a first bank."""

import numpy as np

from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.shots import crossings
from ricochet.models.systems.air_hockey.shots.crossings import Crossing
from ricochet.models.systems.air_hockey.table import Table

TABLE = Table()
SPREAD = np.diag([0.003, 0.004, 0.02, 0.05, 0.03, 0.03]) ** 2


def launched(count: int, seed: int = 0) -> np.ndarray:
    """Pucks just struck, at all angles."""
    draw = np.random.default_rng(seed)
    angle, speed = draw.uniform(-1.2, 1.2, count), draw.uniform(1.5, 4.0, count)
    place = np.column_stack((draw.uniform(-0.7, -0.2, count), draw.uniform(-0.4, 0.4, count)))
    velocity = speed[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    return np.hstack((place, velocity, draw.normal(0.0, 0.07, (count, 2))))


def spreads(count: int) -> np.ndarray:
    return np.broadcast_to(SPREAD, (count, 6, 6))


def crossing(
    modes: PuckModes,
    states: np.ndarray,
    covariance: np.ndarray | None,
    first: LinearGaussian | None = None,
) -> Crossing:
    """The crossings, the first bank by a law of its own or by that of any bank."""
    return crossings.follow(modes, states, covariance, TABLE, [first or modes.wall])[0]
