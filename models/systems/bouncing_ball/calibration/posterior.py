"""Exact joint posterior of restitution and concentration, given any number of drops.

    p(theta | X_1 .. X_n)  proportional to  p(theta) prod_i p(X_i | theta),

the honest form of the product of Sec. 4.2 of Matl et al.: the prior enters once, and each factor
is the exact likelihood of `models.systems.bouncing_ball.calibration.likelihood`, so no error of a
fitted density can add up over the drops. The density lives on a grid
(`models.inference.grid_densities`).
"""

from dataclasses import fields, replace

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.inference import grid_densities, window_search
from ricochet.models.inference.grid_densities import GridDensity, LogDensity, Window
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import likelihood, network_features
from ricochet.models.systems.bouncing_ball.calibration.likelihood import (
    DropFeatures,
    Quadrature,
    Release,
)
from ricochet.models.systems.bouncing_ball.problem import PRIOR, Features, Noise

RELEASE = Release(problem.DROP_HEIGHT, problem.HORIZONTAL_SD, GRAVITY)
_ROUGH = Quadrature(points=16, heights=6)
_DOUBT = 40.0  # nats that one drop may speak against a point in the search; over twice its depth
_FEW = Quadrature(points=128, heights=12)
_MANY = Quadrature(points=32, heights=10)
_CAREFUL = Quadrature(points=256, heights=10)
_ROUGH_SURFACE = 1.4  # log10 concentration below which many flights end near the longest range
_FINER = (1024, 4096)  # nodes for drops that are hard to integrate, and for those that stay hard
_TOLERANCE = 0.15  # nats between two sets of nodes, above which a drop is integrated more finely
_SMALLEST_TIME_SD = 2e-5  # s, m: the integration is proved down to here
_SMALLEST_POSITION_SD = 5e-4


def posterior(
    features: Features, noise: Noise, *, quadrature: Quadrature | None = None
) -> GridDensity:
    """Return the exact posterior of all the drops together.

    Args:
        features: The four features of each drop, shape (drop,).
        noise: The measurement noise of each drop, shape (drop,). Below 20 us or 0.5 mm it
            is taken as that much.
        quadrature: Size of the integration of each drop's likelihood; by default smaller the more
            drops there are, since their integration errors are independent.

    Returns:
        The posterior under the uniform prior, on a grid that its mass fills.

    Raises:
        ValueError: If a feature is not finite or there is no drop.
    """
    drops = joined(features, noise)
    if len(drops.ratio) == 0:
        raise ValueError("features holds no drop")
    likelihood.check(drops)
    few = len(drops.ratio) < 10
    start, exact = _start(features, noise), _FEW if few else _MANY
    window = _window(drops, start, _ROUGH)
    if np.mean(window.rows) < _ROUGH_SURFACE:  # drops near the longest range need care
        window, exact = _window(drops, start, _CAREFUL), _CAREFUL
    bounds = np.array([PRIOR.low, PRIOR.high])
    return grid_densities.tabulate(
        _refined(drops, quadrature or exact, _probes(window)), window, bounds
    )


def _window(drops: DropFeatures, start: tuple[float, float], quadrature: Quadrature) -> Window:
    """Find where the drops' posterior lives, by a cheap integration.

    No drop rules out a point alone, as few nodes may miss what its law allows.
    """

    def log_density(theta: Float[ndarray, "point 2"]) -> Float[ndarray, " point"]:
        rows = log_likelihood(drops, theta, quadrature)
        return np.maximum(rows, rows.max(1, keepdims=True) - _DOUBT).sum(0)

    bounds = np.array([PRIOR.low, PRIOR.high])
    return window_search.locate(
        log_density, start, bounds, rows=17 if len(drops.ratio) < 10 else 13
    )


def _probes(window: Window) -> Float[ndarray, "point 2"]:
    """Three points along the window's middle."""
    rows = np.quantile(window.rows, [0.25, 0.5, 0.75])
    here = grid_densities.at_rows(window, rows)
    return np.stack([0.5 * (here.low + here.high), rows], axis=-1)


