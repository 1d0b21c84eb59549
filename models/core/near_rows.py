"""Rows of measured numbers that are one, though written with fewer digits or shifted by rounding.

Rows are compared by their cells of a fine grid, and of a second one, since a border of the first
may lie between two that are nearly equal.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, UInt64
from numpy import ndarray

ALIKE = 1e-4
"""Side of a cell, in ranges of the middle half of a column's numbers."""
FAR = 2.0**60
"""Cells from zero beyond which all are one."""
BORDERS = (0.0, 0.25)
"""Where cells of either grid begin, in their sides."""


def scales(values: Float[ndarray, "row column"]) -> Float[ndarray, " column"]:
    """Return how far the middle half of each column reaches, whatever the others are.

    Where it does not, what its middle is; where that is zero, one.

    >>> scales(np.array([[1.0, 7.0, 0.0], [2, 7, 0], [3, 7, 0], [4, 7, 0], [1e9, 7, 0]]))
    array([2., 7., 1.])
    """
    low, middle, high = np.percentile(values, [25.0, 50.0, 75.0], axis=0)
    return np.where(high > low, high - low, np.where(middle == 0.0, 1.0, np.abs(middle)))


def cells(
    values: Float[ndarray, "row column"], scale: Float[ndarray, " column"]
) -> UInt64[ndarray, "grid row"]:
    """Return which cell each row lies in, of either grid, as a number; one for all far off.

    >>> found = cells(np.array([[1.0, 2.0], [1.0 + 1e-9, 2.0], [1.1, 2.0]]), np.ones(2))
    >>> (found[:, 1] == found[:, 0]).any(), (found[:, 2] == found[:, 0]).any()
    (np.True_, np.False_)
    """
    with np.errstate(all="ignore"):  # what is not finite is refused elsewhere
        fine = np.clip(np.nan_to_num(values / (ALIKE * scale)), -FAR, FAR)
    grids = np.stack([np.round(fine + border) for border in BORDERS]).astype(np.int64)
    factors = np.random.default_rng(0).integers(1, 2**63, values.shape[1], dtype=np.uint64)
    return (grids.view(np.uint64) * factors).sum(axis=-1, dtype=np.uint64)


def shared(
    rows: Sequence[UInt64[ndarray, " _"]],
) -> dict[tuple[int, int], float]:
    """Return which of several tables have different cells together, as shares of the smaller's.

    Of cells that more than two have, each is counted for those that follow one another.

    >>> shared([np.array([1, 2, 2], np.uint64), np.array([2, 3, 4], np.uint64)])
    {(0, 1): 0.5}
    """
    different = [np.unique(each) for each in rows]
    sizes = [len(each) for each in different]
    owner = np.repeat(np.arange(len(rows)), sizes)
    every = np.concatenate(different)
    order = np.argsort(every, kind="stable")
    same = every[order][1:] == every[order][:-1]
    pairs = np.stack([owner[order][:-1][same], owner[order][1:][same]])
    found, counts = np.unique(pairs, axis=1, return_counts=True)
    return {
        (int(one), int(other)): float(count / min(sizes[one], sizes[other]))
        for (one, other), count in zip(found.T, counts, strict=True)
    }
