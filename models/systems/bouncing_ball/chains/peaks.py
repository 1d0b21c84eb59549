"""Maxima of a posterior density, and the curvature there, by damped steps of Newton.

About a point the log density is nearly quadratic. With f_i and f_ij its values a step h along one
and two columns of a basis, theta = point + basis z,

    g_i = (f_i - f_-i) / 2h,    H_ii = (2 f - f_i - f_-i) / h^2,
    H_ij = (f_i + f_j - f - f_ij) / h^2,

and the best of some points z = (H + m I)^-1 g, m being the damping (Levenberg 1944), is the next
one. At first the basis holds a scale of each coordinate; then the axes along which the density
falls, in which mixed terms hardly matter. The paths at the ends of the differences also tell how
paths move with the coordinates, from where the search for them starts everywhere else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains import parameters, preparation
from ricochet.models.systems.bouncing_ball.chains.log_density import FAR, Density
from ricochet.models.systems.bouncing_ball.chains.observations import Chains
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior

_CURVATURES = (0.05, 20.0)  # in units in which it should be about 1
_STEP = 1.0  # of differences, in columns of the basis
_FIRST_SCALE = np.array([1e-4, *[0.1] * (len(parameters.NAMES) - 1)])
_BEYOND = np.array([0.04, 0.6])  # the prior's box, where a maximum is at its edge
_LONGEST = 1.0  # that columns grow
_MOST_STEPS, _MOST_SCALES = 25, 3
_DAMPINGS = np.array([0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0])
_NEAR, _CLOSE = 0.3, 0.02  # nats that another step would gain
_ROUGHLY = 0.01  # nats by which paths may miss the most likely ones on the way
_STRAIGHT = 3.0  # nats that a step gains after which mixed curvatures are what they were
_PROMISING = 10.0  # nats that a last search may gain


@dataclass(frozen=True)
class Mode:
    """A maximum of the posterior density.

    Attributes:
        density: With paths and their slopes about its point.
        covariance: Inverse of the curvature there, of the free coordinates.
        log_evidence: By Laplace's rule.
        height: Log density there.
    """

    density: Density
    covariance: Float[ndarray, "free free"]
    log_evidence: float
    height: float


@dataclass(frozen=True)
class _Quadratic:
    """The log density about a point, in units of a basis.

    Attributes:
        density: With paths and slopes about the point.
        ahead, behind: Values a step along each column.
        correlation: Mixed curvatures over the roots of both simple ones.
    """

    density: Density
    basis: Float[ndarray, "free free"]
    height: float
    ahead: Float[ndarray, " free"]
    behind: Float[ndarray, " free"]
    correlation: Float[ndarray, "free free"]

    @property
    def gradient(self) -> Float[ndarray, " free"]:
        """The derivatives along the columns."""
        return (self.ahead - self.behind) / (2.0 * _STEP)

    @property
    def simple(self) -> Float[ndarray, " free"]:
        """The simple curvatures."""
        return (2.0 * self.height - self.ahead - self.behind) / _STEP**2

    @property
    def root(self) -> Float[ndarray, " free"]:
        """The roots of the simple curvatures, none too small."""
        return np.sqrt(np.maximum(self.simple, _CURVATURES[0]))

    @property
    def axes(self) -> tuple[Float[ndarray, " free"], Float[ndarray, "free free"]]:
        """Curvatures, none too small or too great, along orthogonal directions, and these."""
        size, axes = np.linalg.eigh(self.root[:, None] * self.correlation * self.root)
        return np.clip(size, *_CURVATURES), axes

    @property
    def promise(self) -> float:
        """What an undamped step would gain, nats."""
        size, axes = self.axes
        return float(0.5 * ((axes.T @ self.gradient) ** 2 / size).sum())

    @property
    def whitened(self) -> Float[ndarray, "free free"]:
        """The basis of the axes, in which curvatures are one."""
        size, axes = self.axes
        return self.basis @ (axes / np.sqrt(size))


def find(
    chains: Sequence[Chains],
    prior: Prior,
    start: Float[ndarray, " parameter"],
    *,
    least: float = -np.inf,
) -> Mode | None:
    """Return the maximum that Newton's steps find from a start.

    Args:
        least: None is returned, soon, where the log density there is about less than this.
    """
    margin = 0.05 * prior.spread
    start = np.clip(start, prior.bounds[0] + margin, prior.bounds[1] - margin)
    groups, paths = preparation.prepare(chains, prior.law, parameters.values(start[None]))
    basis = np.diag(_FIRST_SCALE[prior.free])
    wider = replace(prior, margin=_BEYOND)
    density = Density(groups, paths, wider, start, enough=_ROUGHLY)
    found = _climbed(_quadratic(density, basis), _NEAR)
    if found.height < least - _PROMISING:
        return None
    density = _prepared(found.density)  # with what the integration allows for there
    found = _climbed(_quadratic(density, found.whitened, np.eye(len(basis))), _CLOSE)
    basis = replace(found, correlation=_correlation(found, (1.0, -1.0))).whitened
    covariance = _within(basis @ basis.T, prior.spread[prior.free])
    volume = 0.5 * float(np.linalg.slogdet(2.0 * np.pi * covariance)[1])
    density = replace(found.density, prior=prior)
    return Mode(density, covariance, found.height + volume, found.height)


def _within(
    covariance: Float[ndarray, "free free"], spread: Float[ndarray, " free"]
) -> Float[ndarray, "free free"]:
    """Return the covariance, along no direction wider than the prior's."""
    size, axes = np.linalg.eigh(covariance / np.outer(spread, spread))
    whole = spread[:, None] * axes * np.sqrt(np.minimum(size, 1.0))
    return np.asarray(whole @ whole.T)


