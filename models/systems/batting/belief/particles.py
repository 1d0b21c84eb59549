"""Particle filter over shape, pose and velocity: Eqs. 7-9 of Fu et al., with kernel smoothing.

    S_t = {s_1 .. s_m},  s = (x, y, phi, x', y', phi', d)                               (7)
    S_t = PhysicalUpdate(S_t-1)                                                         (8)
    w_i = P(o_t | s_i)                                                                  (9)

Flight adds no noise, so that resampled copies would stay copies until an impact. Where the
weights' effective number falls below a share of the particles they are resampled, and the copies
of each shape are spread by a normal kernel whose covariance is a share of that of the shape's
particles (Musso, Oudjane and Le Gland, "Improving regularised particle filters", 2001).

The events of motion until a reading are bounded, for all particles together. Past that bound only
those that fly on far from walls and bat are moved; the others are lost, with a weight of zero.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.probability.systematic_resampling import systematic_rows
from ricochet.models.systems.batting.camera import project
from ricochet.models.systems.batting.motion import advance_within
from ricochet.models.systems.batting.world import World

FEW = 12
EVENTS = 1000
"""Of motion until a reading, a particle on average: one at rest on the bat takes about 800."""
LOST = -1e30
"""Log density of a reading, given a particle that is not moved to it: for want of events."""


@dataclass(frozen=True)
class Cloud:
    """Weighted particles.

    Attributes:
        states: x, y, angle and their rates, SI.
        kinds: Their shapes.
        log_weights: Up to a constant.
    """

    states: Float[ndarray, "particle 6"]
    kinds: Int[ndarray, " particle"]
    log_weights: Float[ndarray, " particle"]

    @property
    def weights(self) -> Float[ndarray, " particle"]:
        """Weights that sum to one."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return weights / weights.sum()


class Turn(NamedTuple):
    """The bat between two readings: its angle at the start, rad, its rate and the time."""

    angle: float
    rate: float
    time: float


def step(
    cloud: Cloud, turn: Turn, reading: Float[ndarray, " 2"], world: World, draw: np.random.Generator
) -> tuple[Cloud, float]:
    """Move particles to the next reading and weigh them by it (Eqs. 8 and 9).

    Args:
        cloud: Before; its arrays are moved in place.
        turn: Of the bat until the reading.
        reading: Lower and upper end on the screen, m; not numbers: nothing was seen.
        world: What is believed of the world; its noise is used from random places.
        draw: Random numbers.

    Returns:
        The cloud, and the log density of the reading given those before.
    """
    places = draw.integers(0, len(world.noise), len(cloud.kinds))
    before = _log_sum(cloud.log_weights)
    _move_and_weigh(cloud.states, cloud.kinds, cloud.log_weights, (turn, reading), world, places)
    return cloud, _log_sum(cloud.log_weights) - before


def effective_number(cloud: Cloud) -> float:
    """Return 1 / sum of squared weights, from 1 to the number of particles."""
    return float(1.0 / (cloud.weights**2).sum())


def resample(cloud: Cloud, count: int, bandwidth: float, draw: np.random.Generator) -> Cloud:
    """Return equally weighted particles, drawn systematically and spread within each shape.

    Args:
        cloud: Before.
        count: Particles after.
        bandwidth: Kernel deviation as a share of that of the particles of the shape; 0: copies.
        draw: Random numbers.
    """
    rows = systematic_rows(cloud.weights, count, draw)
    states, kinds = cloud.states[rows], cloud.kinds[rows]
    if bandwidth > 0.0:
        states += bandwidth * spread(states, kinds, draw)
    return Cloud(states, kinds, np.zeros(count))


def spread(
    states: Float[ndarray, "particle 6"],
    kinds: Int[ndarray, " particle"],
    draw: np.random.Generator,
) -> Float[ndarray, "particle 6"]:
    """Return normal numbers, those of each shape with the covariance of its states.

    A shape of fewer than FEW particles has that of all.
    """
    drawn = draw.standard_normal(states.shape)
    for kind in np.flatnonzero(np.bincount(kinds)):
        members = kinds == kind
        like = states[members] if members.sum() >= FEW else states
        centred = like - like.mean(0)
        values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
        drawn[members] = drawn[members] @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return drawn


def _log_sum(values: Float[ndarray, " particle"]) -> float:
    top = values.max()
    return float(top + np.log(np.exp(values - top).sum()))


@compiled
def _move_and_weigh(
    states: Float[ndarray, "particle 6"],
    kinds: Int[ndarray, " particle"],
    log_weights: Float[ndarray, " particle"],
    seen: tuple[Turn, Float[ndarray, " 2"]],
    world: World,
    places: Int[ndarray, " particle"],
) -> None:
    turn, reading = seen
    counts, left, bat = np.zeros(3, np.int64), EVENTS * len(kinds), (turn.angle, turn.rate)
    for i in range(len(kinds)):
        counts[0] = places[i]
        passed, _, events = advance_within(
            states[i], kinds[i], bat, turn.time, world, counts, (False, left)
        )
        left -= events
        moved = passed >= turn.time
        log_weights[i] += log_density(states[i], kinds[i], reading, world) if moved else LOST


@compiled
def log_density(
    state: Float[ndarray, " 6"], kind: int, reading: Float[ndarray, " 2"], world: World
) -> float:
    """Return log P(o | s) up to a constant (Eq. 9); zero for a reading that is not a number."""
    if reading[0] != reading[0] or reading[1] != reading[1]:
        return 0.0
    lower, upper = project(state, kind, world)
    misfit = (lower - reading[0]) ** 2 + (upper - reading[1]) ** 2
    return -0.5 * misfit / world.table.screen_noise**2
