"""The rows of Table I of Fu et al. and ours: how each sees, plans and bats.

| row | world | plan |
|---|---|---|
| A | without noise at impacts | best particle, without noise |
| B | noisy | best particle, several noises (Eq. 12) |
| C | noisy | best particle, without noise |
| D | noisy | the whole set, without noise |
| E to J | noisy | none: Eq. 13 with omega 0.2, 0.4, 0.6, 0.8, 1.0, 0 |
| ours | noisy | passes a second over belief and noise |
"""

from functools import partial

import numpy as np

from ricochet.models.systems.batting.belief.particles import Cloud
from ricochet.models.systems.batting.planning import goal_bats, rate
from ricochet.models.systems.batting.planning.goal_bats import NOISES, Swing
from ricochet.models.systems.batting.planning.policies import (
    OpenLoop,
    Policy,
    Replanned,
    TwoSteps,
    best_particle,
    sample,
)
from ricochet.models.systems.batting.planning.swings import Scenarios
from ricochet.models.systems.batting.world import World, without_noise

DELTA = 0.10  # m, at which ours plans and rows are compared
CLOSED = ("A", "B", "C", "D", "ours")
OPEN = {"E": 0.2, "F": 0.4, "G": 0.6, "H": 0.8, "I": 1.0, "J": 0.0}  # rad/s
KNOWN = ("A", "B", "C", "ours")
SCENARIOS = 32
TABLE_ONE = {
    "A": (19, 22, 26, 33, 39, 44, 50, 55, 58),
    "B": (11, 15, 21, 25, 29, 32, 37, 45, 50),
    "C": (10, 11, 14, 18, 21, 25, 30, 32, 35),
    "D": (4, 5, 5, 10, 10, 13, 15, 18, 23),
    "E": (8, 12, 16, 16, 16, 18, 18, 20, 22),
    "F": (6, 6, 6, 8, 8, 10, 11, 11, 12),
    "G": (5, 5, 7, 7, 7, 11, 13, 14, 14),
    "H": (4, 5, 6, 7, 10, 13, 14, 15, 15),
    "I": (3, 4, 6, 9, 9, 13, 14, 18, 19),
    "J": (0, 0, 0, 0, 0, 1, 1, 1, 1),
}
"""Passes in ten trials of 200 s at the distances of `table.DISTANCES`, as the paper prints them."""


def policy(row: str, known: bool, seconds: float) -> Policy:
    """Return a fresh policy of a row, which may know the state."""
    if row in OPEN:
        return OpenLoop(OPEN[row], seconds)
    if row == "ours":
        return Replanned(_most_passes, partial(_sampled, SCENARIOS))
    planners = {
        "A": (goal_bats.without_impact_noise, partial(_best, 1)),
        "B": (goal_bats.likeliest_best, partial(_best, NOISES)),
        "C": (goal_bats.without_impact_noise, partial(_best, 1)),
        "D": (_whole_set, partial(_sampled, SCENARIOS)),
    }
    return Replanned(*planners[row]) if known else TwoSteps(*planners[row])


def world_of(row: str, world: World) -> World:
    """Return the world in which a row is played and plans."""
    return without_noise(world) if row == "A" else world


def _most_passes(scenarios: Scenarios, now: float, horizon: float, world: World) -> Swing | None:
    return rate.most_passes(scenarios, now, horizon, DELTA, world)


def _whole_set(scenarios: Scenarios, now: float, horizon: float, world: World) -> Swing | None:
    return goal_bats.nearest(scenarios, now, horizon, without_noise(world))


def _best(count: int, cloud: Cloud, world: World, draw: np.random.Generator) -> Scenarios:
    return best_particle(cloud, count, world, draw)


def _sampled(count: int, cloud: Cloud, world: World, draw: np.random.Generator) -> Scenarios:
    return sample(cloud, count, world, draw)
