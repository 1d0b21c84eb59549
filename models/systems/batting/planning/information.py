"""What would be known of the position at the next bat: the value of looking.

Scenarios of the belief are moved ahead under a swing. Their positions at the end are regressed on
the readings until then, with the variance of the readings for a ridge: the ensemble Kalman filter,

    x = mean + X (1 + Z^T R^-1 Z)^-1 Z^T R^-1 (z - mean)

with X and Z the deviations of positions and readings over sqrt(M - 1), for M scenarios. There are
more readings than scenarios, so that the fit itself says nothing; each scenario is predicted by
the others, which with G = (1 + Z^T R^-1 Z)^-1 leaves (G x)_i / G_ii of its deviation. A swing that
sends the object where the camera distinguishes scenarios, such as on a high flight whose curvature
shows how far away it is, leaves less.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.batting.planning.rollouts import INSTANTS, WATCHED
from ricochet.models.systems.batting.planning.swings import Swings
from ricochet.models.systems.batting.table import CAMERA_PERIOD


def expected_spread(tried: Swings, screen_noise: float) -> Float[ndarray, " swing"]:
    """Return the root mean square of what is left of the position at the second impact, m.

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
    x = x - x.mean(1, keepdims=True)
    inverse = np.linalg.inv(np.eye(count) + z @ z.transpose(0, 2, 1))
    left = inverse @ x / np.diagonal(inverse, axis1=1, axis2=2)[..., None]
    return np.sqrt((left**2).sum(2).mean(1))
