"""Exact joint posterior of restitution and concentration, given any number of drops.

    p(theta | X_1 .. X_n)  proportional to  p(theta) prod_i p(X_i | theta),

the honest form of the product of Sec. 4.2 of Matl et al.: the prior enters once, and each factor is
the exact likelihood of `likelihood`, so no error of a fitted density can add up over the drops. The
factors of one session share the error of its height of release, which is integrated out
(`height_marginal`). The density lives on a grid (`grid_densities`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.core.rows import Rows
from ricochet.models.core.threads import one_thread
from ricochet.models.inference import grid_densities, window_search
from ricochet.models.inference.grid_densities import GridDensity, LogDensity, Window
from ricochet.models.systems.bouncing_ball.calibration import (
    height_marginal,
    likelihood,
)
from ricochet.models.systems.bouncing_ball.calibration.likelihood import (
    DropFeatures,
    Quadrature,
    World,
)
from ricochet.models.systems.bouncing_ball.features import Features
from ricochet.models.systems.bouncing_ball.problem import PRIOR, REFERENCE_HEIGHT, Noise, Release
from ricochet.models.systems.bouncing_ball.restitution import point_estimate

_ROUGH = Quadrature(points=16, heights=6)
_SCAN = Quadrature(points=32, heights=8)
_DOUBT = 40.0  # nats that one drop may speak against a point in the search; over twice its depth
_FEW = Quadrature(points=128, heights=12)
_MANY = Quadrature(points=32, heights=10)
_CAREFUL = Quadrature(points=256, heights=10)
_CAREFUL_SEARCH = Quadrature(points=64, heights=6)
_BOUNDS = np.array([PRIOR.low, PRIOR.high])
_EMPTY = 60.0  # nats below the peak of a scan, where a density has no mass: it may be off by half
_QUANTILES = (0.01, 0.25, 0.5, 0.75, 0.99)
_SEVERAL = 5  # drops from which on no second mode is looked for: they agree on one
_COLUMNS_OF_A_MODE, _COLUMNS = 12, (13, 257)
_ROUGH_SURFACE = 1.4  # log10 concentration below which many flights end near the longest range
_FINER = 1024  # nodes for drops that are hard to integrate
_TOLERANCE = 0.15  # nats between two sets of nodes, above which a drop is integrated more finely
_SMALLEST_TIME_SD = 2e-5  # s, m at the reference height: the integration is proved down to here
_SMALLEST_POSITION_SD = 5e-4


@dataclass(frozen=True)
class _Part(Rows):
    """Some drops, what they share, and the size of their integration."""

    drops: DropFeatures
    release: Release
    rule: Quadrature

    def at(self, theta: ndarray, shift: float = 0.0) -> Float[ndarray, "drop point"]:
        """Log likelihoods, the height's error being `shift` standard deviations."""
        height = self.release.height * (shift * self.release.relative_sd).exp()
        world = World(horizontal_sd=self.release.horizontal_sd)
        return log_likelihood(replace(self.drops, height=height), theta, self.rule, world)


@one_thread()
def posterior(
    features: Features, noise: Noise, release: Release, *, quadrature: Quadrature | None = None
) -> GridDensity:
    """Return the exact posterior of all the drops together, on a grid that its mass fills.

    Args:
        noise: Below 20 us or 0.5 mm, brought to the reference height, it is taken as that much.
        quadrature: Size of the integration of each drop's likelihood; by default smaller the more
            drops there are, since their integration errors are independent.

    Raises:
        ValueError: If a feature is not finite or there is no drop.
    """
    release = replace(release, session=release.session.unique(return_inverse=True)[1])
    drops = _Part(joined(features, noise, release), release, _ROUGH)
    count = len(drops.drops.ratio)
    if count == 0:
        raise ValueError("features holds no drop")
    likelihood.check(drops.drops)
    start, exact = _start(features, noise, release), _FEW if count < 10 else _MANY
    window = _window(drops, start)
    if np.mean(window.rows) < _ROUGH_SURFACE:  # drops near the longest range need care
        window, exact = _window(replace(drops, rule=_CAREFUL_SEARCH), start), _CAREFUL
    usual = replace(drops, rule=quadrature or exact)
    if count < _SEVERAL and (wide := _joined_modes(drops, window)) is not None:
        return _tabulated_modes(usual, wide, window)
    return _tabulated(usual, window)


def _tabulated(usual: _Part, window: Window) -> GridDensity:
    """Tabulate the posterior, the error of each session's height integrated out."""
    parts = _refined(usual, _probes(window))
    stated, rough = partial(_as_stated, parts), partial(_as_stated, [usual])
    largest = float(usual.release.relative_sd.max())
    if largest == 0.0:
        return grid_densities.tabulate(stated, window, _BOUNDS, rough=rough)
    window = height_marginal.widened(window, largest, _BOUNDS)
    gain = height_marginal.interpolated(partial(_by_session, parts, usual.release), window)
    return grid_densities.tabulate(
        lambda theta: stated(theta) + gain(theta),
        window,
        _BOUNDS,
        rough=lambda theta: rough(theta) + gain(theta),
    )


