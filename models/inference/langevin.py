r"""Stochastic gradient Langevin dynamics: steps up the gradient, with noise of the steps' size.

    u += e/2 G grad log p + N(0, e G),    G = 1 / (root of the mean squared gradient),

e falling as a power of the steps. Nothing is rejected, so that the law is that of the density only
as e vanishes. All trajectories enter each gradient: there are few. Parameters that leave the limits
are reflected.

Sources: Welling and Teh 2011; the preconditioner: Li et al. 2016, its divergence left out.
"""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference.fixed_noise_density import FixedNoiseDensity

_DECAY, _POWER, _SOONER = 0.99, 0.55, 100.0


def diffused(
    density: FixedNoiseDensity,
    u: Float[Tensor, "chain unknown"],
    budget: Iterator[float],
    generator: np.random.Generator,
    *,
    rate: float,
) -> Float[Tensor, "chain unknown"]:
    """Return the last state of each chain.

    >>> from ricochet.models.inference import budgets, throws
    >>> density, u = throws.flat_example(5)
    >>> found = diffused(density, u, budgets.steps(50), np.random.default_rng(0), rate=1e-3)
    >>> bool((density.value(found) > density.value(u)).all())
    True

    Args:
        density: In `Shares`.
        budget: Shares of what may be done (`budgets`).
        rate: e at first.
    """
    square, count = None, density.parameters
    for share in budget:
        gradient = density.expanded(u)[1]
        now = gradient.square()
        square = now if square is None else _DECAY * square + (1.0 - _DECAY) * now
        size = rate * (1.0 + _SOONER * share) ** -_POWER / (square.sqrt() + 1.0)
        noise = u.new_tensor(generator.normal(size=u.shape))
        u = u + 0.5 * size * gradient + size.sqrt() * noise
        u = torch.cat((_reflected(u[:, :count]), u[:, count:]), 1)
    return u


def _reflected(share: Float[Tensor, "chain parameter"]) -> Float[Tensor, "chain parameter"]:
    """Return shares within 0 to 1, reflected as often as need be."""
    folded = torch.remainder(share, 2.0)
    return torch.minimum(folded, 2.0 - folded).clamp(1e-9, 1.0 - 1e-9)
