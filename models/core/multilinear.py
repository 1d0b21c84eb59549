"""Interpolation between the points of a regular grid of three axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

_ENDS = np.array(list(np.ndindex(2, 2, 2)))


@dataclass(frozen=True)
class Cell:
    """A cell by its lowest corner, and how far in it a point lies along each axis, from 0 to 1."""

    corner: tuple[Int[ndarray, "*batch"], Int[ndarray, "*batch"], Int[ndarray, "*batch"]]
    share: Float[ndarray, "*batch 3"]

    @cached_property
    def corners(self) -> tuple[Int[ndarray, "*batch 8"], ...]:
        """The eight corners."""
        return tuple(low[..., None] + ends for low, ends in zip(self.corner, _ENDS.T, strict=True))

    @cached_property
    def weights(self) -> Float[ndarray, "*batch 8"]:
        """The shares of the eight corners."""
        share = self.share[..., None, :]
        return np.asarray(np.where(_ENDS, share, 1.0 - share).prod(-1))


def cell_at(axes: Sequence[Float[ndarray, " _"]], where: Float[ndarray, "*batch 3"]) -> Cell:
    """Find the cell that each point lies in, or the nearest; knots ascend in equal steps.

    >>> tenths = np.linspace(0.0, 1.0, 11)
    >>> cell = cell_at((tenths, tenths, tenths), np.array([0.25, 0.5, 7.0]))
    >>> [int(low) for low in cell.corner], cell.share.round(3).tolist()
    ([2, 5, 9], [0.5, 0.0, 1.0])
    """
    first, second = np.array([(knots[0], knots[1]) for knots in axes]).T
    last = np.array([len(knots) - 2 for knots in axes])
    place = (where - first) / (second - first)
    low = np.clip(np.nan_to_num(place), 0, last).astype(int)
    corner = (np.asarray(low[..., 0]), np.asarray(low[..., 1]), np.asarray(low[..., 2]))
    return Cell(corner, np.clip(place - low, 0.0, 1.0))


def between(values: Float[ndarray, "x y z ..."], cell: Cell) -> Float[ndarray, "..."]:
    """Interpolate values at the grid's points linearly along each axis.

    >>> x, y, z = np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij")
    >>> where = np.array([[0.5, 1.25, 2.0], [3.0, 0.0, 1.0]])
    >>> between(x + y * z, cell_at([np.arange(4.0)] * 3, where))
    array([3., 3.])
    """
    known = values[cell.corners]
    count = cell.weights.ndim
    known = known.reshape((*known.shape[:count], math.prod(values.shape[3:])))
    total = (cell.weights[..., None, :] @ known)[..., 0, :]
    return np.asarray(total.reshape((*cell.weights.shape[:-1], *values.shape[3:])))
