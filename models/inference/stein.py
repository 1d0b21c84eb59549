r"""Stein variational gradient descent: particles that repel one another towards a density.

    theta_i += step phi(theta_i),
    phi(t) = 1/N sum_j (k(theta_j, t) grad log p(theta_j) + grad_{theta_j} k(theta_j, t)),
    k(a, b) = exp(-|a - b|^2 / h),    h = median |a - b|^2 / log(N + 1).

Source: Heiden et al., Eq. 1; Liu and Wang 2016, with their bandwidth.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


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
