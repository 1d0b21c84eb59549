r"""Quadrature over what a ball may be, given its bounce times and a law of restitution by speed.

Drag and slope are nearly confounded, since both lower the ratio of intervals of a fast ball: the
posterior is long and bent in the drag. So the logarithm of the drag is integrated by the
trapezoidal rule on nodes that gather where the mass is. At every node the rest is nearly normal,
once scatter and jitter are given, and is integrated by importance sampling from Student's t about
the mode, with the points of a lattice (Korobov 1959). Nothing is drawn at random: the same times
give the same answer to the last digit.

Modes are found by Newton's rule, its differences taken half a standard deviation wide along the
axes of the last curvature, so that a ridge does not matter and the robust likelihood's far tails
are not taken for its curvature.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import special, stats

from ricochet.models.systems.bouncing_ball.air import LEAST_DRAG, MOST_DRAG
from ricochet.models.systems.bouncing_ball.calibration import drop_times
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Ball, Drop
from ricochet.models.systems.bouncing_ball.chains import parameters
from ricochet.models.systems.bouncing_ball.restitution_laws import RestitutionLaw

RANGE = (0.30, 0.998)
"""Restitution at the reference speed, from clay to a steel ball on an anvil."""
SCATTER, SCATTER_SPREAD = 0.004, 1.2
JITTER, JITTER_SPREAD = 1e-4, 1.2
_NODES = 9  # of log drag at first
_REACH = 4.0  # standard deviations of its prior that they span
_POINTS = 101  # of the lattice at each node; a prime
_FREEDOM = 5.0  # of Student's t
_SHARE = 0.15  # of the mass between two nodes, above which another is put between them
_REFINEMENTS = 5
_NEWTON = 12  # steps at most
_ENOUGH = 0.05  # nats that a step of Newton's rule must still gain
_LOG_NOISE = (-18.0, 1.0)  # of scatter and jitter, far beyond their prior
_LEAST_CURVATURE = 0.02  # of a difference _WIDTH wide, which has 0.25 at a mode
_WIDTH = 0.5  # standard deviations over which is differenced
_TRUSTED = 4.0  # standard deviations that a step of Newton's rule may go
_KOROBOV = 40
_OVER_PRIOR = 3  # one point in so many is spread over the prior of the noise


@dataclass(frozen=True)
class Problem:
    """One law's posterior at given drags; coordinates are logit e, (slope,) log s, log j.

    Attributes:
        drag: Centre and spread of the prior of log drag.
    """

    drops: Sequence[Drop]
    law: RestitutionLaw
    sloped: bool
    drag: tuple[float, float] = parameters.UNKNOWN_DRAG

    def log_density(self, y: ndarray, log_drag: ndarray) -> ndarray:
        """Return the log of prior times likelihood, -inf where a number is none."""
        ball = self.ball(y, log_drag)
        rest = y[..., 1:]
        z = (rest - self.centre[1:]) / self.spread[1:]
        share = (ball.restitution - RANGE[0]) / (RANGE[1] - RANGE[0])
        total = np.log(share * (1.0 - share)) + (
            -0.5 * z * z - np.log(self.spread[1:] * math.sqrt(2.0 * math.pi))
        ).sum(-1)
        for drop in self.drops:
            total = total + drop_times.log_likelihood(drop, ball, law=self.law)
        return np.asarray(np.nan_to_num(total, nan=-math.inf))

    def ball(self, y: ndarray, log_drag: ndarray) -> Ball:
        """Bring coordinates to units."""
        restitution = RANGE[0] + (RANGE[1] - RANGE[0]) * special.expit(y[..., 0])
        slope = y[..., 1] if self.sloped else np.zeros_like(restitution)
        drag = np.broadcast_to(np.exp(log_drag), restitution.shape)
        scatter, jitter = (np.exp(y[..., index].clip(*_LOG_NOISE)) for index in (-2, -1))
        return Ball(restitution, slope, drag, scatter, jitter)

    @property
    def log_drags(self) -> tuple[float, float]:
        """The least and the greatest log drag that a ball may have."""
        centre, spread = self.drag
        reach = _REACH * spread
        least, most = math.log(LEAST_DRAG), math.log(MOST_DRAG)
        return max(least, centre - reach), min(most, centre + reach)

    def log_prior_of_drag(self, nodes: ndarray) -> ndarray:
        """Return the log of the prior at log drags, normal and cut off where no ball is."""
        law, (low, high) = stats.norm(*self.drag), self.log_drags
        inside = law.cdf(high) - law.cdf(low)
        return np.asarray(law.logpdf(nodes) - math.log(inside))

    @property
    def centre(self) -> ndarray:
        """Prior means; that of the logit is where its density is greatest."""
        slope = [parameters.Prior().centre[2]] if self.sloped else []
        return np.array([0.0, *slope, math.log(SCATTER), math.log(JITTER)])

    @property
    def spread(self) -> ndarray:
        """Prior standard deviations; that of the logit only scales the first steps."""
        slope = [parameters.Prior().spread[2]] if self.sloped else []
        return np.array([2.0, *slope, SCATTER_SPREAD, JITTER_SPREAD])


@dataclass(frozen=True)
class _Peaks:
    """Modes at the nodes, the log density there, and factors F of the inverse curvature F F'."""

    mode: Float[ndarray, "node coordinate"]
    value: Float[ndarray, " node"]
    factor: Float[ndarray, "node coordinate coordinate"]

    @property
    def log_volume(self) -> ndarray:
        """Return the log of Laplace's integral over its integrand's peak."""
        size = self.mode.shape[-1]
        return np.asarray(_log_size(self.factor) + 0.5 * size * math.log(2.0 * math.pi))


