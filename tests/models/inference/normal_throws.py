"""Throws whose posterior is a normal law that is known in closed form, to compare methods with."""

from dataclasses import replace

import torch
from torch import Tensor

from ricochet.models.inference import throws
from ricochet.models.inference.fixed_noise_density import FixedNoiseDensity

PARTICLES = 100


def closed_form(density: FixedNoiseDensity) -> tuple[Tensor, Tensor]:
    """Return mean and deviations: the gradient of a normal log density is linear."""
    origin = torch.full((1, density.size), 0.5, dtype=torch.float64)
    moved = origin + torch.eye(density.size, dtype=torch.float64)
    shift = 0.1
    at = density.expanded(origin)[1]
    hessian = (density.expanded(origin + shift * (moved - origin))[1] - at) / shift
    covariance = torch.linalg.inv(-0.5 * (hessian + hessian.T))
    return (origin + at @ covariance)[0], covariance.diagonal().sqrt()


def away(found: Tensor, density: FixedNoiseDensity) -> tuple[Tensor, Tensor]:
    """Return means from the true ones in true deviations, and deviations over the true ones."""
    mean, deviation = closed_form(density)
    return (found.mean(0) - mean) / deviation, found.std(0) / deviation


def example(windows: int) -> tuple[FixedNoiseDensity, Tensor]:
    """Wide enough to be within reach of all, narrow enough that limits do not cut it."""
    density, u = throws.flat_example(PARTICLES, windows=windows)
    return replace(density, sigma=0.3, delta=0.3), u
