"""Modes and an arm that need neither be learnt nor computed, for tests of shots."""

import numpy as np
from numpy import ndarray

from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes, Rebound
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import Conditions


def made(
    *,
    floating: float = 1e-4,
    wall: tuple[float, float] = (0.03, 0.03),
    mallet: tuple[float, float] = (0.02, 0.1),
    delay: float = 0.006,
    rebounds: tuple[Rebound, ...] = (),
) -> PuckModes:
    """Modes with these standard deviations: m/s a period, and shares of a contact's speeds."""
    return PuckModes(
        floating=LinearGaussian(0.99 * np.eye(2), np.zeros(2), floating**2 * np.eye(2)),
        wall=LinearGaussian(np.diag([-0.74, 0.84]), np.zeros(2), np.diag(wall) ** 2),
        mallet=LinearGaussian(
            np.array([[-0.45, 0.0, 1.45, 0.0], [0.0, 0.78, 0.0, 0.22]]),
            np.zeros(2),
            np.diag(mallet) ** 2,
        ),
        airflow_sd=0.07,
        delay=delay,
        rebounds=rebounds,
    )


MODES = made()
USUAL = LinearGaussian(np.diag([-0.735, 0.84]), np.zeros(2), np.diag([0.02, 0.01]) ** 2)
ODD = LinearGaussian(np.diag([-0.93, 0.9]), np.zeros(2), np.diag([0.07, 0.05]) ** 2)
TWO_WAYS = made(wall=(0.08, 0.05), rebounds=(Rebound(0.8, USUAL), Rebound(0.2, ODD)))
"""As `MODES`, but a first bank is usual four times in five."""


def speed(positions: ndarray, angles: ndarray) -> ndarray:
    """Faster across than straight, slower far from the robot; the same on both sides."""
    far = 1.0 - 0.6 * (positions[..., 0] - 0.8)
    reach = (np.abs(positions[..., 1]) < 0.464) & (positions[..., 0] > 0.64)
    return np.where(reach, far * (1.3 + 1.6 * angles**2), 0.0)


CONDITIONS = Conditions(MODES, speed, objective.contact_covariance())