def integrate(problem: Problem) -> tuple[Ball, Float[ndarray, " point"]]:
    """Return points and the logs of their weights, which add up to the evidence."""
    nodes = np.linspace(*problem.log_drags, _NODES)
    peaks = _climb(problem, _start(problem, nodes), nodes)
    for _ in range(_REFINEMENTS):
        log_mass = peaks.value + peaks.log_volume + problem.log_prior_of_drag(nodes)
        between = np.logaddexp(log_mass[1:], log_mass[:-1]) + np.log(np.diff(nodes))
        coarse = np.flatnonzero(special.softmax(between) > _SHARE)
        if not len(coarse):
            break
        added = 0.5 * (nodes[coarse] + nodes[coarse + 1])
        found = _climb(problem, 0.5 * (peaks.mode[coarse] + peaks.mode[coarse + 1]), added)
        nodes = np.concatenate((nodes, added))
        order = np.argsort(nodes)
        nodes = nodes[order]
        pairs = zip(vars(peaks).values(), vars(found).values(), strict=True)
        peaks = _Peaks(*(np.concatenate(pair)[order] for pair in pairs))
    return _spread_out(problem, nodes, peaks)


def _start(problem: Problem, nodes: ndarray) -> ndarray:
    """Return the best of a coarse grid of restitution, scatter and jitter at every node."""
    ratios = np.concatenate([drop.times[2:] - drop.times[1:-1] for drop in problem.drops])
    ratios = ratios / np.concatenate([np.diff(drop.times)[:-1] for drop in problem.drops])
    middle = np.clip(np.median(ratios), RANGE[0] + 0.02, RANGE[1] - 0.004)
    shares = (middle + np.array([-0.01, 0.0, 0.003, 0.01, 0.02, 0.04]) - RANGE[0]) / np.ptp(RANGE)
    logits = stats.logistic.ppf(np.clip(shares, 0.01, 0.997))
    axes = [logits, np.log([1e-3, 5e-3, 0.03, 0.12]), np.log([2e-5, 1e-4, 5e-4])]
    grid = np.stack(np.meshgrid(*axes), -1).reshape(-1, 3)
    if problem.sloped:
        slope = np.full((len(grid), 1), problem.centre[1])
        grid = np.concatenate((grid[:, :1], slope, grid[:, 1:]), 1)
    values = problem.log_density(grid[:, None].repeat(len(nodes), 1), nodes)
    return np.asarray(grid[values.argmax(0)])


