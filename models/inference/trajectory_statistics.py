r"""Numbers that stand for a trajectory, as inputs of densities that are learnt from simulations.

All take states (.., instant, state) and return (.., input).

Source: Heiden et al., appendix II-D 1 a to d.
"""

import itertools
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

DELAYS = (5, 10, 20, 50, 100)
"""Of the autocorrelations, in steps."""


def downsampled(
    states: Float[Tensor, "*batch instant state"], *, every: int = 20
) -> Float[Tensor, "*batch input"]:
    """Return every so-manieth state after the first.

    >>> downsampled(torch.arange(7.0)[:, None], every=3)
    tensor([3., 6.])
    """
    return states[..., every::every, :].flatten(-2)


def differences(
    states: Float[Tensor, "*batch instant state"], *, every: int = 20
) -> Float[Tensor, "*batch input"]:
    """Return every so-manieth difference of neighbours, their means and variances.

    >>> differences(torch.tensor([[0.0], [1.0], [3.0], [6.0]]), every=2)  # 1, 2, 3
    tensor([2., 2., 1.])
    """
    steps = states.diff(dim=-2)
    kept = steps[..., every - 1 :: every, :].flatten(-2)
    return torch.cat((kept, steps.mean(-2), steps.var(-2)), -1)


def summary(
    states: Float[Tensor, "*batch instant state"], *, delays: Sequence[int] = DELAYS
) -> Float[Tensor, "*batch input"]:
    """Return means, variances, correlations of the states, and of each with itself later.

    A state that does not vary correlates with nothing, by 0.

    >>> turn = torch.arange(8.0) * torch.pi / 2.0
    >>> circle = torch.stack((turn.sin(), turn.cos()), -1)
    >>> summary(circle, delays=(2,)).round(decimals=2).abs()  # correlated by -1 after half a turn
    tensor([0.0000, 0.0000, 0.5000, 0.5000, 0.0000, 1.0000, 1.0000])
    """
    mean, variance = states.mean(-2), states.var(-2, correction=0)
    scaled = (states - mean[..., None, :]) / variance.sqrt().clamp(min=1e-12)[..., None, :]
    pairs = itertools.combinations(range(states.shape[-1]), 2)
    across = [(scaled[..., one] * scaled[..., other]).mean(-1) for one, other in pairs]
    found = [mean, variance, *(each[..., None] for each in across)]
    found += [(scaled[..., :-lag, :] * scaled[..., lag:, :]).mean(-2) for lag in delays]
    return torch.cat(found, -1)


def signature(
    states: Float[Tensor, "*batch instant state"], *, depth: int = 3
) -> Float[Tensor, "*batch input"]:
    r"""Return the signature of the path that joins the states by straight lines.

    Level k holds the iterated integrals of k differentials. A straight piece D has D^k / k!, and by
    Chen's identity a path to which one is added

        S_k += sum_{j < k} S_j D^(k - j) / (k - j)!,

    products being outer ones and S_0 = 1.

    >>> signature(torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), depth=2)
    tensor([1.0000, 1.0000, 0.5000, 1.0000, 0.0000, 0.5000])

    Source: Chen 1958.
    """
    step = states.diff(dim=-2)
    powers = [step]
    for level in range(2, depth + 1):
        powers.append(_outer(powers[-1], step) / level)
    before, found = [torch.ones_like(step[..., :1])], []
    for level in range(depth):
        added = sum(
            (_outer(before[j], powers[level - j]) for j in range(1, level + 1)), powers[level]
        )
        after = added.cumsum(-2)
        found.append(after[..., -1, :])
        before.append(after - added)
    return torch.cat(found, -1)


def _outer(
    first: Float[Tensor, "*batch one"], second: Float[Tensor, "*batch other"]
) -> Float[Tensor, "*batch both"]:
    return (first[..., :, None] * second[..., None, :]).flatten(-2)
