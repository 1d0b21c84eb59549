"""Draws and moments of the von Mises-Fisher law, for tests alone."""

import math

import torch

from ricochet.models.probability import von_mises_fisher


def sample(
    mean: torch.Tensor, concentration: torch.Tensor, *, draw: torch.Generator
) -> torch.Tensor:
    """Draw one direction about each unit vector; the components come last."""
    return von_mises_fisher.redirect(mean.movedim(-1, 0), concentration, draw=draw).movedim(0, -1)


def mean_resultant_length(k: float) -> float:
    """Return |E x| = coth k - 1/k, below 1 by 1 / (3/k + 1 / (5/k + 1 / (7/k + ...)))."""
    if k >= 1.0:
        return 1.0 / math.tanh(k) - 1.0 / k
    value = 0.0
    for odd in range(41, 1, -2):
        value = 1.0 / (odd / k + value)
    return value
