r"""Where a truth lies in the law of which some chains are draws, few as they may be.

Of a normal law in q dimensions, of which n independent draws have the mean m and the covariance C,
one more draw x has

    (x - m)' C^-1 (x - m)  ~  q (n^2 - 1) / (n (n - q)) F(q, n - q),

and in one dimension Student's t of n - 1 degrees. Draws of a chain are not independent; what n is
follows from how far the chains' means are apart: n = q / tr(C^-1 V), V the covariance of the mean
of all, which the means of P chains tell. It is at least P, and at least q + 2.

Source: Hotelling 1931.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats


@dataclass(frozen=True)
class Place:
    """Where a truth lies.

    Attributes:
        rank: Of each quantity, the chance of a smaller one.
        level: Mass of the region that just holds all quantities together.
    """

    rank: Float[ndarray, " quantity"]
    level: float


def place(
    chains: Float[ndarray, "round chain quantity"], truth: Float[ndarray, " quantity"]
) -> Place:
    """Return where a truth lies.

    >>> chains = np.random.default_rng(0).normal(size=(50, 40, 2))
    >>> found = place(chains, np.zeros(2))
    >>> bool(np.abs(found.rank - 0.5).max() < 0.1), found.level < 0.02
    (True, True)
    """
    count, size = effective(chains), chains.shape[2]
    draws = chains.reshape(-1, size)
    away, covariance = truth - draws.mean(0), np.atleast_2d(np.cov(draws.T))
    wider = np.sqrt(np.diag(covariance) * (1.0 + 1.0 / count))
    distance = float(away @ np.linalg.solve(covariance, away))
    scaled = distance * count * (count - size) / (size * (count**2 - 1.0))
    return Place(
        np.asarray(stats.t.cdf(away / wider, count - 1.0)),
        float(stats.f.cdf(scaled, size, count - size)),
    )


def effective(chains: Float[ndarray, "round chain quantity"]) -> float:
    """Return how many independent draws tell as much.

    >>> still = np.random.default_rng(0).normal(size=(1, 40, 2)).repeat(9, axis=0)
    >>> round(effective(still))  # chains that do not move count once each
    40
    """
    rounds, count, size = chains.shape
    covariance = np.atleast_2d(np.cov(chains.reshape(-1, size).T))
    of_mean = np.atleast_2d(np.cov(chains.mean(0).T)) / count
    found = size / float(np.trace(np.linalg.solve(covariance, of_mean)))
    return float(np.clip(found, max(count, size + 2), rounds * count))
