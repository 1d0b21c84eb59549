"""Worlds and objects that tests of batting share, and gaps by numpy alone."""

from functools import cache

import numpy as np

from ricochet.models.systems.batting.belief import first_flight
from ricochet.models.systems.batting.belief.particles import Cloud
from ricochet.models.systems.batting.shapes import Shapes
from ricochet.models.systems.batting.world import World, paper_world, without_noise


@cache
def noisy() -> World:
    """The paper's world."""
    return paper_world(np.random.default_rng(2), 2**12)


@cache
def quiet() -> World:
    """The paper's world without noise of impacts."""
    return without_noise(noisy())


def objects(count: int, seed: int, angle: float = 0.0) -> Cloud:
    """Objects anywhere on the table, at up to 1.5 m/s and rad/s, that touch nothing."""
    return first_flight.uniform(count, angle, noisy(), np.random.default_rng(seed))


def counts(count: int, places: np.ndarray | int = 0) -> np.ndarray:
    """Counts of objects that start at places of the noise."""
    found = np.zeros((count, 3), np.int64)
    found[:, 0] = places
    return found


def support(shapes: Shapes, kinds: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """h of objects along body angles, from the series as it is printed."""
    k = np.arange(shapes.cosines.shape[1])
    angles = psi[:, None] * k
    return (shapes.cosines[kinds] * np.cos(angles) + shapes.sines[kinds] * np.sin(angles)).sum(1)


def gaps(states: np.ndarray, kinds: np.ndarray, angle: float, world: World) -> np.ndarray:
    """Gaps to the left, right and upper wall and to the bat, m, one row an object."""
    x, y, phi = states[:, 0], states[:, 1], states[:, 2]
    table = world.table
    clear = (x, table.width - x, table.height - y, y * np.cos(angle) - x * np.sin(angle))
    directions = (np.pi, 0.0, 0.5 * np.pi, angle - 0.5 * np.pi)
    return np.stack(
        [
            distance - support(world.shapes, kinds, direction - phi)
            for distance, direction in zip(clear, directions, strict=True)
        ],
        axis=1,
    )


def energies(states: np.ndarray, kinds: np.ndarray, world: World) -> np.ndarray:
    """Kinetic and potential energy over mass, J/kg."""
    kinetic = 0.5 * (states[:, 3:5] ** 2).sum(1)
    kinetic += 0.5 * world.shapes.gyration_squared[kinds] * states[:, 5] ** 2
    return kinetic + world.table.gravity * states[:, 1]
