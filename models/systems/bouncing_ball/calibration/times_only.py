r"""Restitution from one microphone: from onsets or bounce times to an answer that says what it is.

All drops of the ball (`drop_choice`) together give the posterior (`times_posterior`), and of it
restitution by speed. One number is stated at the impact speed w_0 of the first bounce detected,

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
from jaxtyping import Float
from numpy import ndarray
from scipy import special

from ricochet.models.core.constants import GRAVITY
from ricochet.models.sound.onsets import Onsets
from ricochet.models.systems.bouncing_ball.calibration import (
    drop_choice,
    drop_times,
    times_criticism,
    times_posterior,
)
from ricochet.models.systems.bouncing_ball.calibration.drop_choice import Choice
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop
from ricochet.models.systems.bouncing_ball.calibration.times_criticism import BareFinding
from ricochet.models.systems.bouncing_ball.calibration.times_posterior import Posterior
from ricochet.models.systems.bouncing_ball.calibration.times_quadrature import RANGE
from ricochet.models.systems.bouncing_ball.chains import parameters
from ricochet.models.systems.bouncing_ball.listening.ball_evidence import Evidence
from ricochet.models.systems.bouncing_ball.listening.bounce_chains import interval_ratios
from ricochet.models.systems.bouncing_ball.restitution_laws import REFERENCE_SPEED

VAGUE = 0.003
"""Standard deviation of restitution above which it is said that air may be meant."""
MOST = 0.98
"""Share of its speed above which no ball is known to keep it at a bounce."""
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
        beyond: The same from the nearest of these to the reference speed; empty where it was met.
        members: Probability of each law.
        terminal_speed: Of the ball, m/s, if its restitution is constant: median and 90 % interval.
        drag: Posterior mean, 1/m, where the ball's size was stated; else None.
        drops: The bounces that were used.
        evidence: That of a ball in the best drop, then in those that joined it; empty where it was
            not asked for.
        ratios: Ratio of successive intervals of each drop.
        samples: Equally probable restitutions at the first bounce, ascending.
    """

    at_first_bounce: Restitution
    at_reference: Restitution
    band: tuple[Restitution, ...]
    beyond: tuple[Restitution, ...]
    members: dict[str, float]
    terminal_speed: tuple[float, float, float]
    drag: float | None
    drops: tuple[Drop, ...]
    evidence: tuple[Evidence, ...]
    ratios: tuple[Float[ndarray, " _"], ...]
    samples: Float[ndarray, " sample"]
    findings: tuple[BareFinding, ...]


def calibrate_recording(
    onsets: Onsets,
    alike: Sequence[Onsets] = (),
    drag: tuple[float, float] = parameters.UNKNOWN_DRAG,
) -> BareCalibration:
    """Infer restitution from the onsets of a recording of one ball.

    Args:
        alike: Onsets of the same recording that sound alike, one entry a kind of click.
        drag: Centre and spread of the prior of log drag, 1/m (`parameters.drag_prior`).

    Raises:
        NoBallError: If no chain of onsets is a ball's rather than something else's.
    """
    found = drop_choice.choose(onsets, alike, drag)
    weight = float(special.expit(found.log_odds))
    sized = drag != parameters.UNKNOWN_DRAG
    return _answer(found.posterior(drag), found, certainty=weight, sized=sized)


def calibrate_drops(
    drops: Sequence[Drop], drag: tuple[float, float] = parameters.UNKNOWN_DRAG
) -> BareCalibration:
    """Infer restitution from the bounce times of drops that are known to be one ball's.

    Args:
        drag: Centre and spread of the prior of log drag, 1/m.

    Raises:
        ValueError: If there is no drop, or one has fewer than three ascending finite times.
    """
    posterior = times_posterior.infer(drops, drag)
    found = Choice(tuple(drops), (), (), posterior)
    return _answer(posterior, found, certainty=1.0, sized=drag != parameters.UNKNOWN_DRAG)


