"""Sessions that heard the same drops, each with microphones of its own.

A bounce is heard at one instant, t and u by the clocks of two recorders, of which one may be fast.
Of the first bounces k of two drops that both have, no clocks explain

    r = rms_k (t_k - u_k - a - b u_k),   a any, |b| <= `RATE`,

which is as small as hearing allows where the drops are one. Of two drops of one ball it is what
collisions stray by, whether both are of one session or not: a drop's least r to those of another
session is about as large as that to others of its own, unless it was heard in both. Where that says
so of many drops, sessions are the same drops. Of a ball that hardly strays it says little.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray

RATE = 2e-4
"""By which clocks of recorders differ at most."""
FEWEST, MOST = 5, 10
"""Bounces that are compared."""
NEARER = 0.7
"""Most r to a drop that is the same, as a share of the least to others."""
LEAST, SHARE = 4, 0.65
"""Drops that are shared, and their share of the smaller session."""

Times = Float[ndarray, " _"]


def heard_twice(one: Sequence[Times], other: Sequence[Times]) -> list[tuple[int, int]]:
    """Return which drops of two sessions are the same, in pairs; none if they are few.

    Args:
        one: Ascending times of each drop's bounces, s.
        other: Those of the other session.

    >>> arches = 0.4 * 0.85 ** np.arange(8)
    >>> draw = np.random.default_rng(1)
    >>> drops = [np.cumsum(arches + 1e-3 * draw.normal(size=8)) for _ in range(8)]
    >>> heard = [0.1 + 1.0001 * drop + 1e-5 * draw.normal(size=8) for drop in drops]
    >>> heard_twice(drops[:4], heard[:4])
    [(0, 0), (1, 1), (2, 2), (3, 3)]
    >>> heard_twice(drops[:4], heard[4:])
    []
    """
    if min(len(one), len(other)) < LEAST:
        return []
    first, second = _table(one), _table(other)
    between, own = misfits(first, second), [_nearest(each) for each in (first, second)]
    pairs = [
        (place, int(found))
        for place, found in enumerate(between.argmin(1))
        if between[:, found].argmin() == place
        and between[place, found] < NEARER * min(own[0][place], own[1][found])
    ]
    return pairs if len(pairs) >= max(LEAST, SHARE * min(map(len, (one, other)))) else []


def misfits(
    one: Float[ndarray, "drop bounce"], other: Float[ndarray, "drops bounces"]
) -> Float[ndarray, "drop drops"]:
    """Return r of each two drops, s, of which either may miss the first bounce; inf of short ones.

    Args:
        one: Times of bounces, s; NaN where there are no more.
        other: Those of other drops.
    """
    pairs = ((one, other), (one[:, 1:], other), (one, other[:, 1:]))
    return np.min([_rms(*pair) for pair in pairs], axis=0)


def _rms(
    one: Float[ndarray, "drop bounce"], other: Float[ndarray, "drops bounces"]
) -> Float[ndarray, "drop drops"]:
    most = min(one.shape[1], other.shape[1])
    clock = other[None, :, :most]
    later = one[:, None, :most] - clock
    there = np.isfinite(later)
    count = there.sum(2)
    later = _centred(later, there)
    clock = _centred(np.broadcast_to(clock, there.shape), there)
    fast = (later * clock).sum(2) / np.maximum((clock**2).sum(2), np.finfo(np.float64).tiny)
    left = later - np.clip(fast, -RATE, RATE)[..., None] * clock
    mean = (left**2).sum(2) / np.maximum(count - 2, 1)
    return np.where(count >= FEWEST, np.sqrt(mean), np.inf)


def _centred(values: Float[ndarray, "a b c"], there: ndarray) -> Float[ndarray, "a b c"]:
    values = np.where(there, values, 0.0)
    mean = values.sum(2, keepdims=True) / np.maximum(there.sum(2, keepdims=True), 1)
    return np.where(there, values - mean, 0.0)


def _nearest(drops: Float[ndarray, "drop bounce"]) -> Float[ndarray, " drop"]:
    """Return the least r of each drop to others of its session."""
    own = misfits(drops, drops)
    np.fill_diagonal(own, np.inf)
    return own.min(1)


def _table(drops: Sequence[Times]) -> Float[ndarray, "drop bounce"]:
    table = np.full((len(drops), MOST), np.nan)
    for row, times in zip(table, drops, strict=True):
        row[: len(times)] = times[:MOST]
    return table
