"""What the density network is given of a drop: physics first, so that a small network is enough.

All drops are brought to one height h (`problem.at_reference`); what is left of the height is the
size s0 of the sideways start speed there, which is an input. With g, h and the start speed rho
known, the features fix restitution e. Let q be the squared vertical speed after bounce 1 and
D = d2^2 / r^2 - d1^2. Speed is kept by the redraw, so

    S = rho^2 + 2 g h e^2                       squared speed after bounce 1
    q = (S + sqrt(S^2 - g^2 d1^2)) / 2          range equation d1 = S sin(2 beta) / g, steep root
    F(e) = e^2 - r^2 - g^2 D / (4 q^2) = 0      Eq. 6 of Matl et al., t1^2 = 4 q / g^2

Solved at rho = 0 this gives a point estimate; its derivatives give the standard error from timing
and localisation noise, that from the height (which moves S as a start speed does), and the
displacement that a typical rho^2 = 2 s0^2 causes. Restitution is then given in coordinates centred
there (`bijections`): in the noise-free case its posterior is a one-sided law of rho^2 with a width
of 1e-6, otherwise a bell. The squared chords between the exit directions and the unperturbed ones
carry concentration. Only |turn| is used: mirrored drops have the same posterior.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.inference.mixture_density_networks import Inputs
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.features import Features
from ricochet.models.systems.bouncing_ball.problem import (
    HORIZONTAL_SD,
    REFERENCE_HEIGHT,
    Noise,
    Release,
)

_FALL = 2.0 * GRAVITY * REFERENCE_HEIGHT
_SHARE_OF_START = 0.03
_FLOOR_TIME, _FLOOR_POSITION = 1e-8, 1e-7
_RATIO_SD = 0.03
"""How far t2 / t1 typically is from restitution: the fall-back of rigs too poor for Eq. 6."""
_CONCENTRATION = (3.0, 2.0)
"""Location and scale of log10 concentration: the middle and half the width of its prior."""


@dataclass(frozen=True)
class PointEstimate:
    """Restitution by the speed equation, how far noise and an unknown start speed move it.

    Attributes:
        restitution: The root of F at rho = 0.
        noise_sd: Standard error from timing and localisation.
        height_sd: Standard error from the height of release.
        start_shift: Signed displacement caused by rho^2 = 2 s0^2.
        first_time: Duration of the first flight, s.
    """

    restitution: Float[Tensor, "*batch"]
    noise_sd: Float[Tensor, "*batch"]
    height_sd: Float[Tensor, "*batch"]
    start_shift: Float[Tensor, "*batch"]
    first_time: Float[Tensor, "*batch"]


@dataclass(frozen=True)
class _Scaled:
    """Drops at the reference height, the sideways start speed's sd there (m/s), and the error."""

    features: Features
    noise: Noise
    start_sd: Tensor
    height_sd: Tensor  # of the logarithm


def point_estimate(features: Features, noise: Noise, release: Release) -> PointEstimate:
    """Solve the speed equation, or go nearest to it, and propagate errors to first order."""
    scaled = _Scaled(*problem.at_reference(features, noise, release), release.relative_sd)
    estimate = _estimate(scaled)
    slower = (release.height / REFERENCE_HEIGHT).sqrt()
    return replace(estimate, first_time=estimate.first_time * slower)


def _estimate(drops: _Scaled) -> PointEstimate:
    features, noise = drops.features, drops.noise
    r, d1, d2 = features.ratio, features.first_distance, features.second_distance
    e = _solve(r, d1, d2)
    q, root = _vertical(e, d1)
    bend = GRAVITY**2 * (d2**2 / r**2 - d1**2) / (4.0 * q**2)
    by_e = 2.0 * e + 4.0 * _FALL * e * bend / root
    by_e = torch.where(by_e.abs() < 0.2, torch.full_like(by_e, 0.2), by_e)
    by_r = -2.0 * r + GRAVITY**2 * d2**2 / (2.0 * q**2 * r**3)
    by_d1 = GRAVITY**2 * d1 / (2.0 * q**2) - GRAVITY**2 * d1 * bend / (q * root)
    by_d2 = -(GRAVITY**2) * d2 / (2.0 * q**2 * r**2)
    by_speed = 2.0 * bend / root  # of the squared speed after bounce 1
    first_time = 2.0 * q.sqrt() / GRAVITY
    ratio_variance = (noise.time_sd / first_time) ** 2 * (1.0 + (1.0 + r) ** 2 + r**2)
    crossed = by_d1**2 + by_d2**2 - by_d1 * by_d2 * torch.cos(features.turn)
    variance = by_r**2 * ratio_variance + 2.0 * noise.position_sd**2 * crossed
    return PointEstimate(
        restitution=e,
        noise_sd=variance.sqrt() / by_e.abs(),
        height_sd=(by_speed / by_e).abs() * _FALL * e**2 * drops.height_sd,
        start_shift=-by_speed * 2.0 * drops.start_sd**2 / by_e,
        first_time=first_time,
    )