def _prepared(density: Density) -> Density:
    values = parameters.values(density.point[None])
    groups, paths = preparation.anew(density.groups, values, density.paths)
    return Density(groups, paths, density.prior, density.point)


def _climbed(here: _Quadratic, close: float) -> _Quadratic:
    """Take steps until another would gain little, or none gains anything, or from nowhere none."""
    for _ in range(_MOST_STEPS):
        if here.height <= FAR or here.promise < close:
            break
        size, axes = here.axes
        moves = (axes.T @ here.gradient / (size + _DAMPINGS[:, None])) @ axes.T
        tried = _points(here.density, here.basis, moves)
        values, paths = here.density.evaluated(tried)
        best = int(np.argmax(values))
        gained = values[best] - here.height
        if gained <= 0.0:
            break
        density = replace(here.density, point=tried[best], paths=paths.rows(np.array([best])))
        known = here.correlation if gained < _STRAIGHT else None
        here = _quadratic(density, here.basis, known)
    return here


def _quadratic(
    density: Density,
    basis: Float[ndarray, "free free"],
    correlation: Float[ndarray, "free free"] | None = None,
) -> _Quadratic:
    """Return the quadratic about a density's point, in columns so long that curvatures are near 1.

    Args:
        correlation: What is known of it; None where it must be found.
    """
    for number in range(_MOST_SCALES):
        found = _simple(density, basis)
        factor = 1.0 / np.sqrt(np.clip(found.simple, 1.0 / 9.0, 25.0))
        length = np.sqrt((basis**2).sum(0))
        factor = np.minimum(factor, np.maximum(_LONGEST / length, 1.0))
        if number == _MOST_SCALES - 1 or (np.abs(np.log(factor)) < 1.0).all():
            break
        density, basis = found.density, basis * factor
    if correlation is None:
        correlation = _correlation(found, (1.0,))
    return replace(found, correlation=correlation)


def _simple(density: Density, basis: Float[ndarray, "free free"]) -> _Quadratic:
    """Return the quadratic without mixed terms, and the slopes of the paths."""
    ones = np.eye(len(basis))
    tried = _points(density, basis, _STEP * np.concatenate((np.zeros_like(ones[:1]), ones, -ones)))
    values, paths = density.evaluated(tried)
    ahead, behind = np.split(np.arange(1, len(tried)), 2)
    along = paths.rows(ahead).less(paths.rows(behind), np.full(len(ones), 2.0 * _STEP))
    slopes = along.combined(np.linalg.inv(basis))
    density = replace(density, paths=paths.rows(np.array([0])), slopes=slopes)
    return _Quadratic(density, basis, float(values[0]), values[ahead], values[behind], ones)


def _correlation(here: _Quadratic, signs: Sequence[float]) -> Float[ndarray, "free free"]:
    """Return mixed curvatures over the roots of both simple ones, the mean over directions."""
    found = np.eye(len(here.basis))
    first, second = np.tril_indices(len(found), -1)
    mixed = np.zeros(len(first))
    for sign in signs:
        single = here.ahead if sign > 0.0 else here.behind
        steps = sign * _STEP * (found[first] + found[second])
        corner = here.density(_points(here.density, here.basis, steps))
        mixed += (single[first] + single[second] - here.height - corner) / _STEP**2 / len(signs)
    found[first, second] = found[second, first] = mixed / (here.root[first] * here.root[second])
    return found


def _points(
    density: Density, basis: Float[ndarray, "free free"], moves: Float[ndarray, "point free"]
) -> Float[ndarray, "point parameter"]:
    free = density.prior.free
    return at_free(density.point, free, density.point[free] + moves @ basis.T)


def at_free(start: ndarray, free: ndarray, chosen: ndarray) -> Float[ndarray, "point parameter"]:
    """Return points whose free coordinates are those chosen, and the others those of a start."""
    theta = np.repeat(start[None], len(chosen), 0)
    theta[:, free] = chosen
    return theta
