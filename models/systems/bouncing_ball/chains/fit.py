"""Whether a member explains its takes: replicated sessions, and what takes themselves disagree.

**Replicates.** Sessions are simulated at the posterior mean, with the takes' own lengths and errors
and shared errors as likely as the takes leave them, and every take's part of the log likelihood
there is compared with theirs: a take, and the mean of all. What has no likelihood has no chance.

**Disagreement.** Near the peak take t moves the answer by C s_t, C being the covariance that the
curvature at the peak means and s_t the derivative of the take's part there (the posterior's own
covariance, where that has arms, is no inverse of the curvature). Takes that are what the likelihood
says they are make

    V = T / (T - 1) sum_t (C s_t - mean) (C s_t - mean)'

equal to the part of C that they, and not the prior, account for (White 1982, Econometrica 50, 1;
the sandwich rule). Where V exceeds it by more than chance, restitution and concentration are
widened to V: takes that nobody's model explains then say how far they are apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.systems.bouncing_ball import family_simulator
from ricochet.models.systems.bouncing_ball.chains import (
    laplace,
    observations,
    parameters,
    preparation,
)
from ricochet.models.systems.bouncing_ball.chains.least_squares import Group
from ricochet.models.systems.bouncing_ball.chains.observations import TILT_SD, Chains
from ricochet.models.systems.bouncing_ball.chains.posterior import Member
from ricochet.models.systems.bouncing_ball.family_simulator import Surroundings
from ricochet.models.systems.bouncing_ball.simulator import Bounces

REPLICATES = 20
CHANCE = 0.01
"""Chance that takes which the model explains are said to disagree, for each parameter."""
_FEWEST = 10  # replicates that have a likelihood
_STEP = 0.5  # posterior deviations
_PAIR = 2


@dataclass(frozen=True)
class Fit:
    """How well takes are explained.

    Attributes:
        p_value: Chance of a session at least as unlikely under the model.
        take_p_values: Chance of each take, in the order of all takes.
        factors: By which restitution and log10 concentration must be wider; one where they agree.
    """

    p_value: float
    take_p_values: Float[ndarray, " take"]
    factors: Float[ndarray, " 2"]


def judge(member: Member, *, draw: np.random.Generator) -> Fit:
    """Judge a member by its takes."""
    return Fit(*chances(member, draw=draw), disagreement(member))


def chances(member: Member, *, draw: np.random.Generator) -> tuple[float, Float[ndarray, " take"]]:
    """Return the chance of the session, and of each take, among replicates."""
    chains = [group.chains for group in member.groups]
    observed = _parts(member, chains)
    sessions, takes = member.paths.shared.shape[1], len(observed)
    spread = laplace.shared_covariance(member.groups, member.peak, member.paths)
    if not np.isfinite(spread).all():
        return 0.0, np.zeros(takes)
    together = [_replicate(member, spread, draw) for _ in range(REPLICATES)]
    stacked = [observations.stacked(rows, sessions, takes) for rows in zip(*together, strict=True)]
    replicated = _parts(member, stacked).reshape(REPLICATES, takes)
    replicated = replicated[np.isfinite(replicated).all(1)]
    if len(replicated) < _FEWEST:
        return 0.0, np.zeros(takes)
    means = replicated.mean(1)
    error = means.std(ddof=1) * np.sqrt(1.0 + 1.0 / len(means))
    p_value = float(stats.t.cdf((observed.mean() - means.mean()) / error, len(means) - 1))
    middle = np.median(replicated, axis=0)
    pooled = np.sort((replicated - middle).ravel())
    rank = np.searchsorted(pooled, observed - middle, side="right")
    return p_value, (1.0 + rank) / (1.0 + len(pooled))


def disagreement(member: Member) -> Float[ndarray, " 2"]:
    """Return by which factors restitution and log10 concentration must be wider."""
    free, covariance = member.prior.free, member.at_peak
    axes = _axes(covariance)  # off them, a step leaves the ridge of a narrow posterior
    moves = _STEP * np.concatenate((axes.T, -axes.T))
    theta = np.repeat(member.peak[None], len(moves), 0)
    theta[:, free] += moves
    found = laplace.evidence(
        member.groups, parameters.values(theta), member.paths.repeated(len(theta))
    )
    ahead, behind = np.split(_in_order(member.groups, found.takes), 2)
    moved = axes @ ((ahead - behind) / (2.0 * _STEP))
    return _factors(moved[:_PAIR], covariance, member.prior.spread[free])


def _axes(covariance: Float[ndarray, "free free"]) -> Float[ndarray, "free free"]:
    """Return the principal axes of a covariance, a deviation long each, in columns."""
    unit = np.sqrt(np.diag(covariance))
    size, axes = np.linalg.eigh(covariance / np.outer(unit, unit))
    return np.asarray(unit[:, None] * axes * np.sqrt(np.maximum(size, 0.0)))


def _factors(
    moved: Float[ndarray, "2 take"],
    covariance: Float[ndarray, "free free"],
    spread: Float[ndarray, " free"],
) -> Float[ndarray, " 2"]:
    takes = moved.shape[1]
    precision = 1.0 / spread**2
    precision[:_PAIR] = 0.0  # their prior is uniform
    by_takes = covariance - covariance @ (precision[:, None] * covariance)
    expected = np.maximum(np.diag(by_takes)[:_PAIR], 0.1 * np.diag(covariance)[:_PAIR])
    ratio = moved.var(axis=1, ddof=1) * takes / expected
    limit = stats.chi2.ppf(1.0 - CHANCE, takes - 1) / (takes - 1)
    return np.where(ratio > limit, np.sqrt(np.maximum(ratio, 1.0)), 1.0)


def _parts(member: Member, chains: Sequence[Chains]) -> Float[ndarray, " take"]:
    """Return every take's part of the log likelihood at the posterior mean."""
    values = parameters.values(member.mean[None])
    groups, paths = preparation.prepare(chains, member.prior.law, values)
    found = _in_order(groups, laplace.evidence(groups, values, paths).takes)[0]
    return np.where(np.isfinite(found), found, -np.inf)