def _refined(drops: DropFeatures, quadrature: Quadrature, probes: ndarray) -> LogDensity:
    """Return the summed log likelihood, with more nodes for the drops that need them.

    A drop needs them where two independent sets of nodes disagree at any of the probes.
    """
    parts = []
    for points in _FINER:
        hard = _disagrees(drops, quadrature, probes)
        parts.append((_rows(drops, ~hard), quadrature))
        drops = _rows(drops, hard)
        quadrature = replace(quadrature, points=max(quadrature.points, points))
    parts.append((drops, quadrature))

    def total(theta: Float[ndarray, "point 2"]) -> Float[ndarray, " point"]:
        return sum(
            (log_likelihood(some, theta, rule).sum(0) for some, rule in parts),
            start=np.zeros(len(theta)),
        )

    return total


def _disagrees(
    drops: DropFeatures, quadrature: Quadrature, probes: ndarray
) -> Bool[ndarray, " drop"]:
    other = replace(quadrature, seed=quadrature.seed + 1)
    one, two = (log_likelihood(drops, probes, rule) for rule in (quadrature, other))
    with np.errstate(invalid="ignore"):
        return ~(np.abs(one - two) < _TOLERANCE).all(1)


def _rows(drops: DropFeatures, keep: ndarray) -> DropFeatures:
    chosen = torch.from_numpy(keep)
    return DropFeatures(**{f.name: getattr(drops, f.name)[chosen] for f in fields(drops)})


def log_likelihood(
    drops: DropFeatures, theta: Float[ndarray, "point 2"], quadrature: Quadrature
) -> Float[ndarray, "drop point"]:
    """Evaluate each drop's log likelihood at rows of (restitution, log10 concentration)."""
    points = torch.from_numpy(np.ascontiguousarray(theta))
    rows = likelihood.log_likelihood(
        drops, points[:, 0], 10.0 ** points[:, 1], release=RELEASE, quadrature=quadrature
    )
    return rows.numpy()


def joined(features: Features, noise: Noise) -> DropFeatures:
    """Put features and noise side by side, in double precision, one row a drop."""

    def column(values: Tensor) -> Tensor:
        return values.double().reshape(-1)

    return DropFeatures(
        ratio=column(features.ratio),
        first_distance=column(features.first_distance),
        second_distance=column(features.second_distance),
        turn=column(features.turn),
        time_sd=column(noise.time_sd).clamp(min=_SMALLEST_TIME_SD),
        position_sd=column(noise.position_sd).clamp(min=_SMALLEST_POSITION_SD),
    )


def _start(features: Features, noise: Noise) -> tuple[float, float]:
    """Choose a first interval of restitution by the speed equation, robustly over the drops."""
    point = network_features.point_estimate(features, noise)
    estimates = (point.restitution + point.start_shift).double().reshape(-1)
    errors = torch.hypot(point.noise_sd, point.start_shift).double().reshape(-1).clamp(min=1e-6)
    weight = 1 / errors
    centre = _weighted_median(estimates, weight)
    scatter = _weighted_median((estimates - centre).abs(), weight)
    reach = max(12 * float((weight**2).sum() ** -0.5), 8 * scatter / len(errors) ** 0.5, 1e-3)
    centre = float(np.clip(centre, PRIOR.low[0] + reach / 2, PRIOR.high[0] - reach / 2))
    low = max(centre - reach, PRIOR.low[0])
    high = min(centre + reach, PRIOR.high[0])
    return low, high


def _weighted_median(values: Float[Tensor, " drop"], weight: Float[Tensor, " drop"]) -> float:
    order = torch.argsort(values)
    below = torch.cumsum(weight[order], 0) / weight.sum()
    return float(values[order[int(torch.searchsorted(below, 0.5))]])
