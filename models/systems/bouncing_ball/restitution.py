"""Restitution from the times and distances of one drop: Eq. 6 of Matl et al., with its errors.

With g, the height of release h and the start speed rho known, the features fix restitution e. Let q
be the squared vertical speed after bounce 1 and D = d2^2 / r^2 - d1^2. Speed is kept by the redraw,

    S = rho^2 + 2 g h e^2                       squared speed after bounce 1
    q = (S + sqrt(S^2 - g^2 d1^2)) / 2          range equation d1 = S sin(2 beta) / g, steep root
    F(e) = e^2 - r^2 - g^2 D / (4 q^2) = 0      Eq. 6, t1^2 = 4 q / g^2

Solved at rho = 0 this gives a point estimate; its derivatives give the standard error from timing
and localisation noise, that from the height (which moves S as a start speed does), and the
displacement that a typical rho^2 = 2 s0^2 causes. Drops are brought to one height first
(`problem.at_reference`).
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.features import Features
from ricochet.models.systems.bouncing_ball.problem import REFERENCE_HEIGHT, Noise, Release

_FALL = 2.0 * GRAVITY * REFERENCE_HEIGHT
_FLOOR_TIME, _FLOOR_POSITION = 1e-8, 1e-7


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
class ScaledDrops:
    """Drops at the reference height, the sideways start speed's sd there (m/s), and the error."""

    features: Features
    noise: Noise
    start_sd: Tensor
    height_sd: Tensor  # of the logarithm


def point_estimate(features: Features, noise: Noise, release: Release) -> PointEstimate:
    """Solve the speed equation, or go nearest to it, and propagate errors to first order."""
    drops = ScaledDrops(*problem.at_reference(features, noise, release), release.relative_sd)
    found = estimate(drops)
    slower = (release.height / REFERENCE_HEIGHT).sqrt()
    return replace(found, first_time=found.first_time * slower)


def estimate(drops: ScaledDrops) -> PointEstimate:
    """Do the same for drops at the reference height."""
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


def scaled(features: Features, noise: Noise, release: Release) -> ScaledDrops:
    """Bring drops to the reference height, in double precision and away from zero."""
    features, noise, start_sd = problem.at_reference(features, noise, release)
    return ScaledDrops(
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
