r"""How many independent outcomes tell as much of a share as those of series that hang together.

Of a series x_t of mean outcomes, whose own mean is m over all series, the mean of N has the
variance

    V = 1/N^2 sum_series (sum_t (x_t - m)^2 + 2 max(0, sum_t (x_t - m)(x_{t+1} - m))),

neighbours alone being alike, and m (1 - m) / V independent outcomes would have it too. Outcomes
that are all alike, whose V says nothing, count once a place.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray


def effective(series: Sequence[Float[ndarray, "_place outcome"]]) -> float:
    """Return the number for outcomes, 0 or 1, at places of some series in their order.

    >>> alike = np.random.default_rng(0).integers(2, size=(200, 1)).repeat(4, axis=1)
    >>> round(effective([1.0 * alike]) / 200.0, 1)  # four that are always the same count once
    1.0
    """
    whole = np.concatenate(series)
    mean, places = float(whole.mean()), len(whole)
    away = [each.mean(1) - mean for each in series]
    variance = sum(float(x @ x) + 2.0 * max(0.0, float(x[1:] @ x[:-1])) for x in away) / places**2
    if variance == 0.0:
        return float(places)
    return float(np.clip(mean * (1.0 - mean) / variance, 1.0, whole.size))
