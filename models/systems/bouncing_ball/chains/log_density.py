"""The log posterior density of one law: prior times the likelihood of chains, at many points.

The likelihood needs the most likely paths at every point (`laplace`). Their search starts from the
paths at one point, moved along slopes once these are known.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains import laplace, parameters
from ricochet.models.systems.bouncing_ball.chains.least_squares import Group
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior
from ricochet.models.systems.bouncing_ball.chains.paths import Paths

FAR = -1e10
"""The log density of points that have none."""
_BATCH = 200  # takes of all points that are computed together, as many as stay in the cache
_NEAR = 0.3  # nats that a search which crawls may still promise in the end
_STEPS = (5, 40)  # of all points, and of the few that then are left, computed together


@dataclass(frozen=True)
class Density:
    """The log posterior density of one law, but for its norm, and where to look for its paths.

    Attributes:
        paths: The most likely ones at a point, from which the search for all others starts.
        slopes: How the paths change from there with the free coordinates.
        enough: The search for paths ends when a step promises less, nats.
    """

    groups: tuple[Group, ...]
    paths: Paths
    prior: Prior
    point: Float[ndarray, " parameter"]
    slopes: Paths | None = None
    enough: float = 1e-3

    def __call__(self, theta: Float[ndarray, "point parameter"]) -> Float[ndarray, " point"]:
        """Return the log density of points; where none is found, a very low one."""
        return self.evaluated(theta)[0]

    def evaluated(
        self, theta: Float[ndarray, "point parameter"]
    ) -> tuple[Float[ndarray, " point"], Paths]:
        """Return it and the paths."""
        total = self.prior.log_density(theta)
        paths = self._starts(theta)
        left = np.flatnonzero(np.isfinite(total))
        total[left] = -np.inf
        for steps, enough in zip(_STEPS, (self.enough, max(self.enough, _NEAR)), strict=True):
            for part in self._batches(left):
                values = parameters.values(theta[part])
                found = laplace.evidence(
                    self.groups, values, paths.rows(part), steps=steps, enough=self.enough
                )
                total[part] = np.where(found.promise < enough, found.log_likelihood, -np.inf)
                paths.put(part, found.paths)
            left = left[~np.isfinite(total[left])]
        total = total + self.prior.log_density(theta)
        return np.where(np.isfinite(total), total, FAR), paths

    def _batches(self, points: Int[ndarray, " point"]) -> list[Int[ndarray, " part"]]:
        takes = sum(len(group.chains.times) for group in self.groups)
        parts = max(1, round(len(points) * takes / _BATCH))
        return [part for part in np.array_split(points, parts) if len(part)]

    def _starts(self, theta: Float[ndarray, "point parameter"]) -> Paths:
        paths = self.paths.repeated(len(theta))
        if self.slopes is None:
            return paths
        return paths.moved(self.slopes, (theta - self.point)[:, self.prior.free])
