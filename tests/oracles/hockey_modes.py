"""Modes and an arm that need neither be learnt nor computed, for tests of shots."""

import numpy as np
from numpy import ndarray

from models.planners import shots
from models.planners.shots import Conditions
from models.probability.linear_gaussians import LinearGaussian
from models.probability.puck_modes import PuckModes

MODES = PuckModes(
    floating=LinearGaussian(0.99 * np.eye(2), np.zeros(2), 1e-8 * np.eye(2)),
    wall=LinearGaussian(np.diag([-0.74, 0.84]), np.zeros(2), np.diag([0.03, 0.03]) ** 2),
    mallet=LinearGaussian(
        np.array([[-0.45, 0.0, 1.45, 0.0], [0.0, 0.78, 0.0, 0.22]]),
        np.zeros(2),
        np.diag([0.02, 0.1]) ** 2,
    ),
    airflow_sd=0.07,
    delay=0.006,
)


def speed(positions: ndarray, angles: ndarray) -> ndarray:
    """Faster across than straight, slower far from the robot; the same on both sides."""
    far = 1.0 - 0.6 * (positions[..., 0] - 0.8)
    reach = (np.abs(positions[..., 1]) < 0.464) & (positions[..., 0] > 0.64)
    return np.where(reach, far * (1.3 + 1.6 * angles**2), 0.0)


CONDITIONS = Conditions(MODES, speed, shots.doubt())