def _in_order(groups: Sequence[Group], takes: Sequence[ndarray]) -> Float[ndarray, "point take"]:
    order = np.concatenate([group.chains.index for group in groups])
    return np.asarray(np.concatenate(takes, axis=1)[:, np.argsort(order)])


def _replicate(
    member: Member, spread: Float[ndarray, "session error error"], draw: np.random.Generator
) -> list[Chains]:
    """Simulate a session at the posterior mean, with shared errors that the takes allow."""
    likely = member.paths.shared[0]
    shared = np.stack(
        [
            draw.multivariate_normal(*each, method="eigh")
            for each in zip(likely, spread, strict=True)
        ]
    )
    return [
        _replicated(member, group.chains, shared[group.chains.session], draw)
        for group in member.groups
    ]


def _replicated(
    member: Member, chains: Chains, shared: Float[ndarray, "take error"], draw: np.random.Generator
) -> Chains:
    takes, bounces = chains.times.shape
    numbers = torch.Generator().manual_seed(int(draw.integers(2**62)))
    values = parameters.values(np.repeat(member.mean[None], takes, 0))
    column = {name: torch.from_numpy(array.copy()) for name, array in vars(values).items()}
    ball = family_simulator.contact_by_take(column, draw=numbers)
    starts = family_simulator.start_velocities((takes,), horizontal_sd=1.0, draw=numbers)
    found = family_simulator.simulate(
        ball,
        starts * column["release_speed"][:, None],
        drop_height=torch.from_numpy(chains.height * np.exp(chains.height_error * shared[:, 0])),
        law=member.prior.law,
        around=Surroundings(column["drag"], torch.from_numpy(TILT_SD * shared[:, 1:3])),
        bounces=bounces,
        draw=numbers,
    )
    return _measured(chains, found, shared, values, draw)


def _measured(
    chains: Chains,
    found: Bounces,
    shared: ndarray,
    values: parameters.Values,
    draw: np.random.Generator,
) -> Chains:
    """Add the errors of the takes; what was not detected stays so."""
    with np.errstate(divide="ignore"):
        time_sd = values.time_noise[:, None] / chains.time_weight
        place_sd = values.place_noise[:, None] / chains.place_weight
    time_sd, place_sd = (np.where(np.isfinite(sd), sd, 0.0) for sd in (time_sd, place_sd))
    times = found.times.numpy() + time_sd * draw.standard_normal(time_sd.shape)
    places = found.positions.numpy()[..., :2]
    places = places + np.einsum("tbce,te->tbc", chains.distortion, shared)
    places = places + place_sd[..., None] * draw.standard_normal(places.shape)
    return replace(chains, times=times, places=places, areas=np.zeros_like(chains.areas))
