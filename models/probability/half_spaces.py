"""Chance that a von Mises-Fisher direction points out of a plane.

For a mean direction at angle gamma from the plane's normal,

    P(z > 0) = int_0^1 kappa / (1 - exp(-2 kappa)) exp(kappa (c cos gamma - 1))
                       I0(kappa sqrt(1 - c^2) sin gamma) dc,

the constant that divides the density where a draw pointing into the plane is drawn again.
Tabulated over cos gamma, since a likelihood asks it many times.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

_STEPS = 128
_NODES = 64


@dataclass(frozen=True)
class Table:
    """Log of P(z > 0) over a uniform grid of cos gamma in [0, 1], a row per concentration."""

    log_probability: Float[Tensor, "point step"]

    def at(self, cosine: Float[Tensor, "*batch point node"]) -> Float[Tensor, "*batch point node"]:
        """Interpolate at the cosines of the angle between mean direction and normal."""
        place = cosine.clamp(0.0, 1.0) * _STEPS
        left = place.floor().long().clamp(max=_STEPS - 1)
        fraction = place - left
        row = torch.arange(len(self.log_probability))[:, None]
        low = self.log_probability[row, left]
        return low + fraction * (self.log_probability[row, left + 1] - low)


def log_upward_probability(
    concentration: Float[Tensor, " point"], cosine: Float[Tensor, " step"]
) -> Float[Tensor, "point step"]:
    """Return log P(z > 0) by Gauss-Legendre over an interval that holds the density's mass.

    >>> along = torch.tensor([0.0, 1.0], dtype=torch.float64)  # cos gamma: in the plane, up
    >>> log_upward_probability(torch.tensor([2.0]), along).exp().numpy().round(3)
    array([[0.5  , 0.881]])
    """
    kappa, gamma = concentration[:, None, None], torch.arccos(cosine)[None, :, None]
    nodes, weights = (torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(_NODES))
    reach = 9 / kappa.sqrt()
    low = (gamma - reach).clamp(min=0.0)
    high = (gamma + reach).clamp(max=np.pi / 2)
    polar = 0.5 * (low + high) + 0.5 * (high - low) * nodes
    b = kappa * torch.sin(polar) * torch.sin(gamma)
    exponent = kappa * (torch.cos(polar - gamma) - 1)  # b is moved from i0e's factor into it
    density = kappa / (-torch.expm1(-2 * kappa)) * torch.special.i0e(b) * torch.exp(exponent)
    total = (weights * density * torch.sin(polar) * 0.5 * (high - low)).sum(-1)
    return torch.log(total.clamp(1e-300, 1.0))


def table(concentration: Float[Tensor, " point"]) -> Table:
    """Tabulate log P(z > 0) for each concentration; repeated ones are computed once.

    >>> upward = table(torch.tensor([2.0, 50.0, 2.0]))
    >>> upward.at(torch.tensor([[[0.0], [0.0], [1.0]]])).exp().numpy().round(3).ravel()
    array([0.5  , 0.5  , 0.881])
    """
    unique, index = torch.unique(concentration, return_inverse=True)
    cosine = torch.linspace(0, 1, _STEPS + 1, dtype=torch.float64)
    return Table(log_upward_probability(unique.double(), cosine)[index])
