"""Whether residuals of a fit are white, as they are where the equations hold.

Source: Ljung and Box 1978.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

WHITE = 1e-3
"""Chance of residuals as they are below which they are not white."""
_LAGS = 5


def chance(residuals: Float[ndarray, "trajectory step state"], apart: int = 1) -> float:
    """Return the chance of correlations as great as these, if errors are independent.

    >>> draw = np.random.default_rng(0)
    >>> noise = draw.normal(size=(1, 400, 2))
    >>> chance(noise) > 0.01, chance(noise.cumsum(1)) < 1e-9
    (True, True)

    Args:
        apart: Steps from which on they are: each series of steps that far apart is tested, and the
            least chance counts, as many times as there are series.

    Source: Ljung and Box 1978.
    """
    found = [_ljung_box(residuals[:, first::apart]) for first in range(apart)]
    return min(1.0, apart * min(found))


def _ljung_box(residuals: Float[ndarray, "trajectory step state"]) -> float:
    count = residuals.shape[1]
    lags = np.arange(1, min(_LAGS, count - 1) + 1)
    powers = np.square(residuals).sum(1)
    along = [(residuals[:, lag:] * residuals[:, :-lag]).sum(1) / powers for lag in lags]
    statistic = count * (count + 2.0) * np.square(along) / (count - lags)[:, None, None]
    return float(stats.chi2.sf(statistic.sum(), statistic.size))