def from_both(features: Features, noise: Noise, release: Release) -> Inputs:
    """Form the inputs, centred on the point estimate, of the network that uses times and places."""
    drops = _scaled(features, noise, release)
    features, noise = drops.features, drops.noise
    estimate = _estimate(drops)
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
    drops = _scaled(features, noise, release)
    ratio = drops.features.ratio
    columns = ((ratio - 0.75) / 0.12, _log(drops.noise.time_sd) + 4.0, _start_column(drops))
    return Inputs(_stack(columns), _coordinates(ratio, torch.full_like(ratio, 3e-3)))


def from_places(features: Features, noise: Noise, release: Release) -> Inputs:
    """Form the inputs of the network that is given places only (Eqs. 7 and 8).

    Coordinates are centred on the prior's middle.
    """
    drops = _scaled(features, noise, release)
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


def _start_column(drops: _Scaled) -> Tensor:
    return 2.0 * _log(drops.start_sd / HORIZONTAL_SD)


def _solve(ratio: Tensor, d1: Tensor, d2: Tensor) -> Tensor:
    """Find the root of F nearest to the ratio: scan, then bisect."""
    grid = torch.linspace(0.45, 1.05, 61, dtype=torch.float64)
    grid = grid.expand(*ratio.shape, 61)
    r, a, b = ratio[..., None], d1[..., None], d2[..., None]
    values = _misfit(grid, r, a, b)
    crossing = (values[..., :-1] * values[..., 1:]) <= 0.0
    distance = (grid[..., :-1] - r).abs() + torch.where(crossing, 0.0, 10.0)
    distance = torch.where(crossing, distance, 10.0 + values[..., :-1].abs())
    index = distance.argmin(-1, keepdim=True)
    low, high = grid.gather(-1, index), grid.gather(-1, index + 1)
    sign = torch.sign(values.gather(-1, index))
    for _ in range(42):
        middle = 0.5 * (low + high)
        before = torch.sign(_misfit(middle, r, a, b)) == sign
        low, high = torch.where(before, middle, low), torch.where(before, high, middle)
    return 0.5 * (low + high)[..., 0]


def _misfit(e: Tensor, ratio: Tensor, d1: Tensor, d2: Tensor) -> Tensor:
    q, _ = _vertical(e, d1)
    return e**2 - ratio**2 - GRAVITY**2 * (d2**2 / ratio**2 - d1**2) / (4.0 * q**2)


def _vertical(e: Tensor, d1: Tensor) -> tuple[Tensor, Tensor]:
    """Return the squared vertical speed of the steep root and sqrt(S^2 - g^2 d1^2) at rho = 0."""
    squared = _FALL * e**2
    root = (squared**2 - (GRAVITY * d1) ** 2).clamp(min=0.0).sqrt()
    root = torch.maximum(root, 0.05 * squared)
    return 0.5 * (squared + root), root


def _log(value: Tensor) -> Tensor:
    return torch.log10(value.clamp(min=1e-16))


def _stack(columns: tuple[Tensor, ...]) -> Tensor:
    return torch.stack(columns, -1).clamp(-12.0, 12.0)


def _coordinates(location: Tensor, scale: Tensor) -> Coordinates:
    middle, half = (torch.full_like(location, value) for value in _CONCENTRATION)
    return Coordinates(torch.stack((location, middle), -1), torch.stack((scale, half), -1))


def _scaled(features: Features, noise: Noise, release: Release) -> _Scaled:
    """Bring drops to the reference height, in double precision and away from zero."""
    features, noise, start_sd = problem.at_reference(features, noise, release)
    return _Scaled(
        Features(
            features.ratio.double(),
            features.first_distance.double().clamp(min=1e-9),
            features.second_distance.double().clamp(min=1e-9),
            features.turn.double(),
        ),
        Noise(
            noise.time_sd.double().clamp(min=_FLOOR_TIME),
            noise.position_sd.double().clamp(min=_FLOOR_POSITION),
        ),
        start_sd.double(),
        release.relative_sd.double(),
    )
