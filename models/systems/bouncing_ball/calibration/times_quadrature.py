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
import torch
from jaxtyping import Float
from scipy import stats
from torch import Tensor

from ricochet.models.systems.bouncing_ball.air import LEAST_DRAG, MOST_DRAG
from ricochet.models.systems.bouncing_ball.calibration import drop_times
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Ball, Drop
from ricochet.models.systems.bouncing_ball.chains import parameters
from ricochet.models.systems.bouncing_ball.contact import RestitutionLaw

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

    def log_density(self, y: Tensor, log_drag: Tensor) -> Tensor:
        """Return the log of prior times likelihood, -inf where a number is none."""
        ball = self.ball(y, log_drag)
        rest = y[..., 1:]
        z = (rest - self.centre[1:]) / self.spread[1:]
        share = (ball.restitution - RANGE[0]) / (RANGE[1] - RANGE[0])
        total = torch.log(share * (1.0 - share)) + (
            -0.5 * z * z - torch.log(self.spread[1:] * math.sqrt(2.0 * math.pi))
        ).sum(-1)
        for drop in self.drops:
            total = total + torch.from_numpy(drop_times.log_likelihood(drop, ball, law=self.law))
        return torch.nan_to_num(total, nan=-math.inf)

    def ball(self, y: Tensor, log_drag: Tensor) -> Ball:
        """Bring coordinates to units."""
        restitution = RANGE[0] + (RANGE[1] - RANGE[0]) * torch.sigmoid(y[..., 0])
        slope = y[..., 1] if self.sloped else torch.zeros_like(restitution)
        drag = log_drag.exp().expand(restitution.shape)
        scatter, jitter = (y[..., index].clamp(*_LOG_NOISE).exp() for index in (-2, -1))
        return Ball(restitution, slope, drag, scatter, jitter)

    @property
    def log_drags(self) -> tuple[float, float]:
        """The least and the greatest log drag that a ball may have."""
        centre, spread = self.drag
        reach = _REACH * spread
        least, most = math.log(LEAST_DRAG), math.log(MOST_DRAG)
        return max(least, centre - reach), min(most, centre + reach)

    def log_prior_of_drag(self, nodes: Tensor) -> Tensor:
        """Return the log of the prior at log drags, normal and cut off where no ball is."""
        law, (low, high) = stats.norm(*self.drag), self.log_drags
        inside = law.cdf(high) - law.cdf(low)
        return torch.from_numpy(law.logpdf(nodes.numpy()) - math.log(inside))

    @property
    def centre(self) -> Tensor:
        """Prior means; that of the logit is where its density is greatest."""
        slope = [parameters.Prior().centre[2]] if self.sloped else []
        return torch.tensor([0.0, *slope, math.log(SCATTER), math.log(JITTER)], dtype=torch.float64)

    @property
    def spread(self) -> Tensor:
        """Prior standard deviations; that of the logit only scales the first steps."""
        slope = [parameters.Prior().spread[2]] if self.sloped else []
        return torch.tensor([2.0, *slope, SCATTER_SPREAD, JITTER_SPREAD], dtype=torch.float64)


@dataclass(frozen=True)
class _Peaks:
    """Modes at the nodes, the log density there, and factors F of the inverse curvature F F'."""

    mode: Float[Tensor, "node coordinate"]
    value: Float[Tensor, " node"]
    factor: Float[Tensor, "node coordinate coordinate"]

    @property
    def log_volume(self) -> Tensor:
        """Return the log of Laplace's integral over its integrand's peak."""
        size = self.mode.shape[-1]
        return torch.linalg.slogdet(self.factor)[1] + 0.5 * size * math.log(2.0 * math.pi)


def integrate(problem: Problem) -> tuple[Ball, Float[Tensor, " point"]]:
    """Return points and the logs of their weights, which add up to the evidence."""
    nodes = torch.linspace(*problem.log_drags, _NODES, dtype=torch.float64)
    peaks = _climb(problem, _start(problem, nodes), nodes)
    for _ in range(_REFINEMENTS):
        log_mass = peaks.value + peaks.log_volume + problem.log_prior_of_drag(nodes)
        between = torch.logaddexp(log_mass[1:], log_mass[:-1]) + nodes.diff().log()
        coarse = torch.nonzero(between.softmax(0) > _SHARE).flatten()
        if not len(coarse):
            break
        added = 0.5 * (nodes[coarse] + nodes[coarse + 1])
        found = _climb(problem, 0.5 * (peaks.mode[coarse] + peaks.mode[coarse + 1]), added)
        nodes, order = torch.cat((nodes, added)).sort()
        pairs = zip(vars(peaks).values(), vars(found).values(), strict=True)
        peaks = _Peaks(*(torch.cat(pair)[order] for pair in pairs))
    return _spread_out(problem, nodes, peaks)


