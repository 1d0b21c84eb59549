"""How well an object is localised: flights of which the truth is known (Sec. VI-B of Fu et al.)."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.systems.batting import bat, clouds
from ricochet.models.systems.batting.belief import localiser
from ricochet.models.systems.batting.belief.localiser import Belief, FilterSettings
from ricochet.models.systems.batting.belief.particles import Cloud, Turn
from ricochet.models.systems.batting.table import CAMERA_PERIOD
from ricochet.models.systems.batting.world import World

SWINGING = 0.6  # rad/s, omega of the bat
LOST = 1.0  # m, error beyond which a filter is lost
SOON = 2.0  # s after which the shape is asked for


@dataclass(frozen=True)
class Flight:
    """What a filter believed at the end.

    Attributes:
        error: Of the mean position, m.
        shape: Probability of the right shape.
        inside: Whether the centre is in the 90 % ellipse of the particles.
        update_times: Of each update, s.
        soon: Probability of the right shape after SOON, or at the end of a shorter flight.
    """

    error: float
    shape: float
    inside: bool
    update_times: Float[ndarray, " update"]
    soon: float = float("nan")


def localise(
    state: Float[ndarray, " 6"],
    kind: int,
    screen: Float[ndarray, "frame 2"],
    worlds: tuple[World, World],
    settings: FilterSettings,
    draw: np.random.Generator,
    from_truth: bool = False,
) -> Flight:
    """Return what a filter believes after a flight under a swinging bat.

    Args:
        state, kind: Of the object at the start.
        screen: Standard normal numbers for the readings, a row a frame.
        worlds: The true one and the one that the filter believes in.
        settings: Of the filter.
        draw: Its random numbers.
        from_truth: Begin all particles at the truth, with every shape.
    """
    world, believed = worlds
    states, kinds, counts = state[None].copy(), np.array([kind]), np.zeros((1, 3), np.int64)
    path = bat.cyclic(0.0, SWINGING, len(screen) * CAMERA_PERIOD)
    belief = _at_truth(state, settings, world) if from_truth else None
    turn, spent, soon = Turn(0.0, 0.0, 0.0), [], 0.0
    for frame, noise in enumerate(screen):
        reading = clouds.readings(states, kinds, world)[0] + world.table.screen_noise * noise
        begun = time.perf_counter()
        if belief is None:
            belief = localiser.begin(reading, 0.0, settings, believed, draw)
        else:
            belief = localiser.update(belief, turn, reading, settings, believed, draw)
        spent.append(time.perf_counter() - begun)
        if frame * CAMERA_PERIOD <= SOON:
            soon = _probability(belief.cloud, kind)
        turn = Turn(*bat.angle_and_rate(path, frame * CAMERA_PERIOD), CAMERA_PERIOD)
        if frame + 1 < len(screen):
            clouds.move(states, kinds, (turn.angle, turn.rate), turn.time, world, counts)
    if belief is None:
        raise ValueError("screen has no rows, expected one or more")
    return replace(judged(belief.cloud, states[0], kind, np.array(spent)), soon=soon)


def _at_truth(state: Float[ndarray, " 6"], settings: FilterSettings, world: World) -> Belief:
    count = settings.particles
    kinds = np.arange(count) % len(world.shapes.radius)
    return Belief(Cloud(np.repeat(state[None], count, 0), kinds, np.zeros(count)), 0, None)


def judged(
    cloud: Cloud, state: Float[ndarray, " 6"], kind: int, spent: Float[ndarray, " update"]
) -> Flight:
    """Compare particles with the truth.

    Args:
        cloud: The particles.
        state, kind: Of the object.
        spent: Time of each update, s.
    """
    mean, covariance = position(cloud)
    off = state[:2] - mean
    distance = float(off @ np.linalg.solve(covariance, off))
    inside = distance < stats.chi2.ppf(0.9, 2)
    return Flight(float(np.hypot(*off)), _probability(cloud, kind), bool(inside), spent)


def _probability(cloud: Cloud, kind: int) -> float:
    return float(cloud.weights[cloud.kinds == kind].sum())


def accuracy(
    error: Float[ndarray, " flight"], shape: Float[ndarray, " flight"], inside: ndarray
) -> dict[str, Any]:
    """Return how well flights were localised, from the columns of `Flight`.

    Returns:
        `flights`; `position_m`, median and 90th percentile of the error; `shape`, share of flights
        in which the right one is likelier than all others; its mean `shape_probability`; share
        `lost`; `coverage_90`, share of truths in 90 % ellipses.
    """
    median, p90 = np.quantile(error, (0.5, 0.9))
    return {
        "flights": len(error),
        "position_m": {"median": round(float(median), 4), "p90": round(float(p90), 4)},
        "shape": round(float((shape > 0.5).mean()), 3),
        "shape_probability": round(float(shape.mean()), 3),
        "lost": round(float((error > LOST).mean()), 3),
        "coverage_90": round(float(inside.mean()), 3),
    }


def position(cloud: Cloud) -> tuple[Float[ndarray, " 2"], Float[ndarray, "2 2"]]:
    """Return mean and covariance of the centre of mass, m and m^2."""
    weights = cloud.weights
    mean = weights @ cloud.states[:, :2]
    centred = cloud.states[:, :2] - mean
    return mean, (centred * weights[:, None]).T @ centred + 1e-12 * np.eye(2)
