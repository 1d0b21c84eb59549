r"""Best fits of motions by Newton's steps from many starts at once, defects tightened on the way.

Each particle goes its own way by Levenberg and Marquardt: steps (A + share diag A)^{-1} gradient of
the log density and its metric A, taken where the density grows, the share a tenth then and four
times itself otherwise. While delta is wide, windows follow the observations and the parameters
what happens within windows, which few particles get wrong; delta then falls, quickly where a
particle has arrived.

Sources: Heiden et al., section IV-C (why windows); Bock 1983 (multiple shooting).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference.shooting_density import (
    Noise,
    ShootingDensity,
    Unknowns,
    in_all_states,
)

_ROUNDS, _STEPS = 3, 6
_NIL = 1e-2
"""Gain of a log density that is none."""
LONGEST = 2.0
"""Step of a coordinate of a parameter: further, the logistic function is another."""


@dataclass(frozen=True)
class Schedule:
    """How delta falls; deviations are over the scale of the states.

    Attributes:
        sigma: Of the observations: small, so that they count for more than the prior.
        widest: Delta at first.
        tightest: Delta in the end.
        small: A step whose gain is a smaller share of the log density has arrived, for its delta.
        quick: Delta after a step that arrived, over what it was.
        slow: And after any other.
        steps: At most.
    """

    sigma: float = 0.03
    widest: float = 1e-2
    tightest: float = 3e-6
    small: float = 0.005
    quick: float = 0.7
    slow: float = 0.98
    steps: int = 300


def fit(
    density: ShootingDensity,
    begun: Unknowns,
    schedule: Schedule,
    *,
    progress: Progress = no_progress,
) -> Unknowns:
    """Return where particles end: each goes on until its delta is the tightest and gains are nil.

    >>> from ricochet.models.inference import throws
    >>> density, begun, _ = throws.example(8)  # by a pull of -2 m/s^2 and a wind of 0.5 m/s
    >>> density.coordinates.parameters(fit(density, begun, Schedule()).x).std(0) < 1e-2
    tensor([True, True])

    Args:
        begun: Where they begin; starts of windows as observed (`Shooting.starts`), as a rule.
    """
    found, count = begun, len(begun.x)
    share, delta = begun.x.new_full((count,), 1e-2), begun.x.new_full((count,), schedule.widest)
    left = torch.arange(count)
    for _ in range(schedule.steps):
        part, noise = found[left], _noise(density, schedule.sigma, delta[left])
        before = density.value(part, density.at(part), noise)
        part, share[left] = improved(density, part, noise, share[left])
        gain = density.value(part, density.at(part), noise) - before
        found = found.put(left, part)
        arrived = gain < schedule.small * before.abs() + 0.5
        stays = (delta[left] > schedule.tightest) | (gain > _NIL)
        fall = torch.where(arrived, schedule.quick, schedule.slow)
        delta[left] = (delta[left] * fall).clamp_min(schedule.tightest)
        left = left[stays]
        progress(count - len(left), count)
        if len(left) == 0:
            break
    return found


def refined(density: ShootingDensity, found: Unknowns, tightness: float) -> Unknowns:
    """Go on with each state's sigma as its residuals have it, until the two agree.

    >>> from ricochet.models.inference import throws
    >>> density, begun, noise = throws.example(1)
    >>> found = refined(density, begun, tightness=0.01)
    >>> density.at(found).residuals.square().mean().sqrt().round(decimals=2)  # of noise of 0.05
    tensor(0.0400, dtype=torch.float64)

    Args:
        tightness: Delta over sigma.
    """
    share = found.x.new_full((len(found.x),), 1e-2)
    for _ in range(_ROUNDS):
        sigma = density.at(found).residuals.square().mean((1, 2, 3)).sqrt()
        for _ in range(_STEPS):
            noise = Noise(sigma, tightness * in_all_states(sigma, found.z.shape[-1]))
            found, share = improved(density, found, noise, share)
    return found


def improved(
    density: ShootingDensity, at: Unknowns, noise: Noise, share: Float[Tensor, " particle"]
) -> tuple[Unknowns, Float[Tensor, " particle"]]:
    """Make one step of each particle, shortened until the density grows, and say how short.

    >>> from ricochet.models.inference import throws
    >>> density, begun, noise = throws.example(1)
    >>> moved, share = improved(density, begun, noise, torch.ones(1).double())
    >>> values = [density.value(each, density.at(each), noise) for each in (begun, moved)]
    >>> values[0] < values[1], share
    (tensor([True]), tensor([0.3000], dtype=torch.float64))
    """
    here = density.expanded(at, density.at(at), noise)
    left = torch.arange(len(share))
    moved, share = at, share.clone()
    for _ in range(6):
        begun, part = at[left], here[left]
        dx, dz = part.metric.damped(share[left]).solve(part.by_x, part.by_z)
        tried = begun.moved(dx.nan_to_num().clamp(-LONGEST, LONGEST), dz.nan_to_num())
        grown = density.value(tried, density.at(tried), noise[left]) > part.value
        better = left[grown]
        moved = moved.put(better, tried[grown.nonzero()[:, 0]])
        share[better] = (share[better] * 0.3).clamp_min(1e-9)
        left = left[~grown]
        share[left] = (share[left] * 4.0).clamp_max(1e6)
        if len(left) == 0:
            break
    return moved, share


def _noise(density: ShootingDensity, sigma: float, delta: Float[Tensor, " particle"]) -> Noise:
    shooting = density.shooting
    seen = delta.new_full((len(delta), shooting.observable), sigma)
    return Noise(seen, delta[:, None].expand(-1, len(shooting.scale)))
