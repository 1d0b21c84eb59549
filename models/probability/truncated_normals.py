"""The standard normal cut to an interval, in logs, so that either tail is exact.

    Z = Phi(high) - Phi(low),      F(z) = (Phi(z) - Phi(low)) / Z

An interval that lies mostly above zero is mirrored first: Phi loses its digits there, not below.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.probability.mixture_arrays import LOG_ROOT_TWO_PI


def log_mass(
    low: Float[Tensor, "*batch"], high: Float[Tensor, "*batch"]
) -> Float[Tensor, "*batch"]:
    """Return log Z for ends in standard deviations, high not below low.

    >>> low, high = torch.tensor([-1.0, 30.0]).double(), torch.tensor([1.0, 31.0]).double()
    >>> log_mass(low, high).numpy().round(3).tolist()
    [-0.382, -454.321]
    """
    mirrored = low + high > 0.0
    left = torch.where(mirrored, -high, low)
    right = torch.where(mirrored, -low, high)
    outer, inner = torch.special.log_ndtr(left), torch.special.log_ndtr(right)
    return inner + torch.log(-torch.expm1((outer - inner).clamp(max=-1e-300)))


def quantile(
    low: Float[Tensor, "*#batch"], high: Float[Tensor, "*#batch"], share: Float[Tensor, "*#batch"]
) -> Float[Tensor, "*#batch"]:
    """Return the z below which a share F(z) of the mass between the ends lies.

    >>> low, high = torch.tensor([-1.0, 30.0]).double(), torch.tensor([1.0, 31.0]).double()
    >>> quantile(low, high, torch.tensor([0.9, 0.9]).double()).numpy().round(3).tolist()
    [0.749, 30.077]
    """
    mirrored = low + high > 0.0
    left, right = torch.where(mirrored, -high, low), torch.where(mirrored, -low, high)
    below = torch.where(mirrored, 1.0 - share, share)
    outer, inner = torch.special.log_ndtr(left), torch.special.log_ndtr(right)
    ratio = torch.exp(outer - inner)
    z = _quantile_of_log(inner + torch.log(ratio + below * (1.0 - ratio)))
    return torch.where(mirrored, -z, z)


def _quantile_of_log(log_probability: Tensor) -> Tensor:
    """Solve log Phi(z) = log p by Newton's method from the tail's leading terms."""
    far = (-2.0 * log_probability).clamp(min=2.0)
    tail = -(far - torch.log(2.0 * math.pi * far)).clamp(min=0.0).sqrt()
    z = torch.where(
        log_probability < -20.0,
        tail,
        torch.special.ndtri(log_probability.clamp(-30.0, -1e-16).exp()),
    )
    for _ in range(3):
        value = torch.special.log_ndtr(z)
        rate = torch.exp(-0.5 * z**2 - LOG_ROOT_TWO_PI - value)
        step = (value - log_probability) / rate
        z = torch.where(log_probability < -20.0, z - step, z)
    return z
