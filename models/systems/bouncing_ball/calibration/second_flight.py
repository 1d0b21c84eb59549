"""The second flight of the likelihood: the density of its time and place given the first.

With the letters of `likelihood`, y is the sin^2 of n2's polar angle: its azimuth is integrated in
closed form, y by Gauss-Legendre inside the window that times and positions leave.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.rows import Rows
from ricochet.models.probability import half_spaces, von_mises_fisher

_WINDOW = 5.0


@dataclass(frozen=True)
class Columns:
    """Some drops' numbers, each of shape (drop, 1, 1) against (drop, point, node)."""

    ratio: Tensor
    first: Tensor
    second: tuple[Tensor, Tensor]
    ratio_spread: Tensor
    position_variance: Tensor
    height: Tensor


@dataclass(frozen=True)
class Points(Rows):
    """Some parameter points, each of shape (point, 1), and their share of upward draws."""

    e: Tensor
    kappa: Tensor
    upward: half_spaces.Table


def log_density(
    drop: Columns,
    points: Points,
    p1: tuple[Tensor, Tensor],
    u1: tuple[Tensor, Tensor],
    w1: Tensor,
    rule: tuple[Tensor, Tensor],
    g: float,
) -> Float[Tensor, "drop point node"]:
    """Log density of (r, P2) given the first flight and P1: n2 integrated out."""
    e, kappa = points.e, points.kappa
    u1_squared = u1[0] ** 2 + u1[1] ** 2
    s2_squared = u1_squared + (e * w1) ** 2
    # P2 given P1: its error is half of minus P1's, plus 1.5 position_sd^2
    expected = (drop.second[0] + 0.5 * (drop.first - p1[0]), drop.second[1] - 0.5 * p1[1])
    variance = 1.5 * drop.position_variance
    ratio_sd = drop.ratio_spread * g / (2 * w1)
    low, high = _window(drop.ratio, ratio_sd, kappa, u1, w1, s2_squared, expected, variance, g)
    half = 0.5 * (high - low)
    y = (0.5 * (low + high))[..., None] + half[..., None] * rule[0]  # sin^2 of n2's polar angle
    cosine = (1 - y).clamp(min=1e-12).sqrt()
    s2 = s2_squared.sqrt()[..., None]
    u2, w2 = s2 * y.sqrt(), s2 * cosine
    q2 = 2 * u2 * w2 / g
    pull, push = q2 / variance[..., None], (kappa / s2_squared)[..., None] * u2
    bx = pull * expected[0][..., None] + push * u1[0][..., None]
    by = pull * expected[1][..., None] + push * u1[1][..., None]
    b = torch.sqrt(bx**2 + by**2)
    squared = expected[0] ** 2 + expected[1] ** 2
    exponent = (
        b
        - (q2**2 + squared[..., None]) / (2 * variance[..., None])
        + kappa[..., None] * ((e * w1 / s2_squared)[..., None] * w2 - 1)
        - 0.5 * ((w2 / w1[..., None] - drop.ratio[..., None]) / ratio_sd[..., None]) ** 2
    )
    integrand = torch.special.i0e(b) / (2 * cosine)  # dcos = dy / (2 cos)
    peak = exponent.amax(-1, keepdim=True)
    inner = (rule[1] * integrand * torch.exp(exponent - peak)).sum(-1)
    constant = von_mises_fisher.log_density(torch.zeros(()), kappa) - points.upward.at(
        e * w1 / s2_squared.sqrt()
    )
    constant = constant - torch.log(variance * math.sqrt(2 * math.pi) * ratio_sd)
    return torch.log(inner * half) + peak[..., 0] + constant


def _window(
    ratio: Tensor,
    ratio_sd: Tensor,
    kappa: Tensor,
    u1: tuple[Tensor, Tensor],
    w1: Tensor,
    s2_squared: Tensor,
    expected: tuple[Tensor, Tensor],
    variance: Tensor,
    g: float,
) -> tuple[Tensor, Tensor]:
    """Bounds of y = sin^2(beta2) between which the integrand lives."""
    stretch = w1**2 / s2_squared
    centre = 1 - stretch * ratio**2
    spread = 2 * stretch * ratio * ratio_sd
    t2 = 2 * ratio * w1 / g
    a, b = kappa / s2_squared, t2 / variance
    precision = a + b * t2
    mx = (a * u1[0] + b * expected[0]) / precision
    my = (a * u1[1] + b * expected[1]) / precision
    middle = (mx**2 + my**2) / s2_squared
    width = 2 * (middle / (precision * s2_squared)).sqrt() + 2 / (precision * s2_squared)
    weight = spread**2 / (spread**2 + width**2)
    centre = centre + weight * (middle - centre)
    reach = _WINDOW * width * weight.sqrt()
    low = (centre - reach).clamp(0.0, 1 - 1e-9)
    high = (centre + reach).clamp(1e-12, 1.0)
    return low, torch.maximum(high, low + 1e-12)
