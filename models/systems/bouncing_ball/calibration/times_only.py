r"""Restitution from one microphone: from onsets or bounce times to an answer that says what it is.

The best chain of the recording must be a ball rather than something else (`ball_evidence`); every
other chain joins it if the ball of the first explains it better than clutter does, and is set aside
otherwise. All drops together give the posterior (`times_posterior`), and of it restitution by
speed. One number is stated at the impact speed w_0 of the first bounce detected,

    w_0 = u_0 / e(w_0),    u_0 the exit speed that the first interval shows,

and one at the reference speed of `contact`, which may be far from what was met. A chain that is a
ball's with probability P < 1 has the posterior mixed with 1 - P of the prior. What the family does
not explain is looked for by `times_criticism`, and widens the answer.

Times do not tell concentration, and hardly drag from a slope of restitution by speed: both lower
the ratio of intervals of a fast ball. Each law that is fitted alone therefore has its own drag.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy import special

from ricochet.models.core.constants import GRAVITY
from ricochet.models.sound.onsets import Onsets
from ricochet.models.systems.bouncing_ball.calibration import (
    drop_times,
    times_criticism,
    times_posterior,
)
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop
from ricochet.models.systems.bouncing_ball.calibration.times_criticism import BareFinding
from ricochet.models.systems.bouncing_ball.calibration.times_posterior import Posterior
from ricochet.models.systems.bouncing_ball.calibration.times_quadrature import RANGE
from ricochet.models.systems.bouncing_ball.contact import REFERENCE_SPEED
from ricochet.models.systems.bouncing_ball.listening import ball_evidence, bounce_chains
from ricochet.models.systems.bouncing_ball.listening.ball_evidence import Evidence
from ricochet.models.systems.bouncing_ball.listening.bounce_chains import Chain, interval_ratios
from ricochet.models.systems.bouncing_ball.listening.interval_law import Law

BARE = Law(scatters=(0.004, 0.016, 0.05), shares=(0.55, 0.3, 0.15))
"""Chains of more scatter are threaded through anything: nothing but times supports them here."""
SURE = 5.0
"""Log odds of a ball from which an answer is not called weak, nats: 99.3 %."""
ENOUGH = 5
"""Bounces of one drop from which an answer is not called weak."""
IRREGULAR = 0.04
"""Scatter from bounce to bounce above which no ball's contact is, whatever the collision noise."""
SAMPLES = 4000
_BAND = 12  # speeds of the band
_PRIOR_POINTS = 200


@dataclass(frozen=True)
class Restitution:
    """Restitution at an impact speed, m/s: posterior mean, deviation and central 90 % interval."""

    speed: float
    mean: float
    sd: float
    region_90: tuple[float, float]


@dataclass(frozen=True)
class BareCalibration:
    """What one microphone tells of a ball and a surface.

    Attributes:
        at_first_bounce, at_reference: Restitution at two speeds, widened by what findings show.
        band: Restitution over the impact speeds that were met, slow to fast.
        members: Probability of each law.
        terminal_speed: Of the ball, m/s, if its restitution is constant: median and 90 % interval.
        drops: The bounces that were used.
        evidence: That of a ball in the best drop, then in those that joined it; empty where it was
            not asked for.
        ratios: Ratio of successive intervals of each drop.
        samples: Equally probable restitutions at the first bounce, ascending.
    """

    at_first_bounce: Restitution
    at_reference: Restitution
    band: tuple[Restitution, ...]
    members: dict[str, float]
    terminal_speed: tuple[float, float, float]
    drops: tuple[Drop, ...]
    evidence: tuple[Evidence, ...]
    ratios: tuple[Float[ndarray, " _"], ...]
    samples: Float[ndarray, " sample"]
    findings: tuple[BareFinding, ...]


class NoBallError(ValueError):
    """There is no ball in the recording; the text says what was found."""


@dataclass(frozen=True)
class _Drops:
    drops: tuple[Drop, ...]
    evidence: tuple[Evidence, ...]
    findings: tuple[BareFinding, ...]


def calibrate_recording(onsets: Onsets) -> BareCalibration:
    """Infer restitution from the onsets of a recording of one ball.

    Raises:
        NoBallError: If no chain of onsets is a ball's rather than something else's.
    """
    found = _choose(onsets)
    weight = float(special.expit(found.evidence[0].log_odds))
    return _answer(times_posterior.infer(found.drops), found, certainty=weight)


