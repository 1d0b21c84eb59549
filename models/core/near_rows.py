"""Rows of measured numbers that are one, though written with fewer digits or shifted by rounding.

Rows are compared by their cells of a fine grid, and of a second one, since a border of the first
may lie between two that are nearly equal.
"""

import numpy as np
from jaxtyping import Float, Shaped
from numpy import ndarray

ALIKE = 1e-4
"""Side of a cell, in ranges of the middle half of a column's numbers."""
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
) -> Shaped[ndarray, "grid row"]:
    """Return which cell each row lies in, of either grid, as one value that can be compared.

    >>> found = cells(np.array([[1.0, 2.0], [1.0 + 1e-9, 2.0], [1.1, 2.0]]), np.ones(2))
    >>> (found[:, 1] == found[:, 0]).any(), (found[:, 2] == found[:, 0]).any()
    (np.True_, np.False_)
    """
    with np.errstate(all="ignore"):  # what is not finite is refused elsewhere
        fine = np.nan_to_num(values / (ALIKE * scale))
    grids = np.stack([np.round(fine + border) + 0.0 for border in BORDERS])
    rows = np.ascontiguousarray(grids).view(np.dtype((np.void, grids[0, 0].nbytes)))
    return rows[..., 0]
