"""Maxima of a posterior density, and the curvature there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import optimize

from ricochet.models.systems.bouncing_ball.chains import parameters, preparation
from ricochet.models.systems.bouncing_ball.chains.log_density import FAR, Density
from ricochet.models.systems.bouncing_ball.chains.observations import Chains
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior

_CURVATURES = (0.05, 20.0)  # in units in which it should be about 1
_FIRST_STEPS, _LAST_STEPS = 30, 20  # of a search in scales, and of one along the curvature
_PROMISING = 10.0  # nats that a last search may gain
_STEP = 0.1  # of differences, in scales
_FIRST_SCALE = np.array([1e-4, *[0.1] * (len(parameters.NAMES) - 1)])


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


def find(
    chains: Sequence[Chains],
    prior: Prior,
    start: Float[ndarray, " parameter"],
    *,
    least: float = -np.inf,
) -> Mode | None:
    """Return the maximum that a quasi-Newton search finds from a start.

    Args:
        least: None is returned, soon, where the log density there is about less than this.
    """
    margin = 0.05 * prior.spread
    start = np.clip(start, prior.bounds[0] + margin, prior.bounds[1] - margin)
    density, scale = _prepared(chains, prior, start), _FIRST_SCALE[prior.free]
    scale = _scale(density, scale)
    peak = _peak(density, np.diag(scale), steps=_FIRST_STEPS)
    if density(peak[None])[0] < least - _PROMISING:
        return None
    density = _prepared(chains, prior, peak)  # with what the integration allows for there
    density, covariance = _curved(density, _scale(density, scale))
    peak = _peak(density, np.linalg.cholesky(covariance), steps=_LAST_STEPS)
    density, covariance = _curved(density.about(peak), np.sqrt(np.diag(covariance)))
    volume = 0.5 * float(np.linalg.slogdet(2.0 * np.pi * covariance)[1])
    height = float(density(peak[None])[0])
    return Mode(density, covariance, height + volume, height)


def _prepared(
    chains: Sequence[Chains], prior: Prior, point: Float[ndarray, " parameter"]
) -> Density:
    groups, paths = preparation.prepare(chains, prior.law, parameters.values(point[None]))
    return Density(groups, paths, prior, point).about(point)


def _peak(
    density: Density, by: Float[ndarray, "free free"], *, steps: int
) -> Float[ndarray, " parameter"]:
    """Return the most likely point that some steps reach, searched in coordinates z, theta = by z.

    Where theta leaves the prior's bounds its density is so low that a step is taken back.
    """
    free, start, ones = density.prior.free, density.point, np.eye(len(by))

    def both(z: ndarray) -> tuple[float, ndarray]:
        nonlocal density
        here, paths = density.evaluated(at_free(start, free, (start[free] + by @ z)[None]))
        if here[0] > FAR:
            density = replace(density, paths=paths)
        around = z + _STEP * np.vstack((ones, -ones))
        ahead, behind = np.split(density(at_free(start, free, start[free] + around @ by.T)), 2)
        slope = np.where(np.minimum(ahead, behind) > FAR, ahead - behind, 0.0) / (2.0 * _STEP)
        return -here[0], -slope

    found = optimize.minimize(
        both, np.zeros(len(free)), jac=True, method="L-BFGS-B",
        options={"ftol": 1e-6, "gtol": 0.05, "maxiter": steps, "maxls": 10},
    )  # fmt: skip
    return at_free(start, free, (start[free] + by @ found.x)[None])[0]


def _scale(density: Density, scale: Float[ndarray, " free"]) -> Float[ndarray, " free"]:
    """Return for each coordinate how far from the centre the density is about half a nat lower."""
    free, start = density.prior.free, density.point
    here = density(start[None])[0]
    for _ in range(12):
        ahead = density(at_free(start, free, start[free] + np.diag(scale)))
        behind = density(at_free(start, free, start[free] - np.diag(scale)))
        drop = here - 0.5 * (ahead + behind)
        factor = np.sqrt(np.clip(0.5 / np.maximum(drop, 1e-3), 0.04, 9.0))
        scale = np.minimum(scale * factor, 1.0)
        if (np.abs(np.log(factor)) < 0.5).all():
            break
    return scale


def at_free(start: ndarray, free: ndarray, chosen: ndarray) -> Float[ndarray, "point parameter"]:
    """Return points whose free coordinates are those chosen, and the others those of a start."""
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
    values, paths = density.evaluated(at_free(centre, free, centre[free] + spread * singles))
    ahead, behind = np.split(np.arange(1, len(singles)), 2)
    slopes = paths.rows(ahead).less(paths.rows(behind), 2.0 * step * spread)
    density = replace(density, slopes=slopes)
    hessian = np.diag((2.0 * values[0] - values[ahead] - values[behind]) / step**2)
    first, second = np.tril_indices(len(free), -1)
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    moves = step * (signs[:, :1, None] * ones[first] + signs[:, 1:, None] * ones[second])
    corners = density(at_free(centre, free, centre[free] + spread * moves.reshape(-1, len(free))))
    mixed = np.array([1.0, -1.0, -1.0, 1.0]) @ corners.reshape(4, -1)
    hessian[first, second] = hessian[second, first] = -mixed / (4.0 * step**2)
    size, axes = np.linalg.eigh(hessian)
    inverse = (axes / np.clip(size, *_CURVATURES)) @ axes.T
    return density, spread[:, None] * inverse * spread
