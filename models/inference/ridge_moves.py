r"""Moves along what data cannot tell: the likelihood stays as it is to the last digit.

Where data tell k functions f of the parameters alone, the likelihood is constant on the surfaces
f(x) = c, and the prior alone says where on a surface a parameter is: with density

    p(x) det(J J')^{-1/2},    J = df/dx,

per area of the surface (the co-area formula). A move goes along the tangent, v ~ N(0, h^2) with
J v = 0, and back to the surface at right angles to it, y = x + v + J' a with f(y) = f(x). It counts
if the way back leads from y to x, and is then accepted with the ratio of the densities at y and at
x times that of the chances of both tangents. No motion is simulated.

Source: Zappa, Holmes-Cerfon and Goodman 2018 (moves on surfaces).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ricochet.models.inference.limits import Coordinates

Identified = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Parameters (particle, parameter) to f (particle, k) and df/dtheta (particle, k, parameter)."""
ACCEPTED = 0.4
"""Share of the moves that should succeed."""
_NEWTON = 8
_CLOSE = 1e-9


@dataclass(frozen=True)
class Ridge:
    """Surfaces on which a likelihood is constant, in some coordinates."""

    coordinates: Coordinates
    identified: Identified

    def at(self, x: Float[Tensor, "particle parameter"]) -> "Place":
        """Return f and J."""
        values, by_theta = self.identified(self.coordinates.parameters(x))
        slopes = self.coordinates.slopes(x)
        return Place(x, values, by_theta * slopes[:, None], self.coordinates.log_prior(x)[0])

    def onto(
        self, begun: Float[Tensor, "particle parameter"], target: "Place"
    ) -> tuple["Place", Bool[Tensor, " particle"]]:
        """Go from places to the surface of others along their J', and say who arrived."""
        a, place = torch.zeros_like(target.values), self.at(begun)
        for _ in range(_NEWTON):
            product = place.slopes @ target.slopes.mT
            a = a + _solved(product, target.values - place.values)
            place = self.at(begun + _times(target.slopes.mT, a))
        left = _times(target.slopes.mT, target.solved(target.values - place.values))
        return place, left.abs().amax(1) < _CLOSE


@dataclass(frozen=True)
class Place:
    """Particles, f and J there, and the logarithm of their prior density."""

    x: Float[Tensor, "particle parameter"]
    values: Float[Tensor, "particle function"]
    slopes: Float[Tensor, "particle function parameter"]
    log_prior: Float[Tensor, " particle"]

    def solved(self, values: Float[Tensor, "particle function"]) -> Tensor:
        """Return (J J')^{-1} of something."""
        return _solved(self.slopes @ self.slopes.mT, values)

    def along(self, steps: Float[Tensor, "particle parameter"]) -> Tensor:
        """Return the part of steps that is tangent to the surface."""
        return steps - _times(self.slopes.mT, self.solved(_times(self.slopes, steps)))

    def log_density(self) -> Float[Tensor, " particle"]:
        """Return that on the surface, per area."""
        return self.log_prior - 0.5 * torch.linalg.slogdet(self.slopes @ self.slopes.mT)[1]

    def put(self, taken: Bool[Tensor, " particle"], other: "Place") -> "Place":
        """Return them with those that moved replaced."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        shaped = ((mine, its, taken.reshape(-1, *[1] * (mine.ndim - 1))) for mine, its in pairs)
        return Place(*(torch.where(moved, its, mine) for mine, its, moved in shaped))


def moved(
    ridge: Ridge,
    x: Float[Tensor, "particle parameter"],
    steps: int,
    length: float,
    generator: np.random.Generator,
    *,
    adapt: bool = False,
) -> tuple[Float[Tensor, "particle parameter"], float]:
    """Make moves of each particle on its surface; return where they are, and h for the next.

    Args:
        length: h.
        adapt: Whether h is changed so that about `ACCEPTED` of the moves succeed; what is kept of
            a chain comes after.
    """
    here = ridge.at(x)
    for _ in range(steps):
        there = here.along(length * x.new_tensor(generator.normal(size=x.shape)))
        place, arrived = ridge.onto(here.x + there, here)
        back = place.along(here.x - place.x)
        begun, returned = ridge.onto(place.x + back, place)
        same = (begun.x - here.x).abs().amax(1) < 1e3 * _CLOSE
        chance = place.log_density() - here.log_density()
        chance -= (back.square().sum(1) - there.square().sum(1)) / (2.0 * length**2)
        luck = torch.log(x.new_tensor(generator.uniform(size=len(x))))
        taken = arrived & returned & same & (luck < chance)
        here = here.put(taken, place)
        if adapt:
            success = float(taken.double().mean()) - ACCEPTED
            length = float(np.clip(length * np.exp(0.2 * success), 1e-4, 10.0))
    return here.x, length


def _times(matrix: Tensor, vector: Tensor) -> Tensor:
    return (matrix @ vector[..., None])[..., 0]


def _solved(matrix: Tensor, vector: Tensor) -> Tensor:
    """Solve; NaN where there is no solution."""
    found, failed = torch.linalg.solve_ex(matrix, vector)
    return torch.where(failed[:, None] == 0, found, torch.nan)
