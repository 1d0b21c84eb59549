"""Whether paired differences are positive: the permutation of their signs (Fisher 1935)."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

FLIPS = 20_000
EXACT = 14
"""Pairs up to which every choice of signs is counted."""


def p_value(differences: Float[ndarray, " pair"]) -> float:
    """Return the chance of so large a sum if each difference might as well have the other sign.

    One-sided. Exact for few pairs; from random signs, themselves counted in, for more.

    >>> p_value(np.array([1.0, 2.0, 3.0]))
    0.125
    """
    count, observed = len(differences), float(differences.sum()) - 1e-9
    if count <= EXACT:
        bits = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
        return float(((1.0 - 2.0 * bits) @ differences >= observed).mean())
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (FLIPS, count))
    return (1 + int((signs @ differences >= observed).sum())) / (1 + FLIPS)
