"""Particles to begin with, from the first readings: importance sampling of a uniform start.

Shape, angle, spin, x and x' are drawn from the uniform start. While the object flies freely, the
middle of its projection gives y at each instant, so that given the others

    y(t) + g t^2 / 2 = y_0 + y'_0 t + noise

is a linear regression: y_0 and y'_0 are drawn from its solution for the first reading, the first
few, or all, since the flight may end early. Every draw is then moved through the readings by the
full motion and weighted by

    prior x likelihood of all readings / density of the mixture of the three regressions

which is exact, whatever happened meanwhile. The resampled starts are then moved by Metropolis
steps on the same target, in which each keeps its place in the store of impact noise.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.probability.systematic_resampling import systematic_rows
from ricochet.models.systems.batting.belief import particles
from ricochet.models.systems.batting.belief.particles import Cloud, Turn
from ricochet.models.systems.batting.camera import project
from ricochet.models.systems.batting.motion import advance_within, approach
from ricochet.models.systems.batting.table import CAMERA_PERIOD
from ricochet.models.systems.batting.world import World

FASTEST = 1.5  # m/s and rad/s an axis, of the uniform start
READINGS = 10  # of the first flight
ENDS = (1, 4, READINGS)  # readings that each regression takes
SHARES = (0.3, 0.3, 0.4)  # of the draws
SWEEPS = 4
MOST_DRAWS = 200  # of each uniform particle, until it touches nothing
EVENTS = 10  # of motion, a draw and reading on average, past which draws are lost; see `particles`
WIDER = 1.14  # of the regressions' deviations, so that tails are covered


@dataclass(frozen=True)
class FirstReadings:
    """What was seen so far: a reading more than turns of the bat between them.

    Attributes:
        fastest: Of the uniform start, m/s and rad/s an axis.
    """

    readings: Float[ndarray, "reading 2"]
    turns: tuple[Turn, ...]
    fastest: float = FASTEST


class _Line(NamedTuple):
    """Normal density of y_0 and y'_0 by means and the lower factor of the covariance."""

    position: float
    velocity: float
    l_11: float
    l_21: float
    l_22: float


def uniform(count: int, angle: float, world: World, draw: np.random.Generator) -> Cloud:
    """Return particles uniform over shapes, poses that touch nothing, and velocities.

    Raises:
        ValueError: If hardly a pose of some shape touches nothing.
    """
    states, kinds = _uniform_states(count, FASTEST, world, draw)
    for _ in range(MOST_DRAWS):
        free = clear_of_all(states, kinds, angle, world)
        if free.all():
            return Cloud(states, kinds, np.zeros(count))
        states[~free], kinds[~free] = _uniform_states(int((~free).sum()), FASTEST, world, draw)
    raise ValueError(f"a bat at {angle:.3f} rad that leaves objects no room, expected some")


def start(
    first: FirstReadings, counts: tuple[int, int], world: World, draw: np.random.Generator
) -> Cloud | None:
    """Return equally weighted particles at the last of the first readings; None: no draw fits.

    Args:
        first: READINGS readings, CAMERA_PERIOD apart; those that are not numbers are left out.
        counts: Of draws, and of particles that are kept.
        world: What is believed of the world.
        draw: Random numbers.
    """
    drawn, places = _importance_sample(first, counts[0], world, draw)
    if not np.isfinite(drawn.log_weights).any():
        return None
    rows = systematic_rows(drawn.weights, counts[1], draw)
    states, kinds, places = drawn.states[rows], drawn.kinds[rows], places[rows]
    log_target, after = _posterior(states, kinds, places, first, world)
    begun = states.copy()  # so that steps are as likely there as back
    for _ in range(SWEEPS):
        scale = 10.0 ** draw.uniform(-1.5, 0.0, counts[1])
        proposed = states + scale[:, None] * particles.spread(begun, kinds, draw)
        log_proposed, after_proposed = _posterior(proposed, kinds, places, first, world)
        accepted = np.log(draw.random(counts[1])) < log_proposed - log_target
        states[accepted], after[accepted] = proposed[accepted], after_proposed[accepted]
        log_target[accepted] = log_proposed[accepted]
    return Cloud(after, kinds, np.zeros(counts[1]))


def _importance_sample(
    first: FirstReadings, count: int, world: World, draw: np.random.Generator
) -> tuple[Cloud, Int[ndarray, " particle"]]:
    """Return weighted starts and their places in the noise."""
    states, kinds = _uniform_states(count, first.fastest, world, draw)
    log_density, normal = np.empty(count), draw.standard_normal((count, 2))
    choice = np.searchsorted(np.cumsum(SHARES[:-1]), draw.random(count), side="right")
    _draw_lines(states, kinds, first.readings, (choice, normal), log_density, first.fastest, world)
    places = draw.integers(0, len(world.noise), count)
    log_target, _ = _posterior(states, kinds, places, first, world)
    return Cloud(states, kinds, log_target - log_density), places


def _posterior(
    states: Float[ndarray, "particle 6"],
    kinds: Int[ndarray, " particle"],
    places: Int[ndarray, " particle"],
    first: FirstReadings,
    world: World,
) -> tuple[Float[ndarray, " particle"], Float[ndarray, "particle 6"]]:
    """Return log prior x likelihood of starts, and where they are at the last reading."""
    free = clear_of_all(states, kinds, first.turns[0].angle, world)
    free &= (np.abs(states[:, 3:]) <= first.fastest).all(1)
    bats = np.array([tuple(turn) for turn in first.turns])
    after, log_target = states.copy(), np.full(len(kinds), -np.inf)
    moved = after[free]
    log_target[free] = _replay(moved, kinds[free], places[free], (first.readings, bats), world)
    after[free] = moved
    return log_target, after