def _tabulated_modes(usual: _Part, wide: Window, narrow: Window) -> GridDensity:
    """Tabulate a posterior of several modes, in columns that show the narrowest.

    Between the modes, where a scan finds next to no mass, nothing finer is evaluated.
    """
    finest = (narrow.high - narrow.low).min() / _COLUMNS_OF_A_MODE
    columns = int(np.clip((wide.high - wide.low).max() / finest, *_COLUMNS))
    largest = float(usual.release.relative_sd.max())
    if largest > 0.0:
        wide = height_marginal.widened(wide, largest, _BOUNDS)
    theta = wide.points(columns).reshape(-1, 2)
    rough = replace(usual, rule=_SCAN).at(theta).sum(0)
    near = rough > rough.max() - _EMPTY
    values = np.full(len(theta), -np.inf)
    parts = _refined(usual, _typical(theta, rough))
    values[near] = _averaged(parts, usual.release)(theta[near])
    return grid_densities.interpolate(lambda _: values, wide, columns)


def _averaged(parts: list[_Part], release: Release) -> LogDensity:
    """Return the log likelihood of few drops, each session's height integrated out."""
    if float(release.relative_sd.max()) == 0.0:
        return partial(_as_stated, parts)
    return height_marginal.averaged(partial(_by_session, parts, release))


def _typical(
    theta: Float[ndarray, "point 2"], log_mass: Float[ndarray, " point"]
) -> Float[ndarray, "probe 2"]:
    """Choose points at quantiles of restitution: no mode of one per cent is without one."""
    order = np.argsort(theta[:, 0])
    mass = np.cumsum(np.exp(log_mass[order] - log_mass.max()))
    return theta[order[np.searchsorted(mass / mass[-1], _QUANTILES)]]


def _as_stated(parts: list[_Part], theta: Float[ndarray, "point 2"]) -> Float[ndarray, " point"]:
    """Log likelihood of all drops, the heights being those stated."""
    return sum((part.at(theta).sum(0) for part in parts), start=np.zeros(len(theta)))


def _by_session(
    parts: list[_Part], release: Release, theta: Float[ndarray, "point 2"], shifts: Sequence[float]
) -> Float[ndarray, "shift session point"]:
    """Log likelihood of each session, its height off by so many standard deviations."""
    total = np.zeros((len(shifts), int(release.session.max()) + 1, len(theta)))
    for part in parts:
        for row, shift in zip(total, shifts, strict=True):
            np.add.at(row, part.release.session.numpy(), part.at(theta, shift))
    return total


def _joined_modes(drops: _Part, window: Window) -> Window | None:
    drops = replace(drops, rule=_SCAN)
    return window_search.joined_modes(lambda theta: drops.at(theta).sum(0), window, _BOUNDS)


def _window(drops: _Part, start: tuple[float, float]) -> Window:
    """Find where the drops' posterior lives, by a cheap integration at the stated height.

    No drop rules out a point alone, as few nodes may miss what its law allows.
    """

    def log_density(theta: Float[ndarray, "point 2"]) -> Float[ndarray, " point"]:
        rows = drops.at(theta)
        return np.maximum(rows, rows.max(1, keepdims=True) - _DOUBT).sum(0)

    few = len(drops.drops.ratio) < 10
    return window_search.locate(log_density, start, _BOUNDS, rows=17 if few else 13)


def _probes(window: Window) -> Float[ndarray, "point 2"]:
    """Three points along the window's middle."""
    rows = np.quantile(window.rows, [0.25, 0.5, 0.75])
    here = grid_densities.at_rows(window, rows)
    return np.stack([0.5 * (here.low + here.high), rows], axis=-1)


def _refined(drops: _Part, probes: Float[ndarray, "point 2"]) -> list[_Part]:
    """Split the drops by how many nodes they need.

    A drop needs more where two independent sets of nodes disagree at any of the probes.
    """
    hard = _disagrees(drops, probes)
    finer = replace(drops.rule, points=max(drops.rule.points, _FINER))
    parts = drops.rows(~hard), replace(drops.rows(hard), rule=finer)
    return [part for part in parts if len(part.drops.ratio)]


def _disagrees(drops: _Part, probes: Float[ndarray, "point 2"]) -> Bool[ndarray, " drop"]:
    other = replace(drops, rule=replace(drops.rule, seed=drops.rule.seed + 1))
    with np.errstate(invalid="ignore"):
        return ~(np.abs(drops.at(probes) - other.at(probes)) < _TOLERANCE).all(1)


def log_likelihood(
    drops: DropFeatures,
    theta: Float[ndarray, "point 2"],
    quadrature: Quadrature,
    world: World | None = None,
) -> Float[ndarray, "drop point"]:
    """Evaluate each drop's log likelihood at rows of (restitution, log10 concentration)."""
    points = torch.from_numpy(np.ascontiguousarray(theta))
    rows = likelihood.log_likelihood(
        drops, points[:, 0], 10.0 ** points[:, 1], world=world, quadrature=quadrature
    )
    return rows.numpy()


def joined(features: Features, noise: Noise, release: Release) -> DropFeatures:
    """Put features, noise and height side by side, in double precision, one row a drop."""

    def column(values: Tensor) -> Tensor:
        return values.double().reshape(-1)

    height = column(release.height.expand(features.ratio.shape))
    scale = height / REFERENCE_HEIGHT
    return DropFeatures(
        ratio=column(features.ratio),
        first_distance=column(features.first_distance),
        second_distance=column(features.second_distance),
        turn=column(features.turn),
        time_sd=torch.maximum(column(noise.time_sd), _SMALLEST_TIME_SD * scale.sqrt()),
        position_sd=torch.maximum(column(noise.position_sd), _SMALLEST_POSITION_SD * scale),
        height=height,
    )


def _start(features: Features, noise: Noise, release: Release) -> tuple[float, float]:
    """Choose a first interval of restitution by the speed equation, robustly over the drops."""
    point = point_estimate(features, noise, release)
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