def calibrate_drops(drops: Sequence[Drop]) -> BareCalibration:
    """Infer restitution from the bounce times of drops that are known to be one ball's.

    Raises:
        ValueError: If there is no drop, or one has fewer than three ascending finite times.
    """
    posterior = times_posterior.infer(drops)
    return _answer(posterior, _Drops(tuple(drops), (), ()), certainty=1.0)


def _choose(onsets: Onsets) -> _Drops:
    """Return the drops of the ball, the best one first to be judged, in order of time."""
    chains = sorted(bounce_chains.find_chains(onsets, law=BARE), key=lambda chain: -chain.score)
    if not chains:
        raise NoBallError(f"{len(onsets.times)} onsets, no chain of bounces among them")
    mirrored = bounce_chains.find_chains(ball_evidence.reversed_in_time(onsets), law=BARE)
    backwards = max((chain.score for chain in mirrored), default=0.0)
    best, *others = chains
    posterior = times_posterior.infer([_drop(best)])
    evidence = ball_evidence.weigh(onsets, best, posterior.log_evidence, backwards=backwards)
    _refuse(onsets, best, evidence)
    kept, weighed, findings = [best], [evidence], []
    for chain in others:
        likely = times_posterior.predictive(_drop(chain), posterior)
        shared = ball_evidence.weigh(onsets, chain, likely, backwards=backwards)
        if shared.log_odds > 0.0:
            kept.append(chain)
            weighed.append(shared)
        elif len(chain.times) >= ENOUGH and chain.score > backwards:
            alone = times_posterior.infer([_drop(chain)]).log_evidence
            own = ball_evidence.weigh(onsets, chain, alone, backwards=backwards)
            if own.log_odds > SURE:
                findings.append(_another(chain, posterior, alone - likely))
    if weak := _weakness(best, evidence):
        findings.append(weak)
    order = sorted(range(len(kept)), key=lambda index: float(kept[index].times[0]))
    drops = tuple(_drop(kept[index]) for index in order)
    return _Drops(drops, (evidence, *weighed[1:]), tuple(findings))


def _drop(chain: Chain) -> Drop:
    return Drop(chain.times, chain.time_sd, chain.missing)


def _refuse(onsets: Onsets, chain: Chain, evidence: Evidence) -> None:
    """Refuse a chain that something else explains as well, or that is one backwards."""
    said = f"{len(onsets.times)} onsets, at best {len(chain.times)} in a row like bounces"
    if evidence.backwards >= evidence.score:
        raise NoBallError(f"{said}, and a better row when it is played backwards")
    if evidence.log_odds < 0.0:
        raise NoBallError(f"{said}, better explained by {evidence.likeliest}")


def _weakness(chain: Chain, evidence: Evidence) -> BareFinding | None:
    """Say that the evidence is weak."""
    chance = float(special.expit(-evidence.log_odds))
    few, unsure = len(chain.times) < ENOUGH, evidence.log_odds < SURE
    if not (few or unsure):
        return None
    why = f"{len(chain.times)} bounces" if few else f"{evidence.likeliest} instead, {chance:.1%}"
    sentence = (
        f"The evidence is weak ({why}): record the ball again, alone, from its first bounce "
        "to its last."
    )
    return BareFinding("weak", sentence, chance, (0,))


def _another(chain: Chain, posterior: Posterior, apart: float) -> BareFinding:
    median = float(np.median(interval_ratios(chain.times, chain.missing)))
    at = float((posterior.weights * posterior.restitution(REFERENCE_SPEED)).sum())
    sentence = (
        f"A drop from {chain.times[0]:.2f} s on, {len(chain.times)} bounces with a ratio of "
        f"{median:.4f}, does not fit the restitution {at:.4f} of the others and is left out: "
        "record one ball on one surface at a time."
    )
    return BareFinding("disagreement", sentence, float(np.exp(-max(apart, 0.0))), ())


