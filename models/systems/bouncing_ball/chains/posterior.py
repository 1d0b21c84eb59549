"""The posterior of one member of the family: importance sampling about its most likely point.

The posterior density of theta, likelihood (`laplace`) times prior, is searched for its maximum by a
quasi-Newton method, and its curvature there gives a first Student's t law of five degrees of
freedom. Draws from it, weighed by the density, give mean and covariance of the next one; all draws
count, each weighed by the mixture of the laws drawn from (Cornuet et al. 2012, adaptive multiple
importance sampling). The mean weight is the member's evidence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import optimize, stats

from ricochet.models.systems.bouncing_ball.chains import laplace, parameters, preparation
from ricochet.models.systems.bouncing_ball.chains.laplace import Paths
from ricochet.models.systems.bouncing_ball.chains.least_squares import Group
from ricochet.models.systems.bouncing_ball.chains.observations import Chains
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior

_FREEDOM = 5.0
_DRAWS = 200
_ROUNDS = 6
_ENOUGH = 300.0  # effective draws
_BATCH = 64
_FAR = -1e10
LogDensity = Callable[[Float[ndarray, "point parameter"]], Float[ndarray, " point"]]


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
) -> Member:
    """Infer the parameters of one law from chains of bounces.

    Args:
        start: Coordinates near to the most likely ones.
    """
    margin = 0.05 * prior.spread
    start = np.clip(start, prior.bounds[0] + margin, prior.bounds[1] - margin)
    groups, paths = preparation.prepare(chains, prior.law, parameters.values(start[None]))
    peak = _peak(_density(groups, paths, prior), prior, start)
    groups, paths = preparation.prepare(chains, prior.law, parameters.values(peak[None]))
    density = _density(groups, paths, prior)
    peak = _peak(density, prior, peak)
    covariance = _covariance(density, prior.free, peak, _first_scale(density, prior.free, peak))
    theta, weights, log_evidence = _sampled(density, prior, peak, covariance, draw)
    effective = 1.0 / float((weights**2).sum())
    return Member(prior, theta, weights, log_evidence, effective, peak, groups, paths)


def _density(groups: Sequence[Group], paths: Paths, prior: Prior) -> LogDensity:
    def density(theta: Float[ndarray, "point parameter"]) -> Float[ndarray, " point"]:
        total = prior.log_density(theta)
        for first in range(0, len(theta), _BATCH):
            part = np.flatnonzero(np.isfinite(total[first : first + _BATCH])) + first
            if len(part):
                values = parameters.values(theta[part])
                found = laplace.evidence(groups, values, paths.repeated(len(part)))
                total[part] += np.where(found.settled, found.log_likelihood, -np.inf)
        return np.where(np.isfinite(total), total, _FAR)

    return density


def _peak(
    density: LogDensity, prior: Prior, start: Float[ndarray, " parameter"]
) -> Float[ndarray, " parameter"]:
    """Return the most likely point."""
    free = prior.free
    scale, ones = _first_scale(density, free, start), np.eye(len(free))

    def both(z: ndarray) -> tuple[float, ndarray]:
        point = start[free] + scale * z
        theta = _with(start, free, point + 0.1 * scale * np.vstack((0.0 * ones[:1], ones, -ones)))
        values = density(theta)
        ahead, behind = np.split(values[1:], 2)
        return -values[0], -(ahead - behind) / 0.2

    bounds = (prior.bounds[:, free] - start[free]) / scale
    inner = np.stack((np.minimum(bounds[0] + 0.11, 0.0), np.maximum(bounds[1] - 0.11, 0.0)))
    found = optimize.minimize(
        both, np.zeros(len(free)), jac=True, method="L-BFGS-B", bounds=inner.T,
        options={"ftol": 1e-6, "gtol": 0.05, "maxiter": 80},
    )  # fmt: skip
    return _with(start, free, (start[free] + scale * found.x)[None])[0]


def _first_scale(
    density: LogDensity, free: ndarray, start: Float[ndarray, " parameter"]
) -> Float[ndarray, " free"]:
    """Return for each coordinate how far the density is about half a nat lower."""
    scale = np.full(len(free), 0.1)
    scale[0] = 1e-4
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


def _covariance(
    density: LogDensity, free: ndarray, peak: ndarray, spread: ndarray
) -> Float[ndarray, "free free"]:
    """Return the inverse of the curvature at the peak."""
    count, step = len(free), 0.5
    pairs = [(i, j) for i in range(count) for j in range(i)]
    moves = [step * sign * np.eye(count)[i] for i in range(count) for sign in (1, -1)]
    for i, j in pairs:
        moves += [
            step * (a * np.eye(count)[i] + b * np.eye(count)[j]) for a in (1, -1) for b in (1, -1)
        ]
    theta = _with(peak, free, peak[free] + spread * np.array([np.zeros(count), *moves]))
    values = density(theta)
    middle, singles = values[0], values[1 : 1 + 2 * count].reshape(count, 2)
    hessian = np.diag((2 * middle - singles.sum(1)) / step**2)
    corners = values[1 + 2 * count :].reshape(-1, 4) @ np.array([1.0, -1.0, -1.0, 1.0])
    for (i, j), corner in zip(pairs, corners, strict=True):
        hessian[i, j] = hessian[j, i] = -corner / (4 * step**2)
    size, axes = np.linalg.eigh(hessian)
    return spread[:, None] * (axes / np.clip(size, 0.05, None)) @ axes.T * spread


def _sampled(
    density: LogDensity,
    prior: Prior,
    peak: ndarray,
    covariance: ndarray,
    draw: np.random.Generator,
) -> tuple[ndarray, ndarray, float]:
    """Draw and weigh, adapting the law that is drawn from."""
    free, laws, logs = prior.free, [], np.zeros(0)
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
    return theta, weights, log_evidence
