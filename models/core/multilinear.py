"""Interpolation between the points of a regular grid of three axes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray


@dataclass(frozen=True)
class Cell:
    """A cell by its lowest corner, and how far in it a point lies along each axis, from 0 to 1."""

    corner: tuple[Int[ndarray, "*batch"], Int[ndarray, "*batch"], Int[ndarray, "*batch"]]
    share: Float[ndarray, "*batch 3"]


def cell_at(axes: Sequence[Float[ndarray, " _"]], where: Float[ndarray, "*batch 3"]) -> Cell:
    """Find the cell that each point lies in, or the nearest; knots ascend in equal steps.

    >>> tenths = np.linspace(0.0, 1.0, 11)
    >>> cell = cell_at((tenths, tenths, tenths), np.array([0.25, 0.5, 7.0]))
    >>> [int(low) for low in cell.corner], cell.share.round(3).tolist()
    ([2, 5, 9], [0.5, 0.0, 1.0])
    """
    corner, share = [], []
    for axis, knots in enumerate(axes):
        place = (where[..., axis] - knots[0]) / (knots[1] - knots[0])
        low = np.asarray(np.clip(np.nan_to_num(place), 0, len(knots) - 2).astype(int))
        corner.append(low)
        share.append(np.clip(place - low, 0.0, 1.0))
    return Cell((corner[0], corner[1], corner[2]), np.stack(share, -1))


def between(values: Float[ndarray, "x y z ..."], cell: Cell) -> Float[ndarray, "..."]:
    """Interpolate values at the grid's points linearly along each axis.

    >>> x, y, z = np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij")
    >>> where = np.array([[0.5, 1.25, 2.0], [3.0, 0.0, 1.0]])
    >>> between(x + y * z, cell_at([np.arange(4.0)] * 3, where))
    array([3., 3.])
    """
    total = np.zeros(())
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, cell.share, 1.0 - cell.share), axis=-1)
        value = values[tuple(low + c for low, c in zip(cell.corner, corner, strict=True))]
        total = total + weight.reshape(weight.shape + (1,) * (values.ndim - 3)) * value
    return np.asarray(total)
