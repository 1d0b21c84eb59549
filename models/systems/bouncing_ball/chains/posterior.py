"""The posterior of one member of the family: importance sampling about its most likely point.

The posterior density of theta, likelihood (`laplace`) times prior, is searched for its maximum by a
quasi-Newton method, and its curvature there gives a first Student's t law of five degrees of
freedom. Draws from it, weighed by the density, give mean and covariance of the next one; all draws
count, each weighed by the mixture of the laws drawn from (Cornuet et al. 2012, adaptive multiple
importance sampling). The mean weight is the member's evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import optimize, stats

from ricochet.models.systems.bouncing_ball.chains import laplace, parameters, preparation
from ricochet.models.systems.bouncing_ball.chains.least_squares import Group
from ricochet.models.systems.bouncing_ball.chains.observations import Chains
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior
from ricochet.models.systems.bouncing_ball.chains.paths import Paths

_FREEDOM = 5.0
_DRAWS = 200
_ROUNDS = 15
_ENOUGH = 200.0  # effective draws
_BATCH = 64
_FAR = -1e10
_CURVATURES = (0.05, 20.0)  # in units in which it should be about 1
_BETTER = 2.0  # nats by which a draw beats the peak that was found
_SEARCHES = 3
_FIRST_SCALE = np.array([1e-4, *[0.1] * (len(parameters.NAMES) - 1)])


@dataclass(frozen=True)
class Member:
    """The posterior of one law: weighted draws, and how well it explains the takes.

    Attributes:
        theta: Draws in the coordinates of `parameters`.
        weights: Of the draws; they sum to one.
        log_evidence: Log of the prior's mean likelihood.
        effective: Number of equally weighted draws that are worth as much.
        groups, paths: The takes as integrated, and their paths at the most likely point.
    """

    prior: Prior
    theta: Float[ndarray, "draw parameter"]
    weights: Float[ndarray, " draw"]
    log_evidence: float
    effective: float
    peak: Float[ndarray, " parameter"]
    groups: tuple[Group, ...]
    paths: Paths

    @property
    def mean(self) -> Float[ndarray, " parameter"]:
        """Posterior mean of every coordinate."""
        return np.asarray(self.weights @ self.theta)

    @property
    def covariance(self) -> Float[ndarray, "parameter parameter"]:
        """Posterior covariance of the coordinates."""
        centred = self.theta - self.mean
        return np.asarray((self.weights[:, None] * centred).T @ centred)

    def sample(self, count: int, *, draw: np.random.Generator) -> Float[ndarray, "draw parameter"]:
        """Return equally weighted draws."""
        return np.asarray(self.theta[draw.choice(len(self.theta), count, p=self.weights)])


def explain(
    chains: Sequence[Chains],
    prior: Prior,
    start: Float[ndarray, " parameter"],
    *,
    draw: np.random.Generator,
    least: float = -np.inf,
) -> Member:
    """Infer the parameters of one law from chains of bounces.

    Args:
        start: Coordinates near to the most likely ones.
        least: A law whose log evidence is about less than this is not sampled: its only draw is the
            most likely point.
    """
    margin = 0.05 * prior.spread
    start = np.clip(start, prior.bounds[0] + margin, prior.bounds[1] - margin)
    for _ in range(_SEARCHES):
        density, covariance, about = _approximated(chains, prior, start)
        if about < least:
            theta, weights, log_evidence = density.point[None], np.ones(1), about
            break
        theta, weights, logs, log_evidence = _sampled(density, covariance, draw)
        start = theta[np.argmax(logs)]
        if logs.max() < density(density.point[None])[0] + _BETTER:
            break
    effective = 1.0 / float((weights**2).sum())
    return Member(
        prior, theta, weights, log_evidence, effective, density.point, density.groups, density.paths
    )


def _approximated(
    chains: Sequence[Chains], prior: Prior, start: Float[ndarray, " parameter"]
) -> tuple["Density", Float[ndarray, "free free"], float]:
    """Return the density about its most likely point, the inverse of its curvature, and its norm.

    That is the log evidence by Laplace's rule.
    """
    peak, scale = start, _FIRST_SCALE[prior.free]
    for _ in range(2):  # once more with what the integration allows for at the peak
        values = parameters.values(peak[None])
        density = Density(*preparation.prepare(chains, prior.law, values), prior, peak)
        density = density.about(peak)
        scale = _scale(density, scale)
        peak = _peak(density, scale)
    density, covariance = _curved(density.about(peak), _scale(density.about(peak), scale))
    volume = 0.5 * np.linalg.slogdet(2.0 * np.pi * covariance)[1]
    return density, covariance, float(density(peak[None])[0] + volume)


@dataclass(frozen=True)
class Density:
    """The log posterior density of one law, but for its norm, and where to look for its paths.

    Attributes:
        paths: The most likely ones at a point, from which the search for all others starts.
        slopes: How the paths change from there with the free coordinates.
    """

    groups: tuple[Group, ...]
    paths: Paths
    prior: Prior
    point: Float[ndarray, " parameter"]
    slopes: Paths | None = None

    def __call__(self, theta: Float[ndarray, "point parameter"]) -> Float[ndarray, " point"]:
        """Return the log density of points; where none is found, a very low one."""
        return self.evaluated(theta)[0]

    def evaluated(
        self, theta: Float[ndarray, "point parameter"]
    ) -> tuple[Float[ndarray, " point"], Paths]:
        """Return it and the paths."""
        total = self.prior.log_density(theta)
        paths = self._starts(theta)
        for first in range(0, len(theta), _BATCH):
            part = np.flatnonzero(np.isfinite(total[first : first + _BATCH])) + first
            if len(part):
                values = parameters.values(theta[part])
                found = laplace.evidence(self.groups, values, paths.rows(part))
                total[part] += np.where(found.settled, found.log_likelihood, -np.inf)
                paths.put(part, found.paths)
        return np.where(np.isfinite(total), total, _FAR), paths

    def about(self, point: Float[ndarray, " parameter"]) -> "Density":
        """Return the density whose searches start from the paths of a point."""
        return replace(self, point=point, paths=self.evaluated(point[None])[1])

    def _starts(self, theta: Float[ndarray, "point parameter"]) -> Paths:
        paths = self.paths.repeated(len(theta))
        if self.slopes is None:
            return paths
        return paths.moved(self.slopes, (theta - self.point)[:, self.prior.free])


def _peak(density: Density, scale: Float[ndarray, " free"]) -> Float[ndarray, " parameter"]:
    """Return the most likely point, searched from the centre in units of a scale."""
    prior, free, start = density.prior, density.prior.free, density.point
    ones = np.eye(len(free))

    def both(z: ndarray) -> tuple[float, ndarray]:
        nonlocal density
        point = start[free] + scale * z
        middle = _with(start, free, point[None])
        here, paths = density.evaluated(middle)
        if here[0] > _FAR:
            density = replace(density, paths=paths)
        around = density(_with(start, free, point + 0.1 * scale * np.vstack((ones, -ones))))
        ahead, behind = np.split(around, 2)
        return -here[0], -(ahead - behind) / 0.2

    bounds = (prior.bounds[:, free] - start[free]) / scale
    inner = np.stack((np.minimum(bounds[0] + 0.11, 0.0), np.maximum(bounds[1] - 0.11, 0.0)))
    found = optimize.minimize(
        both, np.zeros(len(free)), jac=True, method="L-BFGS-B", bounds=inner.T,
        options={"ftol": 1e-6, "gtol": 0.05, "maxiter": 80},
    )  # fmt: skip
    return _with(start, free, (start[free] + scale * found.x)[None])[0]


def _scale(density: Density, scale: Float[ndarray, " free"]) -> Float[ndarray, " free"]:
    """Return for each coordinate how far from the centre the density is about half a nat lower."""
    free, start = density.prior.free, density.point
    here = density(start[None])[0]
    for _ in range(12):
        ahead = density(_with(start, free, start[free] + np.diag(scale)))
        behind = density(_with(start, free, start[free] - np.diag(scale)))
        drop = here - 0.5 * (ahead + behind)
        factor = np.sqrt(np.clip(0.5 / np.maximum(drop, 1e-3), 0.04, 9.0))
        scale = np.minimum(scale * factor, 1.0)
        if (np.abs(np.log(factor)) < 0.5).all():
            break
    return scale


def _with(start: ndarray, free: ndarray, chosen: ndarray) -> Float[ndarray, "point parameter"]:
    theta = np.repeat(start[None], len(chosen), 0)
    theta[:, free] = chosen
    return theta


def _curved(
    density: Density, spread: Float[ndarray, " free"]
) -> tuple[Density, Float[ndarray, "free free"]]:
    """Return the density with slopes of paths, and the inverse of its curvature at its point."""
    free, step, ones = density.prior.free, 0.5, np.eye(len(spread))
    centre = density.point
    singles = np.concatenate((np.zeros((1, len(free))), step * ones, -step * ones))
    values, paths = density.evaluated(_with(centre, free, centre[free] + spread * singles))
    ahead, behind = np.split(np.arange(1, len(singles)), 2)
    slopes = paths.rows(ahead).less(paths.rows(behind), 2.0 * step * spread)
    density = replace(density, slopes=slopes)
    hessian = np.diag((2.0 * values[0] - values[ahead] - values[behind]) / step**2)
    first, second = np.tril_indices(len(free), -1)
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    moves = step * (signs[:, :1, None] * ones[first] + signs[:, 1:, None] * ones[second])
    corners = density(_with(centre, free, centre[free] + spread * moves.reshape(-1, len(free))))
    mixed = np.array([1.0, -1.0, -1.0, 1.0]) @ corners.reshape(4, -1)
    hessian[first, second] = hessian[second, first] = -mixed / (4.0 * step**2)
    size, axes = np.linalg.eigh(hessian)
    inverse = (axes / np.clip(size, *_CURVATURES)) @ axes.T
    return density, spread[:, None] * inverse * spread


def _sampled(
    density: Density, covariance: ndarray, draw: np.random.Generator
) -> tuple[ndarray, ndarray, ndarray, float]:
    """Draw and weigh, adapting the law that is drawn from; also return log densities."""
    peak = density.point
    free, laws, logs = density.prior.free, [], np.zeros(0)
    theta = np.zeros((0, len(peak)))
    centre = peak[free]
    for _ in range(_ROUNDS):
        laws.append(stats.multivariate_t(centre, covariance, df=_FREEDOM))
        new = _with(peak, free, np.atleast_2d(laws[-1].rvs(_DRAWS, random_state=draw)))
        theta, logs = np.concatenate((theta, new)), np.concatenate((logs, density(new)))
        mixture = np.mean([law.pdf(theta[:, free]) for law in laws], axis=0)
        ratio = logs - np.log(mixture)
        weights = np.exp(ratio - ratio.max())
        log_evidence = float(ratio.max() + np.log(weights.mean()))
        weights /= weights.sum()
        if 1.0 / (weights**2).sum() > _ENOUGH:
            break
        centre = weights @ theta[:, free]
        away = theta[:, free] - centre
        own = (weights[:, None] * away).T @ away
        few = min(1.0, 1.0 / (weights**2).sum() / (5.0 * len(free)))
        covariance = few * own * (_FREEDOM - 2) / _FREEDOM + (1.0 - few) * covariance
    return theta, weights, logs, log_evidence