def _climb(problem: Problem, y: ndarray, log_drag: ndarray) -> _Peaks:
    """Find modes, by Newton's rule inside a radius that is trusted."""
    frame = _diagonal(np.broadcast_to(0.02 * problem.spread, y.shape))
    value, gradient, factor = _curvature(problem, y, log_drag, frame)
    radius = np.full_like(value, _TRUSTED)
    for _ in range(_NEWTON):
        size = np.linalg.norm(gradient, axis=-1)
        if float(size.max()) ** 2 < 2.0 * _ENOUGH:
            break
        step = gradient * (radius / np.maximum(size, radius))[..., None]
        there = y + (factor @ step[..., None])[..., 0]
        found = _curvature(problem, there, log_drag, _WIDTH * factor)
        better = found[0] > value
        y = np.where(better[:, None], there, y)
        value = np.where(better, found[0], value)
        gradient = np.where(better[:, None], found[1], gradient)
        factor = np.where(better[:, None, None], found[2], factor)
        radius = np.where(better, _TRUSTED, 0.25 * radius)
    return _Peaks(y, value, factor)


def _curvature(
    problem: Problem, y: ndarray, log_drag: ndarray, frame: ndarray
) -> tuple[ndarray, ndarray, ndarray]:
    """Return the value, a factor F with F F' the inverse curvature, and between them F' gradient.

    Differences are taken along the columns of a frame, which spans the first coordinates.
    """
    size = frame.shape[-1]
    axes = np.eye(size)
    pairs = [(i, j) for i in range(size) for j in range(i)]
    moves = np.stack([*axes, *(-axes), *(axes[i] + axes[j] for i, j in pairs), 0.0 * axes[0]])
    moved = (frame @ moves[:, None, :, None])[..., 0]
    values = problem.log_density(y + _padded(moved, y), log_drag)
    up, down, both, here = np.split(values, np.cumsum([size, size, len(pairs)]))
    matrix = _diagonal((2.0 * here - up - down).T)
    for (i, j), corner in zip(pairs, both, strict=True):
        matrix[:, i, j] = matrix[:, j, i] = up[i] + up[j] - here[0] - corner
    squared, vectors = np.linalg.eigh(np.nan_to_num(matrix))
    largest = np.abs(vectors).argmax(-2, keepdims=True)  # libraries differ in the signs
    vectors = vectors * np.sign(np.take_along_axis(vectors, largest, -2))
    turn = vectors / np.sqrt(squared.clip(min=_LEAST_CURVATURE))[:, None]
    gradient = np.nan_to_num(0.5 * (up - down).T)
    return here[0], (turn.swapaxes(-1, -2) @ gradient[..., None])[..., 0], frame @ turn


def _padded(step: ndarray, y: ndarray) -> ndarray:
    """Return a step of the first coordinates as one of all."""
    rest = np.zeros((*step.shape[:-1], y.shape[-1] - step.shape[-1]))
    return np.concatenate((step, rest), -1)


def _spread_out(problem: Problem, nodes: ndarray, peaks: _Peaks) -> tuple[Ball, ndarray]:
    """Weigh points about every node's mode; trapezoids join the nodes.

    Where little is known the width of the restitution goes with the scatter and the jitter. So
    these two are spread first, about the mode or over the prior, and the others about their mode
    given these two, which one step of Newton's rule finds.
    """
    rest = peaks.mode.shape[-1] - 2
    uniform = _lattices(peaks.mode.shape[-1] + 2, len(nodes))
    noise, log_noise = _spread_noise(problem, peaks, uniform[..., rest:])
    follow = peaks.factor @ peaks.factor.swapaxes(-1, -2)
    follow = follow[:, :rest, rest:] @ np.linalg.inv(follow[:, rest:, rest:])
    near = (follow @ (noise - peaks.mode[:, rest:])[..., None])[..., 0].clip(-3.0, 3.0)
    begin = _joined(np.concatenate((peaks.mode[:, :rest] + near, noise), -1))
    log_drag = np.tile(nodes, len(uniform))
    curvature = np.linalg.inv(peaks.factor @ peaks.factor.swapaxes(-1, -2))[:, :rest, :rest]
    frame = _WIDTH * np.linalg.cholesky(np.linalg.inv(curvature))
    frames = np.tile(frame, (len(uniform), 1, 1))
    _, newton, factor = _curvature(problem, begin, log_drag, frames)
    offsets, log_offsets = _student(_joined(uniform[..., :rest]), uniform[..., -1].ravel())
    newton = newton / (np.linalg.norm(newton, axis=-1, keepdims=True) / 6.0).clip(min=1.0)
    y = begin + _padded((factor @ (newton + offsets)[..., None])[..., 0], begin)
    widths = np.concatenate((nodes[:1], nodes, nodes[-1:]))
    grid = problem.log_prior_of_drag(nodes) + np.log(0.5 * (widths[2:] - widths[:-2]))
    log_weights = problem.log_density(y, log_drag) + _log_size(factor)
    log_weights += (grid - log_noise).ravel() - log_offsets - math.log(len(uniform))
    return problem.ball(y, log_drag), log_weights


