"""Exact likelihood of one drop's four features under measurement noise.

The law (Sec. 3.2 and App. B of Matl et al., "STReSSD"), with the measurement as part of it.
A ball released at height h with horizontal velocity u0 ~ N(0, s0^2 I) hits the plane z = 0;

    speed after bounce 1     s1^2 = |u0|^2 + 2 g h e^2
    direction after bounce 1 n1 ~ vMF(kappa) about (u0, e sqrt(2 g h)) / s1, given n1 points up
    first flight             v1 = s1 n1 = (u1, w1), t1 = 2 w1 / g, p1 = u1 t1
    second flight            s2^2 = |u1|^2 + e^2 w1^2, n2 ~ vMF(kappa) about (u1, e w1) / s2, ...

and what is observed is r = T2 / T1, P1, P2 with independent errors of each bounce's time (sd
time_sd) and position (sd position_sd per axis). The features of Eqs. 5, 7 and 8 hold r,
|P1|, |P2| and the angle between them; the common azimuth carries no information, so P1 is laid
along x.

The likelihood is the integral over (p1, u0, n2). n2's azimuth is integrated in closed form (a
Bessel function), its height by Gauss-Legendre inside the window that times and positions leave,
and (p1, u0), four dimensions, by randomised quasi-Monte Carlo from the law's own linear-Gaussian
approximation, so that the weights are nearly constant. Flat and steep flights that reach the
same p1 are both counted. All in double precision; absolute times are not used.
"""

import math
from dataclasses import dataclass, fields

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.probability import half_spaces, von_mises_fisher
from ricochet.models.systems.bouncing_ball.calibration import second_flight
from ricochet.models.systems.bouncing_ball.calibration.second_flight import (
    Columns,
    Points,
)
from ricochet.models.systems.bouncing_ball.problem import HORIZONTAL_SD

_FLAT_LIMIT = 200.0
_BLOCK = 1 << 16  # numbers per temporary: half a megabyte, so that they stay in the cache


@dataclass(frozen=True)
class DropFeatures:
    """Four features of each drop (Eqs. 5, 7, 8) and the noise they were measured with.

    Attributes:
        ratio: t2 / t1.
        first_distance, second_distance: Horizontal, from bounce 1 to 2 and from 2 to 3, m.
        turn: Signed angle between the two, rad.
        time_sd, position_sd: Of one bounce's time, s, and place per axis, m; positive.
        height: Height of world, m; positive.
    """

    ratio: Float[Tensor, " drop"]
    first_distance: Float[Tensor, " drop"]
    second_distance: Float[Tensor, " drop"]
    turn: Float[Tensor, " drop"]
    time_sd: Float[Tensor, " drop"]
    position_sd: Float[Tensor, " drop"]
    height: Float[Tensor, " drop"]


@dataclass(frozen=True)
class World:
    """What all drops share: sd of the horizontal start speed per axis, m/s, and gravity, m/s^2."""

    horizontal_sd: float = HORIZONTAL_SD
    gravity: float = GRAVITY


@dataclass(frozen=True)
class Quadrature:
    """Size of the integration: points over (p1, u0), a power of two, and nodes over the height."""

    points: int = 128
    heights: int = 12
    seed: int = 20