def _start(problem: Problem, nodes: Tensor) -> Tensor:
    """Return the best of a coarse grid of restitution, scatter and jitter at every node."""
    ratios = np.concatenate([drop.times[2:] - drop.times[1:-1] for drop in problem.drops])
    ratios = ratios / np.concatenate([np.diff(drop.times)[:-1] for drop in problem.drops])
    middle = np.clip(np.median(ratios), RANGE[0] + 0.02, RANGE[1] - 0.004)
    shares = (middle + np.array([-0.01, 0.0, 0.003, 0.01, 0.02, 0.04]) - RANGE[0]) / np.ptp(RANGE)
    logits = stats.logistic.ppf(np.clip(shares, 0.01, 0.997))
    axes = [logits, np.log([1e-3, 5e-3, 0.03, 0.12]), np.log([2e-5, 1e-4, 5e-4])]
    grid = torch.tensor(np.stack(np.meshgrid(*axes), -1).reshape(-1, 3))
    if problem.sloped:
        slope = torch.full((len(grid), 1), float(problem.centre[1]), dtype=torch.float64)
        grid = torch.cat((grid[:, :1], slope, grid[:, 1:]), 1)
    values = problem.log_density(grid[:, None].expand(-1, len(nodes), -1), nodes)
    return grid[values.argmax(0)]


def _climb(problem: Problem, y: Tensor, log_drag: Tensor) -> _Peaks:
    """Find modes, by Newton's rule inside a radius that is trusted."""
    frame = torch.diag_embed((0.02 * problem.spread).expand(y.shape))
    value, gradient, factor = _curvature(problem, y, log_drag, frame)
    radius = torch.full_like(value, _TRUSTED)
    for _ in range(_NEWTON):
        size = torch.linalg.vector_norm(gradient, dim=-1)
        if float(size.max()) ** 2 < 2.0 * _ENOUGH:
            break
        step = gradient * (radius / torch.maximum(size, radius))[..., None]
        there = y + (factor @ step[..., None])[..., 0]
        found = _curvature(problem, there, log_drag, _WIDTH * factor)
        better = found[0] > value
        y = torch.where(better[:, None], there, y)
        value = torch.where(better, found[0], value)
        gradient = torch.where(better[:, None], found[1], gradient)
        factor = torch.where(better[:, None, None], found[2], factor)
        radius = torch.where(better, _TRUSTED, 0.25 * radius)
    return _Peaks(y, value, factor)


