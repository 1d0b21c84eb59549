"""What would be known of the position at the next bat: the value of looking.

Scenarios of the belief are moved ahead under a swing. With X the deviations of their positions at
the end from the mean, and Z those of the readings until then, both over sqrt(M - 1) for M
scenarios, the covariance of the position given the readings is that of the ensemble Kalman filter,

    X (1 + Z^T R^-1 Z)^-1 X^T

R is the variance of the readings: a swing that sends the object where the camera tells scenarios
apart, such as on a high flight whose curvature shows how far away it is, leaves less.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.batting.planning.rollouts import INSTANTS, WATCHED
from ricochet.models.systems.batting.planning.swings import Swings
from ricochet.models.systems.batting.table import CAMERA_PERIOD


def expected_spread(tried: Swings, screen_noise: float) -> Float[ndarray, " swing"]:
    """Return the root of the expected variance of the position at the second impact, m.

    Args:
        tried: Swings that were watched, over two scenarios or more.
        screen_noise: Of one end of the projection, m.
    """
    count = tried.seen.shape[1]
    ends = np.clip(np.median(tried.second, axis=1) / WATCHED - 1.0, 0, INSTANTS - 1).astype(int)
    until = np.arange(INSTANTS) <= ends[:, None]
    readings = WATCHED / CAMERA_PERIOD  # that each instant stands for
    scale = np.sqrt(readings / (count - 1)) / screen_noise
    z = (tried.seen[..., :2] - tried.seen[..., :2].mean(1, keepdims=True)) * scale
    z *= until[:, None, :, None]
    z = z.reshape(len(ends), count, -1)
    x = tried.seen[np.arange(len(ends)), :, ends, 2:]
    x = (x - x.mean(1, keepdims=True)) / np.sqrt(count - 1)
    kept = np.linalg.solve(np.eye(count) + z @ z.transpose(0, 2, 1), x)
    return np.sqrt((x * kept).sum((1, 2)))
