r"""The posterior density of motions under noise that is given, of one vector: as the paper has it.

The vector holds coordinates of the parameters (`limits`), then the starts of all windows but the
first, over the scale of the states; first states are known. With one window there are no starts:

    log p = log sum_i p(x_i) or sum_i log p(x_i), of trajectories i, + log prior,
    log p(x) = log N(r; 0, sigma^2) + log N(d; 0, delta^2),

residuals r and defects d as in `multiple_shooting`. Where densities are added, parameters explain
one trajectory, and the starts of all others have no law: here the one that observing them with
sigma gives, which multiplies each of the densities added but that trajectory's. Beyond the limits,
and where there is no motion, the density is nothing.

Source: Heiden et al., Eqs. 2 to 6, 9 and 10, section IV-D; the starts of others: ours.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference import multiple_shooting
from ricochet.models.inference.limits import Coordinates
from ricochet.models.inference.multiple_shooting import Shooting, Shot

JITTER = 0.01
"""Spread of starts about the observed ones at first, over the scale: ensembles need some."""


@dataclass(frozen=True)
class FixedNoiseDensity:
    """What methods that take a density and its gradient are given.

    Attributes:
        sigma: Deviation of an observation, over the scale.
        delta: Deviation of a start from the end of the window before it, over the scale.
        mixture: Whether densities of trajectories are added (Eq. 4) rather than multiplied.
    """

    shooting: Shooting
    coordinates: Coordinates
    sigma: float
    delta: float = 0.1
    mixture: bool = False

    @property
    def parameters(self) -> int:
        """How many there are."""
        return len(self.coordinates.limits.low)

    @property
    def size(self) -> int:
        """Of the vector."""
        return self.parameters + self.shooting.starts[:, 1:].numel()

    def begun(
        self, x: Float[Tensor, "particle parameter"], generator: np.random.Generator
    ) -> Float[Tensor, "particle unknown"]:
        """Return vectors at some coordinates, windows about where they were observed to start."""
        z = (self.shooting.starts / self.shooting.scale)[:, 1:].flatten()
        away = JITTER * x.new_tensor(generator.normal(size=(len(x), len(z))))
        return torch.cat((x, z + away), 1)

    def theta(self, u: Float[Tensor, "particle unknown"]) -> Float[Tensor, "particle parameter"]:
        """Return the parameters."""
        return self.coordinates.parameters(u[:, : self.parameters])

    def at(self, u: Float[Tensor, "particle unknown"]) -> Shot:
        """Simulate all windows of all particles."""
        shooting = self.shooting
        first = shooting.starts[:, :1].expand(len(u), -1, -1, -1)
        rest = u[:, self.parameters :].reshape(len(u), *shooting.starts[:, 1:].shape)
        return shooting.at(self.theta(u), torch.cat((first, rest * shooting.scale), 2))

    def value(self, u: Float[Tensor, "particle unknown"]) -> Float[Tensor, " particle"]:
        """Return the log density."""
        return self._together(u, self.at(u))[0]

    def expanded(
        self, u: Float[Tensor, "particle unknown"]
    ) -> tuple[Float[Tensor, " particle"], Float[Tensor, "particle unknown"]]:
        """Return the log density and its gradient, which is 0 where there is no density."""
        shot = self.at(u)
        value, shares = self._together(u, shot)
        by_residuals = -shares[:, :, None, None, None] * shot.residuals / self.sigma**2
        by_defects = -shares[:, :, None, None] * shot.defects / self.delta**2
        gradient = self.pulled_back(u, shot, by_residuals, by_defects)
        gradient[:, : self.parameters] += self.coordinates.log_prior(u[:, : self.parameters])[1]
        if self.mixture:
            others = (1.0 - shares)[:, :, None, None] * self._away(u)
            gradient[:, self.parameters :] -= (others / self.sigma**2).flatten(1)
        return value, _where_dense(value, gradient)

    def observed(
        self, u: Float[Tensor, "particle unknown"], shot: Shot
    ) -> tuple[Float[Tensor, " particle"], Float[Tensor, "particle unknown"]]:
        """Return log p of the observations alone, defects and limits left out, and its gradient."""
        each = multiple_shooting.log_likelihoods(shot.residuals, self.sigma)
        value, shares = multiple_shooting.of_all(each, mixture=self.mixture)
        by_residuals = -shares[:, :, None, None, None] * shot.residuals / self.sigma**2
        gradient = self.pulled_back(u, shot, by_residuals, torch.zeros_like(shot.defects))
        return value, _where_dense(value, gradient)

    def pulled_back(
        self,
        u: Float[Tensor, "particle unknown"],
        shot: Shot,
        by_residuals: Float[Tensor, "particle trajectory window step seen"],
        by_defects: Float[Tensor, "particle trajectory gap state"],
    ) -> Float[Tensor, "particle unknown"]:
        """Return the gradient of sums of residuals and defects with these weights."""
        by_parameter, by_start = shot.pulled_back(by_residuals, by_defects)
        slopes = self.coordinates.slopes(u[:, : self.parameters])
        by_x = (by_parameter[:, None] @ slopes)[:, 0]
        by_z = (by_start[:, :, 1:] * self.shooting.scale).flatten(1)
        return torch.cat((by_x, by_z), 1)

    def _together(
        self, u: Float[Tensor, "particle unknown"], shot: Shot
    ) -> tuple[Float[Tensor, " particle"], Float[Tensor, "particle trajectory"]]:
        """Return the log density, and its derivatives by those of each trajectory."""
        each = multiple_shooting.log_likelihoods(shot.residuals, self.sigma)
        each = each + _log_normal(shot.defects, self.delta)
        if self.mixture:
            unseen = _log_normal(self._away(u), self.sigma)
            value, shares = multiple_shooting.of_all(each - unseen, mixture=True)
            value = value + unseen.sum(1)
        else:
            value, shares = multiple_shooting.of_all(each, mixture=False)
        value = value + self.coordinates.log_prior(u[:, : self.parameters])[0]
        return torch.where(torch.isfinite(value), value, -torch.inf), shares

    def _away(
        self, u: Float[Tensor, "particle unknown"]
    ) -> Float[Tensor, "particle trajectory gap state"]:
        """Return the starts less those observed, over the scale."""
        seen = (self.shooting.starts / self.shooting.scale)[:, 1:]
        return u[:, self.parameters :].reshape(len(u), *seen.shape) - seen


def _log_normal(
    away: Float[Tensor, "particle trajectory gap state"], deviation: float
) -> Float[Tensor, "particle trajectory"]:
    """Return the log density of independent normal laws about 0, of each trajectory."""
    width = away[0, 0].numel() * math.log(2.0 * math.pi * deviation**2)
    return -0.5 * ((away / deviation).square().sum((2, 3)) + width)


def _where_dense(
    value: Float[Tensor, " particle"], gradient: Float[Tensor, "particle unknown"]
) -> Float[Tensor, "particle unknown"]:
    """Return gradients, and 0 of those without a density or beyond what numbers can hold."""
    dense = torch.isfinite(value) & torch.isfinite(gradient).all(1)
    return torch.where(dense[:, None], gradient, 0.0)
