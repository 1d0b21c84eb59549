"""The product of single-drop posteriors as the paper forms it, kept as a baseline.

Sec. 4.2 of Matl et al.: each mixture is projected to one Gaussian and the Gaussians multiplied,

    P = sum_i P_i,    m = P^-1 sum_i P_i m_i,    P_i the i-th precision.

Small errors of each factor add coherently, and with a prior inside every factor its bounds are
counted once per drop: the result is too sharp. The honest product is the exact joint posterior.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats


@dataclass(frozen=True)
class GaussianProduct:
    """Mean and covariance of the product of Gaussians."""

    mean: Float[ndarray, " n"]
    covariance: Float[ndarray, "n n"]

    def content_above(self, theta: Float[ndarray, " n"]) -> float:
        """Return the mass where the density exceeds its value at theta."""
        centred = theta - self.mean
        distance = centred @ np.linalg.solve(self.covariance, centred)
        return float(stats.chi2.cdf(distance, len(theta)))


def gaussian_product(
    means: Float[ndarray, "drop n"], covariances: Float[ndarray, "drop n n"]
) -> GaussianProduct:
    """Multiply Gaussians, one a drop (the paper's rule); refuse a singular covariance."""
    precisions = np.linalg.inv(covariances)
    covariance = np.linalg.inv(precisions.sum(0))
    return GaussianProduct(covariance @ np.einsum("dij,dj->i", precisions, means), covariance)