def log_likelihood(
    features: DropFeatures,
    restitution: Float[Tensor, " point"],
    concentration: Float[Tensor, " point"],
    *,
    world: World | None = None,
    quadrature: Quadrature | None = None,
) -> Float[Tensor, "drop point"]:
    """Evaluate the log density of each drop's features at each parameter point.

    The density is with respect to (r, P1, P2) with P1's azimuth fixed: it differs from that of
    (r, d1, d2, turn) by a factor that does not depend on the parameters.

    Args:
        restitution, concentration: In (0, 1], and positive and finite.

    Returns:
        Log density, -inf where the law cannot produce the features.

    Raises:
        ValueError: If a noise level is not positive, or a feature is not finite.
    """
    world = world or World()
    quadrature = quadrature or Quadrature()
    check(features)
    kappa = concentration.double()
    points = Points(restitution.double()[:, None], kappa[:, None], half_spaces.table(kappa))
    nodes = _normal_nodes(len(features.ratio), quadrature)
    rule = tuple(map(torch.from_numpy, np.polynomial.legendre.leggauss(quadrature.heights)))
    result = torch.empty(len(features.ratio), len(restitution), dtype=torch.float64)
    size = quadrature.points * quadrature.heights
    wide = max(1, min(len(restitution), _BLOCK // size))
    deep = max(1, _BLOCK // (size * wide))
    for first in range(0, len(features.ratio), deep):
        drops = slice(first, first + deep)
        chosen = _drops(features, drops)
        for start in range(0, len(restitution), wide):
            part = slice(start, start + wide)
            result[drops, part] = _block(
                chosen, points.rows(part), nodes[drops], (rule[0], rule[1]), world
            )
    return result


def check(features: DropFeatures) -> None:
    """Refuse drops without a density: a noise level not positive, or a feature not finite."""
    for name in ("time_sd", "position_sd", "height"):
        if not bool((getattr(features, name) > 0).all()):
            raise ValueError(f"{name} must be positive")
    for name in ("ratio", "first_distance", "second_distance", "turn"):
        if not bool(torch.isfinite(getattr(features, name)).all()):
            raise ValueError(f"{name} holds a value that is not finite")


def _drops(features: DropFeatures, rows: slice) -> Columns:
    ratio, first, second, turn, time_sd, position_sd, height = (
        getattr(features, field.name)[rows].double()[:, None, None] for field in fields(features)
    )
    return Columns(
        ratio=ratio,
        first=first,
        second=(second * torch.cos(turn), second * torch.sin(turn)),
        ratio_spread=torch.sqrt(1 + (1 + ratio) ** 2 + ratio**2) * time_sd,
        position_variance=position_sd**2,
        height=height,
    )


def _normal_nodes(drops: int, quadrature: Quadrature) -> Float[Tensor, "drop node 4"]:
    """Draw one randomly shifted Sobol set per drop, mapped to standard normals."""
    sobol = torch.quasirandom.SobolEngine(4, scramble=True, seed=quadrature.seed)
    unit = sobol.draw(quadrature.points, dtype=torch.float64)
    draw = torch.Generator().manual_seed(quadrature.seed)
    shift = torch.rand(drops, 1, 4, generator=draw, dtype=torch.float64)
    shifted = torch.remainder(unit + shift, 1.0).clamp(1e-12, 1 - 1e-12)
    return torch.special.ndtri(shifted)


def _block(
    drops: Columns,
    points: Points,
    nodes: Float[Tensor, "drop node 4"],
    rule: tuple[Tensor, Tensor],
    world: World,
) -> Float[Tensor, "drop point"]:
    p1, u0, log_weight = _propose(drops, points, nodes[:, None], world)
    log_weight = log_weight + _log_isotropic(
        p1[0] - drops.first, p1[1], 2 * drops.position_variance
    )
    start = torch.tensor(world.horizontal_sd**2, dtype=torch.float64)
    log_weight = log_weight + _log_isotropic(u0[0], u0[1], start)
    steep = _branch(drops, points, p1, u0, rule, world, flat=False)
    total = torch.logsumexp(log_weight + steep, -1)
    low = points.kappa[:, 0] < _FLAT_LIMIT  # a flat flight needs a turn of 45 degrees at bounce 1
    if bool(low.any()):
        p1, u0 = (p1[0][:, low], p1[1][:, low]), (u0[0][:, low], u0[1][:, low])
        flat = _branch(drops, points.rows(low), p1, u0, rule, world, flat=True)
        flat = torch.logsumexp(log_weight[:, low] + flat, -1)
        total[:, low] = torch.logaddexp(total[:, low], flat)
    return total - math.log(nodes.shape[1])


def _log_isotropic(x: Tensor, y: Tensor, variance: Tensor) -> Tensor:
    return -(x**2 + y**2) / (2 * variance) - torch.log(2 * math.pi * variance)


def _propose(
    drop: Columns, points: Points, nodes: Float[Tensor, "drop 1 node 4"], world: World
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor], Tensor]:
    """Draw (p1, u0) from the linear-Gaussian approximation of the law given P1 and P2.

    Returns:
        p1 (m) and u0 (m/s) as x and y, each (drop, point, node), and minus their log density.
    """
    scale = 2 * world.gravity * drop.height * points.e**2
    start, kick = world.horizontal_sd**2, scale / points.kappa
    # of u1, the share start / (start + kick) is u0, whose square s1^2 has beyond 2 g h e^2
    turned = 1 - (start / (start + kick)) ** 2
    steep = 1 - turned * (world.gravity * drop.first / scale) ** 2
    t1 = 2 * torch.sqrt(scale * 0.5 * (1 + steep.clamp(min=0).sqrt())) / world.gravity
    t2 = drop.ratio * t1
    a, b, c = t1**2 * (start + kick), t1 * t2 * (start + kick), t2**2 * (start + 2 * kick)
    noise = drop.position_variance
    ma, mb, mc = a + 2 * noise, b - noise, c + 2 * noise  # covariance of (P1, P2) per axis
    determinant = ma * mc - mb**2
    g1, g2 = (a * mc - b * mb) / determinant, (b * ma - a * mb) / determinant
    variance = (a - g1 * a - g2 * b).clamp(min=1e-14) * 1.1
    centre = (g1 * drop.first + g2 * drop.second[0], g2 * drop.second[1])
    within = _within_reach(centre, variance, scale / (world.gravity * turned.sqrt()))
    x1 = within * centre[0] + variance.sqrt() * nodes[..., 0]
    y1 = within * centre[1] + variance.sqrt() * nodes[..., 1]
    precision = 1 / start + 1 / kick
    share = (1 / kick) / precision / t1
    spread = (1.1 / precision).sqrt()
    x0, y0 = share * x1 + spread * nodes[..., 2], share * y1 + spread * nodes[..., 3]
    log_density = -0.5 * (nodes**2).sum(-1) - torch.log(4 * math.pi**2 * variance * spread**2)
    return (x1, y1), (x0, y0), -log_density


def _within_reach(centre: tuple[Tensor, Tensor], variance: Tensor, reach: Tensor) -> Tensor:
    """Return the factor that draws p1's proposal back to where a flight can land.

    A flight lands at most s1^2 / g away; a place measured beyond that must be drawn from inside.
    """
    length = torch.sqrt(centre[0] ** 2 + centre[1] ** 2).clamp(min=1e-12)
    return ((reach - 0.5 * variance.sqrt()).clamp(min=0) / length).clamp(max=1.0)


def _branch(
    drop: Columns,
    points: Points,
    p1: tuple[Tensor, Tensor],
    u0: tuple[Tensor, Tensor],
    rule: tuple[Tensor, Tensor],
    world: World,
    *,
    flat: bool,
) -> Float[Tensor, "drop point node"]:
    """Log of (density of p1 given u0) x (integral over the second flight), one branch of p1."""
    g, e, kappa = world.gravity, points.e, points.kappa
    fall2 = 2 * g * drop.height * e**2
    s1_squared = u0[0] ** 2 + u0[1] ** 2 + fall2
    q1_squared = p1[0] ** 2 + p1[1] ** 2
    root = s1_squared**2 - g**2 * q1_squared
    reachable = root > 0
    root = root.clamp(min=1e-30).sqrt()  # s1^2 |cos 2 beta|
    w1 = (0.5 * (s1_squared - root if flat else s1_squared + root)).clamp(min=1e-12).sqrt()
    scale = 0.5 * g / w1
    u1 = (p1[0] * scale, p1[1] * scale)
    along = (u0[0] * u1[0] + u0[1] * u1[1] + fall2.sqrt() * w1) / s1_squared
    upward = points.upward.at((fall2 / s1_squared).sqrt())
    first = von_mises_fisher.log_density(1 - along, kappa) - upward
    # d(direction) / d(p1) = g^2 / (4 s1^4 cos(beta) |cos(2 beta)|)
    jacobian = torch.log(g**2 / (4 * s1_squared.sqrt() * w1 * root))
    second = second_flight.log_density(drop, points, p1, u1, w1, rule, g)
    return torch.where(reachable, first + jacobian + second, -torch.inf)
