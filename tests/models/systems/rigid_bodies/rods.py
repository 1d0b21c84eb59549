"""Pendulums that tests of the controller have in common."""

import numpy as np

from ricochet.models.systems.rigid_bodies import pendulum_steps
from ricochet.models.systems.rigid_bodies.pendulum_steps import Bodies
from ricochet.models.systems.rigid_bodies.pendulum_tracking import Draws

RODS = np.array((0.3, 5e-4, 0.07, 1e-3, 1e-3, 0.14, 0.2, 2e-4, 0.05, -2e-3, 5e-4))
"""The parameters of two rods, their centres somewhat off the links."""
RATE, WINDOW, SUBSTEPS = 400.0, 20, 4
OBSERVATION = np.array((1e-3, 1e-3, 0.05, 0.1))
DEPARTURE = np.array((5e-4, 1e-3, 0.02, 0.05))


def draws(count: int, spread: float = 0.01, departing: bool = True) -> Draws:
    """Return parameters about the rods'."""
    white = np.random.default_rng(7).normal(size=(count, len(RODS)))
    each = np.ones((count, 1))
    wide = DEPARTURE if departing else 1e-9 * DEPARTURE
    theta = RODS * (1.0 + spread * white)
    return Draws(theta, OBSERVATION * each, wide * each, RATE, WINDOW, SUBSTEPS)


def swung(own: Draws, starts: np.ndarray, steps: int, generator: np.random.Generator) -> np.ndarray:
    """Return states of pendulums that depart at every window, shape (step + 1, pendulum, 4)."""
    found, bodies = [starts[None]], Bodies.of(own.theta)
    for begin in range(0, steps, WINDOW):
        away = own.departure * generator.normal(size=starts.shape) if begin else 0.0
        moved = pendulum_steps.roll_out(
            bodies, found[-1][-1] + away, steps=WINDOW, duration=1.0 / RATE, substeps=SUBSTEPS
        )
        found.append(moved)
    return np.concatenate(found)


def starts(count: int, generator: np.random.Generator) -> np.ndarray:
    """Return pendulums let go at rest, with some energy."""
    angles = generator.uniform(0.8, 2.4, (count, 2)) * generator.choice((-1.0, 1.0), (count, 2))
    return np.concatenate((angles, np.zeros((count, 2))), 1)
