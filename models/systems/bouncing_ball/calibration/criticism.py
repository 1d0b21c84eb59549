"""What the bouncing-ball model cannot explain in a session, said aloud.

Replicated sessions are simulated from the posterior, take by take with the take's own noise, and
compared with the recorded one in five ways:

    whole      mean log density of the takes' features (the session's predictive p-value)
    take       log density of one take's features, against its own replicates
    session    trend of the takes' restitution (Eq. 6) along the session: a ball that warms up
    object     the takes' restitution falls into two groups: two balls, or a seam
    flight     the interval ratio drifts along a take's bounces: loss that depends on speed, drag

Only the first three bounces enter the posterior; the later ones are used here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.inference import criticism
from ricochet.models.systems.bouncing_ball import problem, simulator
from ricochet.models.systems.bouncing_ball.calibration import posterior
from ricochet.models.systems.bouncing_ball.calibration.likelihood import Quadrature
from ricochet.models.systems.bouncing_ball.features import Features
from ricochet.models.systems.bouncing_ball.problem import Noise, Release
from ricochet.models.systems.bouncing_ball.restitution import point_estimate

_REPLICATES = 200
_RULE = Quadrature(points=32, heights=8)
_ALARM = 0.0025  # a session with four checks raises a false alarm once in a hundred
_TWO_GROUPS = 0.85  # share of the variance between two groups; one Gaussian gives about 0.64
_TAKE_ALARM = 0.01  # chance that a sound session loses any take


@dataclass(frozen=True)
class Finding:
    """One thing that the model does not explain.

    Attributes:
        name: Which check speaks, as the table of findings in docs/systems/bouncing_ball.md has it.
        sentence: What was found, in words.
        p_value: Predictive chance of something at least as odd.
        takes: The takes concerned; empty when it is all of them.
    """

    name: str
    sentence: str
    p_value: float
    takes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Criticism:
    """The session's predictive p-value, the takes' own chances, and what stands out."""

    predictive_p_value: float
    take_p_values: Float[ndarray, " drop"]
    odd_takes: Bool[ndarray, " drop"]
    findings: tuple[Finding, ...]


def criticise(
    features: Features,
    noise: Noise,
    release: Release,
    theta: Float[ndarray, "sample 2"],
    *,
    later_times: Sequence[Float[ndarray, " _"]] = (),
    draw: torch.Generator,
) -> Criticism:
    """Compare a session, and each take of it, with sessions simulated from its posterior."""
    count = features.ratio.numel()
    chosen = torch.randint(len(theta), (_REPLICATES,), generator=draw)
    rows = torch.from_numpy(np.asarray(theta))[chosen][:, None].expand(-1, count, -1)
    many = Noise(*(x.double().expand(_REPLICATES, -1) for x in (noise.time_sd, noise.position_sd)))
    replicas = problem.simulate_features(rows, many, release, draw=draw)
    centre = np.mean(theta, axis=0)
    observed = _log_density(features, noise, release, centre)
    replicated = _log_density(replicas, many, release, centre).reshape(_REPLICATES, count)
    whole = criticism.tail_probability(-observed.mean(), -replicated.mean(1))
    takes, odd = _take_chances(observed, replicated)
    findings = [*_session_findings(features, replicas, (noise, many), release)]
    findings += _flight_findings(later_times, rows[:, 0], noise, release, draw)
    return Criticism(float(whole), takes, odd, tuple(findings))


def _log_density(features: Features, noise: Noise, release: Release, centre: ndarray) -> ndarray:
    drops = posterior.joined(features, noise, release)
    return posterior.log_likelihood(drops, centre[None], _RULE)[:, 0]


def _take_chances(observed: ndarray, replicated: ndarray) -> tuple[ndarray, ndarray]:
    """Pool the takes' replicates, each about its own take's median, to resolve small chances."""
    middle = np.median(replicated, axis=0)
    pooled = np.sort((replicated - middle).ravel())
    rank = np.searchsorted(pooled, observed - middle, side="right")
    chances = (1.0 + rank) / (1.0 + len(pooled))
    odd = (chances * len(observed) < _TAKE_ALARM) | ~np.isfinite(observed)
    return chances, odd


def _session_findings(
    features: Features, replicas: Features, noises: tuple[Noise, Noise], release: Release
) -> list[Finding]:
    if features.ratio.numel() < 6:
        return []
    values, errors = restitution_by_take(features, noises[0], release)
    simulated, simulated_errors = restitution_by_take(replicas, noises[1], release)
    findings = []
    slope = criticism.trend(values)
    if slope <= _ALARM:
        first, last = (np.median(part) for part in np.array_split(values, 3)[::2])
        sentence = (
            f"restitution drifts over the session: {first:.3f} in its first third, "
            f"{last:.3f} in its last"
        )
        findings.append(Finding("session", sentence, slope))
    spread = criticism.tail_probability(
        criticism.overdispersion(values, errors),
        criticism.overdispersion(simulated, simulated_errors),
    )
    if spread <= 2 * _ALARM:  # chances come in steps of 1 / (1 + replicates)
        groups = criticism.separation(values) > _TWO_GROUPS
        kind = "falls into two groups" if groups else "varies more than the model allows"
        low, high = np.quantile(values, [0.1, 0.9])
        sentence = f"restitution {kind} between takes: {low:.3f} to {high:.3f} (10 % to 90 %)"
        findings.append(Finding("object", sentence, float(spread)))
    return findings


def restitution_by_take(
    features: Features, noise: Noise, release: Release
) -> tuple[Float[ndarray, "*batch"], Float[ndarray, "*batch"]]:
    """Return each take's restitution by the speed equation, and its standard error."""
    estimate = point_estimate(features, noise, release)
    values = (estimate.restitution + estimate.start_shift).numpy()
    errors = torch.hypot(estimate.noise_sd, estimate.start_shift).clamp(min=1e-5).numpy()
    return values, errors


def _flight_findings(
    later_times: Sequence[ndarray],
    theta: Float[Tensor, "replicate 2"],
    noise: Noise,
    release: Release,
    draw: torch.Generator,
) -> list[Finding]:
    """Check whether the interval ratio drifts along the bounces of the takes."""
    long = [(i, np.asarray(times)) for i, times in enumerate(later_times) if len(times) >= 5]
    if not long:
        return []
    observed = np.mean([_drift(times) for _, times in long])
    simulated = np.zeros(len(theta))
    for index, times in long:
        chain = simulator.simulate(
            theta[:, 0],
            10.0 ** theta[:, 1],
            bounces=len(times),
            drop_height=release.height[index],
            horizontal_sd=release.horizontal_sd,
            draw=draw,
        ).times
        error = torch.randn(chain.shape, generator=draw, dtype=chain.dtype)
        observations = (chain + float(noise.time_sd[index]) * error).numpy()
        simulated += np.array([_drift(row) for row in observations]) / len(long)
    chance = float(criticism.two_sided(np.asarray(observed), simulated))
    if chance > 2 * _ALARM * 2:
        return []
    excess = observed - simulated.mean()
    sentence = (
        f"the ratio of intervals {'rises' if excess > 0 else 'falls'} by {abs(excess):.4f} a "
        "bounce: restitution depends on speed, or the air drags"
    )
    return [Finding("flight", sentence, chance)]


def _drift(times: Float[ndarray, " bounce"]) -> float:
    """Return the slope of the interval ratio along the bounces."""
    intervals = np.diff(times)
    ratios = intervals[1:] / intervals[:-1]
    place = np.arange(len(ratios)) - 0.5 * (len(ratios) - 1)
    return float(place @ ratios / (place @ place))