def _answer(posterior: Posterior, found: _Drops, *, certainty: float) -> BareCalibration:
    """Read restitution by speed off the posterior, widened by doubt and by lack of fit."""
    criticism = times_criticism.criticise(posterior, found.drops)
    findings = [*found.findings, *criticism.findings]
    scatter = float(torch.exp((posterior.weights * posterior.balls.scatter.log()).sum()))
    if scatter > IRREGULAR:
        findings.append(_irregular(scatter))
    slowest, fastest, first = _speeds(posterior, found.drops)

    def points(speed: float) -> tuple[ndarray, ndarray]:
        return _mixed(posterior, speed, extra=criticism.extra, certainty=certainty)

    def at(speed: float) -> Restitution:
        return _summary(speed, *points(speed))

    return BareCalibration(
        at_first_bounce=at(first),
        at_reference=at(REFERENCE_SPEED),
        band=tuple(at(float(speed)) for speed in np.linspace(slowest, fastest, _BAND)),
        members=posterior.members(),
        terminal_speed=_terminal_speed(posterior),
        drops=found.drops,
        evidence=found.evidence,
        ratios=tuple(interval_ratios(drop.times, drop.missing) for drop in found.drops),
        samples=quantiles(*points(first), (np.arange(SAMPLES) + 0.5) / SAMPLES),
        findings=tuple(findings),
    )


def _irregular(scatter: float) -> BareFinding:
    sentence = (
        f"Successive bounces scatter by {scatter:.1%}, more than a round ball on a flat surface: "
        "bounces may be missed or false, or the ball leaves at odd angles."
    )
    return BareFinding("irregular", sentence, 0.0, ())


def _speeds(posterior: Posterior, drops: Sequence[Drop]) -> tuple[float, float, float]:
    """Return the slowest and fastest impact speeds, and that of the first bounce detected."""
    weights = posterior.weights
    drag = np.array(float((weights * posterior.balls.drag.log()).sum().exp()))
    gaps = [gap for drop in drops for gap in _whole(drop)]
    met = [
        float(drop_times.impact(drop_times.exit_speed(gap, drag), drag))
        for gap in (min(gaps), max(gaps))
    ]
    away = float(drop_times.exit_speed(float(_whole(drops[0])[0]), drag))
    first = away
    for _ in range(8):
        first = away / float((weights * posterior.restitution(first)).sum())
    return met[0], max(met[1], first), first


def _whole(drop: Drop) -> Float[ndarray, " interval"]:
    """Return the intervals across which no bounce was missed; all of them if there is none."""
    gaps = np.diff(drop.times)
    whole = np.delete(gaps, list(drop.missing))
    return whole if len(whole) else gaps


def _mixed(
    posterior: Posterior, speed: float, *, extra: float, certainty: float
) -> tuple[Float[ndarray, " point"], Float[ndarray, " point"]]:
    """Return restitutions at a speed and their weights, widened and mixed with the prior."""
    values, weights = posterior.restitution(speed).numpy(), posterior.weights.numpy()
    mean = float(weights @ values)
    sd = math.sqrt(float(weights @ (values - mean) ** 2))
    values = mean + math.hypot(sd, extra) / max(sd, 1e-9) * (values - mean)
    prior = RANGE[0] + np.ptp(RANGE) * (np.arange(_PRIOR_POINTS) + 0.5) / _PRIOR_POINTS
    share = np.full(_PRIOR_POINTS, (1.0 - certainty) / _PRIOR_POINTS)
    return np.append(values, prior), np.append(certainty * weights, share)


def _summary(
    speed: float, values: Float[ndarray, " point"], weights: Float[ndarray, " point"]
) -> Restitution:
    mean = float(weights @ values)
    sd = math.sqrt(float(weights @ (values - mean) ** 2))
    low, high = quantiles(values, weights, np.array([0.05, 0.95])).tolist()
    return Restitution(speed, mean, sd, (low, high))


def _terminal_speed(posterior: Posterior) -> tuple[float, float, float]:
    """Return the median and the 90 % interval given the constant law."""
    alone = posterior.only("constant")
    logs = 0.5 * (math.log(GRAVITY) - alone.balls.drag.log()).numpy()
    low, median, high = quantiles(logs, alone.weights.numpy(), np.array([0.05, 0.5, 0.95]))
    return math.exp(median), math.exp(low), math.exp(high)


def quantiles(
    values: Float[ndarray, " point"],
    weights: Float[ndarray, " point"],
    levels: Float[ndarray, " level"],
) -> Float[ndarray, " level"]:
    """Return quantiles of weighted points, interpolated between the middles of their weights.

    >>> quantiles(np.array([3.0, 1.0, 2.0]), np.full(3, 1 / 3), np.array([0.5]))
    array([2.])
    """
    places, number = np.unique(values, return_inverse=True)
    mass = np.bincount(number, weights)
    return np.asarray(np.interp(levels, np.cumsum(mass) - 0.5 * mass, places))