@compiled
def _replay(
    states: Float[ndarray, "particle 6"],
    kinds: Int[ndarray, " particle"],
    places: Int[ndarray, " particle"],
    seen: tuple[Float[ndarray, "reading 2"], Float[ndarray, "turn 3"]],
    world: World,
) -> Float[ndarray, " particle"]:
    """Move starts to the last reading in place; return the log likelihood of all readings."""
    readings, bats = seen
    log_likelihood, counts = np.zeros(len(kinds)), np.zeros(3, np.int64)
    left = EVENTS * len(kinds) * len(readings)
    for i in range(len(kinds)):
        counts[:] = 0
        counts[0] = places[i]
        for k in range(len(readings)):
            if k > 0:
                bat = (bats[k - 1, 0], bats[k - 1, 1])
                passed, _, events = advance_within(
                    states[i], kinds[i], bat, bats[k - 1, 2], world, counts, (False, left)
                )
                left -= events
                if passed < bats[k - 1, 2]:
                    log_likelihood[i] = particles.LOST
                    break
            log_likelihood[i] += particles.log_density(states[i], kinds[i], readings[k], world)
    return log_likelihood


def clear_of_all(
    states: Float[ndarray, "particle 6"],
    kinds: Int[ndarray, " particle"],
    angle: float,
    world: World,
) -> ndarray:
    """Return which objects touch neither wall nor bat."""
    return least_gaps(states, kinds, angle, world) > 0.0


@compiled
def least_gaps(
    states: Float[ndarray, "particle 6"],
    kinds: Int[ndarray, " particle"],
    angle: float,
    world: World,
) -> Float[ndarray, " particle"]:
    """Return the gap of each object to the nearest wall or bat, m."""
    gaps = np.full(len(kinds), np.inf)
    for i in range(len(kinds)):
        for surface in range(4):
            gap, _, _ = approach(states[i], kinds[i], surface, (angle, 0.0), 0.0, world)
            gaps[i] = min(gaps[i], gap)
    return gaps


def _uniform_states(
    count: int, fastest: float, world: World, draw: np.random.Generator
) -> tuple[Float[ndarray, "particle 6"], Int[ndarray, " particle"]]:
    states = np.empty((count, 6))
    states[:, 0] = draw.uniform(0.0, world.table.width, count)
    states[:, 1] = draw.uniform(0.0, world.table.height, count)
    states[:, 2] = draw.uniform(-math.pi, math.pi, count)
    states[:, 3:] = draw.uniform(-fastest, fastest, (count, 3))
    return states, draw.integers(0, len(world.shapes.radius), count)


@compiled
def _draw_lines(
    states: Float[ndarray, "particle 6"],
    kinds: Int[ndarray, " particle"],
    readings: Float[ndarray, "reading 2"],
    drawn: tuple[Int[ndarray, " particle"], Float[ndarray, "particle 2"]],
    log_density: Float[ndarray, " particle"],
    fastest: float,
    world: World,
) -> None:
    """Draw y_0 and y'_0 from the chosen regressions and write the density of their mixture."""
    choice, normal = drawn
    for i in range(len(kinds)):
        lines = _regressions(states[i], kinds[i], readings, fastest, world)
        line = lines[choice[i]]
        states[i, 1] = line.position + line.l_11 * normal[i, 0]
        states[i, 4] = line.velocity + line.l_21 * normal[i, 0] + line.l_22 * normal[i, 1]
        density = 1e-300
        for k in range(len(lines)):
            line = lines[k]
            a = (states[i, 1] - line.position) / line.l_11
            b = (states[i, 4] - line.velocity - line.l_21 * a) / line.l_22
            density += SHARES[k] * math.exp(-0.5 * (a * a + b * b)) / (line.l_11 * line.l_22)
        log_density[i] = math.log(density)


@compiled
def _regressions(
    state: Float[ndarray, " 6"],
    kind: int,
    readings: Float[ndarray, "reading 2"],
    fastest: float,
    world: World,
) -> list[_Line]:
    """Return the regressions of y on time over the first readings, one for each of ENDS."""
    table, seen = world.table, state.copy()
    a_11, a_12, a_22, b_1, b_2 = 0.0, 0.0, 1.0 / fastest**2, 0.0, 0.0
    lines = [_Line(0.0, 0.0, 1.0, 0.0, 1.0) for _ in range(0)]
    for k in range(READINGS):
        time = k * CAMERA_PERIOD
        seen[0], seen[2] = state[0] + state[3] * time, state[2] + state[5] * time
        depth = seen[0] - table.camera_x
        middle = 0.5 * (readings[k, 0] + readings[k, 1]) / table.focal_length
        if 0.0 < seen[0] < table.width and middle == middle:
            seen[1] = table.camera_y + depth * middle
            lower, upper = project(seen, kind, world)
            y = seen[1] + depth * (middle - 0.5 * (lower + upper) / table.focal_length)
            y += 0.5 * table.gravity * time * time
            weight = 2.0 * (table.focal_length / (depth * table.screen_noise)) ** 2
            a_11, a_12, a_22 = a_11 + weight, a_12 + weight * time, a_22 + weight * time * time
            b_1, b_2 = b_1 + weight * y, b_2 + weight * y * time
        if k + 1 in ENDS:
            determinant = a_11 * a_22 - a_12 * a_12
            l_11 = WIDER * math.sqrt(a_22 / determinant)
            l_21 = -(WIDER**2) * a_12 / determinant / l_11
            l_22 = math.sqrt(WIDER**2 * a_11 / determinant - l_21 * l_21)
            y_0 = (a_22 * b_1 - a_12 * b_2) / determinant
            lines.append(_Line(y_0, (a_11 * b_2 - a_12 * b_1) / determinant, l_11, l_21, l_22))
    return lines
