r"""Stein variational gradient descent: particles that repel one another towards a density.

    theta_i += step phi(theta_i),
    phi(t) = 1/N sum_j (k(theta_j, t) grad log p(theta_j) + grad_{theta_j} k(theta_j, t)),
    k(a, b) = exp(-|a - b|^2 / h),    h = median |a - b|^2 / log(N + 1).

Source: Heiden et al., Eq. 1; Liu and Wang 2016, with their bandwidth.
"""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference.ascent import Adam
from ricochet.models.inference.fixed_noise_density import FixedNoiseDensity


def descended(
    density: FixedNoiseDensity,
    u: Float[Tensor, "particle unknown"],
    budget: Iterator[float],
    *,
    rate: float,
) -> Float[Tensor, "particle unknown"]:
    """Return where particles end: the law of few of them is only about that of the density.

    >>> from ricochet.models.inference import budgets, throws
    >>> density, u = throws.flat_example(5)
    >>> found = descended(density, u, budgets.steps(50), rate=0.05)
    >>> bool((density.value(found) > density.value(u)).all())
    True

    Args:
        budget: Shares of what may be done (`budgets`).
        rate: Of Adam's first step; it falls by the cosine to nothing in the end.
    """
    adam = Adam(u)
    for share in budget:
        _, gradients = density.expanded(u)
        u = u + adam.step(direction(u, gradients), fallen(rate, share))
        u = within_limits(density, u)
    return u


def fallen(rate: float, share: float) -> float:
    """Return the rate when a share is done.

    >>> round(fallen(1.0, 0.0), 3), round(fallen(1.0, 0.5), 3)
    (1.0, 0.5)
    """
    return 0.5 * rate * (1.0 + math.cos(math.pi * share))


def within_limits(
    density: FixedNoiseDensity, u: Float[Tensor, "particle unknown"]
) -> Float[Tensor, "particle unknown"]:
    """Return vectors whose parameters that left the limits are put on them.

    >>> from ricochet.models.inference import throws
    >>> density, u = throws.flat_example(1)
    >>> within_limits(density, u - 9.0)[0, :2]
    tensor([1.0000e-06, 1.0000e-06], dtype=torch.float64)
    """
    count = density.parameters
    return torch.cat((u[:, :count].clamp(1e-6, 1.0 - 1e-6), u[:, count:]), 1)


def direction(
    particles: Float[Tensor, "particle dimension"], gradients: Float[Tensor, "particle dimension"]
) -> Float[Tensor, "particle dimension"]:
    """Return phi at the particles, given the gradients of the log density there.

    >>> at = torch.tensor([[0.0], [1.0]])
    >>> direction(at, -at).round(decimals=4)
    tensor([[-0.5329],
            [-0.1338]])
    """
    apart = particles[:, None] - particles[None]
    squares = apart.square().sum(-1)
    width = bandwidth(squares)
    kernel = torch.exp(-squares / width)
    repelled = 2.0 / width * (kernel[..., None] * apart).sum(1)
    return (kernel @ gradients + repelled) / len(particles)


def bandwidth(squares: Float[Tensor, "particle particle"]) -> float:
    """Return h of the kernel by the median of the squared distances.

    >>> round(bandwidth(torch.tensor([[0.0, 1.0], [1.0, 0.0]])), 4)
    0.9102
    """
    count = len(squares)
    if count < 2:
        return 1.0
    above = squares[torch.triu(torch.ones_like(squares, dtype=torch.bool), 1)]
    return max(float(above.median()) / math.log(count + 1.0), 1e-12)
