"""What the density network is given of a drop: physics first, so that a small network is enough.

All drops are brought to one height h (`problem.at_reference`); what is left of the height is the
size s0 of the sideways start speed there, which is an input. Restitution is given in coordinates
(`bijections`) centred on its point estimate (`restitution`): in the noise-free case its posterior
is a one-sided law of rho^2 with a width of 1e-6, otherwise a bell. The squared chords between the
exit directions and the unperturbed ones carry concentration. Only |turn| is used: mirrored drops
have the same posterior.
"""

import torch
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.inference.mixture_density_networks import Inputs
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.systems.bouncing_ball import restitution
from ricochet.models.systems.bouncing_ball.features import Features
from ricochet.models.systems.bouncing_ball.problem import (
    HORIZONTAL_SD,
    Noise,
    Release,
)
from ricochet.models.systems.bouncing_ball.restitution import ScaledDrops

_SHARE_OF_START = 0.03
_RATIO_SD = 0.03
"""How far t2 / t1 typically is from restitution: the fall-back of rigs too poor for Eq. 6."""
_CONCENTRATION = (3.0, 2.0)
"""Location and scale of log10 concentration: the middle and half the width of its prior."""


def from_both(features: Features, noise: Noise, release: Release) -> Inputs:
    """Form the inputs, centred on the point estimate, of the network that uses times and places."""
    drops = restitution.scaled(features, noise, release)
    features, noise = drops.features, drops.noise
    estimate = restitution.estimate(drops)
    e, t1 = estimate.restitution, estimate.first_time
    t2 = features.ratio * t1
    u1, u2 = features.first_distance / t1, features.second_distance / t2
    w1, w2 = 0.5 * GRAVITY * t1, 0.5 * GRAVITY * t2
    along, across = u2 * torch.cos(features.turn) - u1, u2 * torch.sin(features.turn).abs()
    speed1, speed2 = u1**2 + w1**2, u1**2 + (e * w1) ** 2
    chord1 = (u1**2 + (w1 - speed1.sqrt()) ** 2) / speed1
    chord2 = (along**2 + across**2 + (w2 - e * w1) ** 2) / speed2
    axis_variance = noise.position_sd**2
    noise1 = 4.0 * axis_variance / (t1**2 * speed1)
    noise2 = 2.0 * axis_variance * (t1**-2 + t2**-2 + (1 / t1 + 1 / t2) ** 2) / speed2
    error = torch.hypot(estimate.noise_sd, estimate.height_sd)
    trust = _RATIO_SD**2 / (_RATIO_SD**2 + error**2)
    noise_sd = error * trust.sqrt()
    centre = e + (1.0 - trust) * (features.ratio - e)
    ratio_noise = noise.time_sd / t1 * (2.0 + 2.0 * features.ratio).sqrt() + 1e-6
    scale = noise_sd + _SHARE_OF_START * estimate.start_shift.abs() + 1e-9
    columns = (
        (centre - 0.75) / 0.12,
        _log(scale) + 3.0,
        _log(noise_sd / (estimate.start_shift.abs() + 1e-9)),
        _log(chord1 + noise1) + 2.0,
        _log(chord2 + noise2) + 2.0,
        _log(chord2 / noise2),
        _log(noise2) + 4.0,
        features.turn.abs() - 1.0,
        _log(u1) + 0.5,
        _log(u2) + 0.5,
        torch.asinh(along / speed2.sqrt() / noise2.sqrt()) / 3.0,
        torch.asinh(across / speed2.sqrt() / noise2.sqrt()) / 3.0,
        (features.ratio - e) / 0.1,
        torch.asinh((features.ratio - e) / ratio_noise) / 3.0,
        _log(ratio_noise) + 3.0,
        _start_column(drops),
    )
    signed = torch.where(estimate.start_shift < 0.0, -scale, scale)
    return Inputs(_stack(columns), _coordinates(centre, signed))


def from_times(features: Features, noise: Noise, release: Release) -> Inputs:
    """Form the inputs, centred on the ratio, of the network that is given times only (Eq. 5)."""
    drops = restitution.scaled(features, noise, release)
    ratio = drops.features.ratio
    columns = ((ratio - 0.75) / 0.12, _log(drops.noise.time_sd) + 4.0, _start_column(drops))
    return Inputs(_stack(columns), _coordinates(ratio, torch.full_like(ratio, 3e-3)))


def from_places(features: Features, noise: Noise, release: Release) -> Inputs:
    """Form the inputs of the network that is given places only (Eqs. 7 and 8).

    Coordinates are centred on the prior's middle.
    """
    drops = restitution.scaled(features, noise, release)
    d1, d2 = drops.features.first_distance, drops.features.second_distance
    turn, position_sd = drops.features.turn, drops.noise.position_sd
    columns = (
        _log(d1) + 1.5,
        _log(d2) + 1.5,
        2.0 * _log(d2 / d1),
        turn.abs() - 1.0,
        0.5 * _log(turn**2 + (position_sd / d1) ** 2) + 1.0,
        _log(position_sd) + 2.5,
        _start_column(drops),
    )
    return Inputs(
        _stack(columns),
        _coordinates(torch.full_like(d1, 0.75), torch.full_like(d1, 0.2)),
    )


def _start_column(drops: ScaledDrops) -> Tensor:
    return 2.0 * _log(drops.start_sd / HORIZONTAL_SD)


def _log(value: Tensor) -> Tensor:
    return torch.log10(value.clamp(min=1e-16))


def _stack(columns: tuple[Tensor, ...]) -> Tensor:
    return torch.stack(columns, -1).clamp(-12.0, 12.0)


def _coordinates(location: Tensor, scale: Tensor) -> Coordinates:
    middle, half = (torch.full_like(location, value) for value in _CONCENTRATION)
    return Coordinates(torch.stack((location, middle), -1), torch.stack((scale, half), -1))