def _spread_noise(problem: Problem, peaks: _Peaks, uniform: ndarray) -> tuple[ndarray, ndarray]:
    """Return logs of scatter and jitter, by point and node, and their log density."""
    covariance = (peaks.factor @ peaks.factor.swapaxes(-1, -2))[:, -2:, -2:]
    factor, centre = np.linalg.cholesky(covariance), peaks.mode[:, -2:]
    wide = np.arange(len(uniform)) % _OVER_PRIOR == 0
    offsets, _ = _student(uniform[~wide, :, :2], uniform[~wide, :, 2])
    near = centre + (factor @ offsets[..., None])[..., 0]
    far = problem.centre[-2:] + problem.spread[-2:] * special.ndtri(uniform[wide, :, :2])
    noise = np.concatenate((near, far))
    z = np.linalg.solve(factor, (noise - centre)[..., None])[..., 0]
    about = _log_student(z) - _log_size(factor)
    share = float(wide.mean())
    over = stats.norm.logpdf(noise, problem.centre[-2:], problem.spread[-2:]).sum(-1)
    return noise, np.logaddexp(about + math.log1p(-share), over + math.log(share))


def _student(uniform: ndarray, scale: ndarray) -> tuple[ndarray, ndarray]:
    """Return points of Student's t with a unit matrix from uniform ones, and their log density."""
    squared = stats.chi2.ppf(scale, _FREEDOM) / _FREEDOM
    offsets = special.ndtri(uniform) / np.sqrt(squared)[..., None]
    return offsets, _log_student(offsets)


def _log_student(offsets: ndarray) -> ndarray:
    size = offsets.shape[-1]
    top = math.lgamma(0.5 * (_FREEDOM + size)) - math.lgamma(0.5 * _FREEDOM)
    top -= 0.5 * size * math.log(_FREEDOM * math.pi)
    density = top - 0.5 * (_FREEDOM + size) * np.log1p((offsets**2).sum(-1) / _FREEDOM)
    return np.asarray(density)


def _lattices(size: int, count: int) -> ndarray:
    """Return the points of Korobov's lattice in the unit cube, shifted anew for each of a number.

    Shifts are multiples of square roots of primes, so that no two nodes share their points.
    """
    generator = [pow(_KOROBOV, power, _POINTS) for power in range(size)]
    points = np.outer(np.arange(_POINTS), generator) / _POINTS
    roots = np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0, 13.0])[:size]
    shifts = np.outer(np.arange(1, count + 1), roots)
    return np.asarray(((points[:, None] + shifts) % 1.0).clip(1e-9, 1.0 - 1e-9))


def _diagonal(values: ndarray) -> ndarray:
    """Return matrices that have the last axis on their diagonals."""
    return np.asarray(values[..., None] * np.eye(values.shape[-1]))


def _log_size(matrix: ndarray) -> ndarray:
    return np.asarray(np.linalg.slogdet(matrix)[1])


def _joined(values: ndarray) -> ndarray:
    """Return the first two axes as one."""
    return np.asarray(values.reshape(-1, *values.shape[2:]))
