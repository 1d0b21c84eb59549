"""Systematic resampling: rows drawn as often as their weights say, by one random number.

With u uniform from 0 to 1, the cumulative weights are crossed at (u + k) / n for k = 0 .. n - 1: a
row of weight w is taken floor(n w) or ceil(n w) times (Kitagawa 1996).
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray


def systematic_rows(
    weights: Float[ndarray, " row"], count: int, draw: np.random.Generator
) -> Int[ndarray, " drawn"]:
    """Return rows in ascending order.

    Args:
        weights: Not negative, not all zero; need not sum to one.
        count: How many are drawn.
        draw: Source of the one number.

    >>> systematic_rows(np.array([0.25, 0.0, 0.5, 0.25]), 4, np.random.default_rng(0)).tolist()
    [0, 2, 2, 3]
    """
    shares = np.cumsum(weights) / weights.sum()
    places = (draw.random() + np.arange(count)) / count
    return np.minimum(np.searchsorted(shares, places), len(weights) - 1)
