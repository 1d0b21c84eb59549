r"""Constrained Stein variational gradient descent, as printed.

Limits and continuity are constraints with multipliers of each particle's own,

    g_lim = clamp(theta) - theta,     g_def = |s - end of the window before|^2 / delta^2,
    theta' = phi(theta) - sum_k (lambda_k + c g_k) dg_k / dtheta,
    s' = d log p_obs / ds - (lambda_def + c g_def) dg_def / ds,     lambda' = g,

with phi of Eq. 1 for the observations' density, its kernel on the parameters alone. States are over
their scale and parameters in shares of their limits' range; steps are Adam's.

Source: Heiden et al., Eqs. 1, 7, 8 and Algorithm 1. Printed there, lambda and s are set to g: here
multipliers accumulate and starts follow the gradient, as the text above the algorithm has it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference import stein
from ricochet.models.inference.ascent import Adam
from ricochet.models.inference.fixed_noise_density import FixedNoiseDensity
from ricochet.models.inference.multiple_shooting import Shot


@dataclass(frozen=True)
class Settings:
    """How steps are taken.

    Attributes:
        rate: Of Adam's first step.
        damping: c.
        gain: Step of the multipliers, over g.
    """

    rate: float
    damping: float = 1.0
    gain: float = 0.01


def descended(
    density: FixedNoiseDensity,
    u: Float[Tensor, "particle unknown"],
    budget: Iterator[float],
    settings: Settings,
) -> Float[Tensor, "particle unknown"]:
    """Return where particles end.

    >>> from ricochet.models.inference import budgets, throws
    >>> density, u = throws.flat_example(5)
    >>> found = descended(density, u, budgets.steps(50), Settings(rate=0.05))
    >>> bool((density.value(found) > density.value(u)).all())
    True

    Args:
        density: In `Shares`.
        budget: Shares of what may be done (`budgets`).
    """
    adam, count = Adam(u), density.parameters
    by_limits = torch.zeros_like(u[:, :count])
    by_gaps = torch.zeros_like(density.at(u).defects[..., 0])
    for share in budget:
        shot = density.at(u)
        change = density.observed(u, shot)[1]
        change[:, :count] = stein.direction(u[:, :count], change[:, :count])
        outside = u[:, :count].clamp(0.0, 1.0) - u[:, :count]
        gaps = _squares(density, shot)
        change[:, :count] += torch.where(
            outside == 0.0, 0.0, by_limits + settings.damping * outside
        )
        change -= _pull_of_gaps(density, u, shot, by_gaps + settings.damping * gaps)
        u = u + adam.step(change, stein.fallen(settings.rate, share))
        by_limits = by_limits + settings.gain * outside
        by_gaps = by_gaps + settings.gain * gaps
    return stein.within_limits(density, u)


def _squares(density: FixedNoiseDensity, shot: Shot) -> Float[Tensor, "particle trajectory gap"]:
    """Return g_def, and 0 where there is no motion."""
    return (shot.defects / density.delta).square().sum(-1).nan_to_num(0.0, 0.0, 0.0)


def _pull_of_gaps(
    density: FixedNoiseDensity,
    u: Float[Tensor, "particle unknown"],
    shot: Shot,
    weights: Float[Tensor, "particle trajectory gap"],
) -> Float[Tensor, "particle unknown"]:
    """Return sum of weights times dg_def."""
    by_defects = 2.0 * weights[..., None] * shot.defects / density.delta**2
    nothing = torch.zeros_like(shot.residuals)
    return density.pulled_back(u, shot, nothing, by_defects).nan_to_num(0.0, 0.0, 0.0)
