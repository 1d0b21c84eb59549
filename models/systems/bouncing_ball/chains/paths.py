"""Paths of takes at some parameter points: what the ball did, and the errors that takes share."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains.least_squares import FIRST


@dataclass(frozen=True)
class Paths:
    """The most likely paths of takes, group by group, and the shared errors, at each point.

    Attributes:
        weights: Of the square that stands for each redirection, in units of the concentration of
            the narrow ones (`corrections`).
    """

    takes: tuple[Float[ndarray, "point _ _"], ...]
    shared: Float[ndarray, "point session error"]
    weights: tuple[Float[ndarray, "point _ _"], ...] = ()

    def repeated(self, points: int) -> "Paths":
        """Return the paths of one point as a start for many."""
        return self.rows(np.zeros(points, dtype=np.intp))

    def rows(self, chosen: ndarray) -> "Paths":
        """Return the paths of some of the points."""
        takes, weights = (
            tuple(part[chosen] for part in parts) for parts in (self.takes, self.weights)
        )
        return Paths(takes, self.shared[chosen], weights)

    def put(self, chosen: ndarray, paths: "Paths") -> None:
        """Replace the paths of some of the points."""
        self.shared[chosen] = paths.shared
        own, new = (*self.takes, *self.weights), (*paths.takes, *paths.weights)
        for whole, part in zip(own, new, strict=True):
            whole[chosen] = part

    def less(self, other: "Paths", scale: Float[ndarray, " point"]) -> "Paths":
        """Return differences, each point's over its scale, without weights."""
        over = 1.0 / scale[:, None, None]
        takes = tuple((a - b) * over for a, b in zip(self.takes, other.takes, strict=True))
        return Paths(takes, (self.shared - other.shared) * over)

    def combined(self, by: Float[ndarray, "point free"]) -> "Paths":
        """Return sums over the points, each weighed by a column."""
        takes = tuple(np.einsum("pf,ptx->ftx", by, take) for take in self.takes)
        return Paths(takes, np.einsum("pf,pse->fse", by, self.shared))

    def moved(self, slopes: "Paths", away: Float[ndarray, "point free"]) -> "Paths":
        """Return the paths some way along slopes, but where a flight would not rise."""
        takes = []
        for here, slope in zip(self.takes, slopes.takes, strict=True):
            there = here + np.einsum("pf,ftx->ptx", away, slope)
            rises = (there[..., FIRST + 2 :: 3] > 0.0).all(-1, keepdims=True)
            takes.append(np.where(rises, there, here))
        shared = self.shared + np.einsum("pf,fse->pse", away, slopes.shared)
        return Paths(tuple(takes), shared, self.weights)