def _curvature(
    problem: Problem, y: Tensor, log_drag: Tensor, frame: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the value, a factor F with F F' the inverse curvature, and between them F' gradient.

    Differences are taken along the columns of a frame, which spans the first coordinates.
    """
    size = frame.shape[-1]
    axes = torch.eye(size, dtype=torch.float64)
    pairs = [(i, j) for i in range(size) for j in range(i)]
    moves = torch.stack([*axes, *(-axes), *(axes[i] + axes[j] for i, j in pairs), 0.0 * axes[0]])
    moved = (frame @ moves[:, None, :, None])[..., 0]
    values = problem.log_density(y + _padded(moved, y), log_drag)
    up, down, both, here = values.split([size, size, len(pairs), 1])
    matrix = torch.diag_embed((2.0 * here - up - down).T)
    for (i, j), corner in zip(pairs, both, strict=True):
        matrix[:, i, j] = matrix[:, j, i] = up[i] + up[j] - here[0] - corner
    squared, vectors = torch.linalg.eigh(torch.nan_to_num(matrix))
    turn = vectors / squared.clamp(min=_LEAST_CURVATURE).sqrt()[:, None]
    gradient = torch.nan_to_num(0.5 * (up - down).T)
    return here[0], (turn.mT @ gradient[..., None])[..., 0], frame @ turn


def _padded(step: Tensor, y: Tensor) -> Tensor:
    """Return a step of the first coordinates as one of all."""
    return torch.nn.functional.pad(step, (0, y.shape[-1] - step.shape[-1]))


def _spread_out(problem: Problem, nodes: Tensor, peaks: _Peaks) -> tuple[Ball, Tensor]:
    """Weigh points about every node's mode; trapezoids join the nodes.

    Where little is known the width of the restitution goes with the scatter and the jitter. So
    these two are spread first, about the mode or over the prior, and the others about their mode
    given these two, which one step of Newton's rule finds.
    """
    rest = peaks.mode.shape[-1] - 2
    uniform = _lattices(peaks.mode.shape[-1] + 2, len(nodes))
    noise, log_noise = _spread_noise(problem, peaks, uniform[..., rest:])
    follow = peaks.factor @ peaks.factor.mT
    follow = follow[:, :rest, rest:] @ torch.linalg.inv(follow[:, rest:, rest:])
    near = (follow @ (noise - peaks.mode[:, rest:])[..., None])[..., 0].clamp(-3.0, 3.0)
    begin = torch.cat((peaks.mode[:, :rest] + near, noise), -1).flatten(0, 1)
    log_drag = nodes.expand(len(uniform), -1).flatten()
    curvature = torch.linalg.inv(peaks.factor @ peaks.factor.mT)[:, :rest, :rest]
    frame = _WIDTH * torch.linalg.cholesky(torch.linalg.inv(curvature))
    frames = frame.expand(len(uniform), -1, -1, -1).flatten(0, 1)
    _, newton, factor = _curvature(problem, begin, log_drag, frames)
    offsets, log_offsets = _student(uniform[..., :rest].flatten(0, 1), uniform[..., -1].flatten())
    newton = newton / torch.linalg.vector_norm(newton, dim=-1, keepdim=True).div(6.0).clamp(min=1.0)
    y = begin + _padded((factor @ (newton + offsets)[..., None])[..., 0], begin)
    widths = torch.cat((nodes[:1], nodes, nodes[-1:]))
    grid = problem.log_prior_of_drag(nodes) + torch.log(0.5 * (widths[2:] - widths[:-2]))
    log_weights = problem.log_density(y, log_drag) + torch.linalg.slogdet(factor)[1]
    log_weights += (grid - log_noise).flatten() - log_offsets - math.log(len(uniform))
    return problem.ball(y, log_drag), log_weights


def _spread_noise(problem: Problem, peaks: _Peaks, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """Return logs of scatter and jitter, by point and node, and their log density."""
    covariance = (peaks.factor @ peaks.factor.mT)[:, -2:, -2:]
    factor, centre = torch.linalg.cholesky(covariance), peaks.mode[:, -2:]
    wide = torch.arange(len(uniform)) % _OVER_PRIOR == 0
    offsets, _ = _student(uniform[~wide, :, :2], uniform[~wide, :, 2])
    near = centre + (factor @ offsets[..., None])[..., 0]
    far = problem.centre[-2:] + problem.spread[-2:] * torch.special.ndtri(uniform[wide, :, :2])
    noise = torch.cat((near, far))
    z = torch.linalg.solve_triangular(factor, (noise - centre)[..., None], upper=False)[..., 0]
    about = _log_student(z) - torch.linalg.slogdet(factor)[1]
    prior = torch.distributions.Normal(problem.centre[-2:], problem.spread[-2:])
    share = float(wide.double().mean())
    over = prior.log_prob(noise).sum(-1)
    return noise, torch.logaddexp(about + math.log1p(-share), over + math.log(share))


def _student(uniform: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """Return points of Student's t with a unit matrix from uniform ones, and their log density."""
    squared = torch.from_numpy(stats.chi2.ppf(scale.numpy(), _FREEDOM) / _FREEDOM)
    offsets = torch.special.ndtri(uniform) / squared.sqrt()[..., None]
    return offsets, _log_student(offsets)


def _log_student(offsets: Tensor) -> Tensor:
    size = offsets.shape[-1]
    top = math.lgamma(0.5 * (_FREEDOM + size)) - math.lgamma(0.5 * _FREEDOM)
    top -= 0.5 * size * math.log(_FREEDOM * math.pi)
    return top - 0.5 * (_FREEDOM + size) * torch.log1p((offsets**2).sum(-1) / _FREEDOM)


def _lattices(size: int, count: int) -> Tensor:
    """Return the points of Korobov's lattice in the unit cube, shifted anew for each of a number.

    Shifts are multiples of square roots of primes, so that no two nodes share their points.
    """
    generator = torch.tensor([pow(_KOROBOV, power, _POINTS) for power in range(size)])
    points = torch.outer(torch.arange(_POINTS), generator).double() / _POINTS
    roots = torch.tensor([2.0, 3.0, 5.0, 7.0, 11.0, 13.0], dtype=torch.float64).sqrt()[:size]
    shifts = torch.outer(torch.arange(1, count + 1).double(), roots)
    return ((points[:, None] + shifts) % 1.0).clamp(1e-9, 1.0 - 1e-9)