def _answer(
    posterior: Posterior, found: Choice, *, certainty: float, sized: bool
) -> BareCalibration:
    """Read restitution by speed off the posterior, widened by doubt and by lack of fit."""
    criticism = times_criticism.criticise(posterior, found.drops)
    findings = [*found.findings, *criticism.findings]
    scatter = math.exp(float(posterior.weights @ np.log(posterior.balls.scatter)))
    if scatter > IRREGULAR:
        findings.append(_irregular(scatter))
    slowest, fastest, first = _speeds(posterior, found.drops)
    _, sd = posterior.moments(first)

    def points(speed: float) -> tuple[ndarray, ndarray]:
        return _mixed(posterior, speed, extra=criticism.extra, certainty=certainty)

    def at(speed: float) -> Restitution:
        return _summary(speed, *points(speed))

    if not any(finding.name == "weak" for finding in findings):  # which says what to do
        findings += _doubts(points(first), sd, found.drops, sized=sized)
    return BareCalibration(
        at_first_bounce=at(first),
        at_reference=at(REFERENCE_SPEED),
        band=tuple(at(float(speed)) for speed in np.linspace(slowest, fastest, _BAND)),
        beyond=tuple(at(speed) for speed in _unmet(slowest, fastest)),
        members=posterior.members(),
        terminal_speed=_terminal_speed(posterior),
        drag=float((posterior.weights * posterior.balls.drag).sum()) if sized else None,
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


def _doubts(
    points: tuple[ndarray, ndarray], sd: float, drops: Sequence[Drop], *, sized: bool
) -> list[BareFinding]:
    """Return what is to be said of restitution at the first bounce, its points and deviation."""
    values, weights = points
    if float(weights @ values) > MOST:
        return [_lossless(values, weights)]
    return [_vague(sd, drops, sized=sized)] if sd > VAGUE else []


def _vague(sd: float, drops: Sequence[Drop], *, sized: bool) -> BareFinding:
    fall = "et the ball fall from lower, and record it until it lies still."
    state = "State the ball's size (`--ball NAME`; in a session object.diameter and object.mass), "
    sentence = (
        f"Restitution at the first bounce is known only to {sd:.3f}: air, and a restitution that "
        f"depends on speed, explain the times alike{_gaps(drops)}. "
        f"{'L' if sized else state + 'or l'}{fall}"
    )
    return BareFinding("air", sentence, 1.0, ())


def _gaps(drops: Sequence[Drop]) -> str:
    """Say between which bounces one was missed; nothing if none was."""
    found = [
        f"{drop.times[gap]:.2f} and {drop.times[gap + 1]:.2f} s"
        for drop in drops
        for gap in drop.missing
    ]
    return f", and a bounce is missing or cut out between {', '.join(found)}" if found else ""


def _lossless(values: Float[ndarray, " point"], weights: Float[ndarray, " point"]) -> BareFinding:
    """Say that the ball seems to keep more of its speed than any ball does."""
    sentence = (
        f"The ball seems to lose next to nothing; none is known to keep more than {MOST:.0%} of "
        "its speed. Is another ball meant (`--ball`)? Was the clip slowed down, or its sampling "
        "rate changed?"
    )
    return BareFinding("lossless", sentence, float(weights[values <= MOST].sum()), ())


def _speeds(posterior: Posterior, drops: Sequence[Drop]) -> tuple[float, float, float]:
    """Return the slowest and fastest impact speeds, and that of the first bounce detected."""
    weights = posterior.weights
    drag = np.asarray(np.exp(weights @ np.log(posterior.balls.drag)))
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


def _unmet(slowest: float, fastest: float) -> list[float]:
    """Return speeds from the nearest one that was met to the reference, none if it was met."""
    nearest = min(max(REFERENCE_SPEED, slowest), fastest)
    if nearest == REFERENCE_SPEED:
        return []
    return [float(speed) for speed in np.linspace(nearest, REFERENCE_SPEED, _BAND // 2)]


def _whole(drop: Drop) -> Float[ndarray, " interval"]:
    """Return the intervals across which no bounce was missed; all of them if there is none."""
    gaps = np.diff(drop.times)
    whole = np.delete(gaps, list(drop.missing))
    return whole if len(whole) else gaps


def _mixed(
    posterior: Posterior, speed: float, *, extra: float, certainty: float
) -> tuple[Float[ndarray, " point"], Float[ndarray, " point"]]:
    """Return restitutions at a speed and their weights, widened and mixed with the prior."""
    values, weights = posterior.restitution(speed), posterior.weights
    mean, sd = posterior.moments(speed)
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
    logs = 0.5 * (math.log(GRAVITY) - np.log(alone.balls.drag))
    low, median, high = quantiles(logs, alone.weights, np.array([0.05, 0.5, 0.95]))
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
