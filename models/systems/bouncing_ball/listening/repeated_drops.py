"""Drops that are one, heard twice: their bounces come after the same times.

Times of two drops differ by far more than those of a copy, because each collision strays. Where
hardly any does, as of a simulated ball of one restitution, two drops may be taken for one, and the
answer is as wide as by one.
"""

from itertools import chain

import numpy as np
from jaxtyping import Float
from numpy import ndarray

CLOSE, AGREEING, OF = 2e-5, 5, 7
"""Difference of times, s, that so many of the first bounces of one recording keep to. Where each
gap strays by a quarter of a millisecond alone, fewer than one pair of drops in ten thousand do."""
CUT = 2
"""Bounces that may have been cut off at the begin."""


def keep_time(moved: Float[ndarray, "bounce channel"]) -> bool:
    """Tell whether bounces of two drops come after the same times.

    Args:
        moved: How much later those of one come, s.

    >>> keep_time(np.full((7, 1), 0.3))
    True
    >>> keep_time(0.3 + 2.5e-4 * np.arange(7)[:, None])
    False
    """
    first = moved[:OF]
    near = np.abs(first - np.median(first, axis=0)) <= CLOSE
    return int(near.all(axis=1).sum()) >= AGREEING


def are_copies(one: Float[ndarray, " bounce"], other: Float[ndarray, " _"]) -> bool:
    """Tell whether two drops keep time, of which one may miss the first bounces, or single ones.

    Args:
        one: Ascending times of its bounces, s.
        other: Those of the other.
    """
    cuts = range(CUT + 1)
    pairs = chain(((one[cut:], other) for cut in cuts), ((other[cut:], one) for cut in cuts))
    return any(keep_time(_moved(*pair)) for pair in pairs if min(map(len, pair)) >= AGREEING)


def _moved(
    one: Float[ndarray, " bounce"], other: Float[ndarray, " _"]
) -> Float[ndarray, "bounce 1"]:
    """Return how much later than the nearest of the other each comes, after the first of both."""
    times, others = one - one[0], other - other[0]
    middle = (others[1:] + others[:-1]) / 2.0
    return np.asarray(times - others[np.searchsorted(middle, times)])[:, None]
