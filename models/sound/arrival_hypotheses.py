"""Hypotheses about one impact's arrivals: where they come from and what each costs.

No estimator of delays is best everywhere: correlation over long windows wins in free field and
loses near walls, the first arrival is never far off but coarse. So each estimator, and the first
arrival with several thresholds, is a start from which the direct sound is aligned
(`direct_sound`), the hyperbolas are solved (`multilateration`) and the hypothesis h is weighed:

    log w_h = - n/2 log misfit_h                      what the common waveform leaves over
              - sum_m huber((t_m - first_m) / gate)   distance from the first arrivals
              - residual_h / 2                        redundancy, with more than three microphones
              - sum_m (log a_m d_m / g_m)^2 / 2 q^2   loudness falls as one over distance
              - 3 outside the region

and g_m the microphones' gains, about equal unless other impacts have shown them. Delays longer than
sound needs between two microphones have no weight.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound import delays, direct_sound, multilateration
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.delays import Arrivals
from ricochet.models.sound.direct_sound import Alignment
from ricochet.models.sound.multilateration import Fix, Region

SHARES = (0.3, 0.15, 0.5)  # of a channel's largest sample that counts as direct sound
COMPARED = 0.3e-3  # s of direct sound on which hypotheses are compared
BEYOND = 1.0  # m beyond the region where solutions still rival those inside
OUTSIDE = 3.0  # nats; cost of a position outside the region
GATE = 40e-6  # s; error of first arrivals
SAME = 15e-6  # s; hypotheses closer than this are one


@dataclass(frozen=True)
class Tolerances:
    """What an impact's stated uncertainty adds to noise and echoes.

    Attributes:
        place_sd: How well a microphone's position is known along any direction, m: 0 for a
            simulated rig; with a tape measure 1e-3 to 2e-3 is honest, and dominates.
        arrival_sd: Error of an arrival that no model explains, s: sound goes 0.007 mm in 0.02 us,
            more than interpolation leaves.
        contact_sd: Error of the contact's time within the click, s: next to nothing where all
            impacts click alike; a real contact changes with its speed, and 20e-6 is honest.
        loudness_sd: Spread of the microphones' unknown gains, nepers.
        directivity_sd: Spread of a microphone's gain over directions, nepers; 0.1 is 0.9 dB.
        rival: Weight of rivals elsewhere at which an impact is an outlier.
        misfit: Unexplained share of the direct sound's energy at which an impact is an outlier.
    """

    place_sd: float = 0.0
    arrival_sd: float = 0.02e-6
    contact_sd: float = 0.05e-6
    loudness_sd: float = 0.5
    directivity_sd: float = 0.1
    rival: float = 0.1
    misfit: float = 0.3


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis on the arrivals, s, aligned and solved; `cost` is minus its log weight, nats."""

    times: Float[ndarray, " channel"]
    fix: Fix
    misfit: float
    cost: float


def best(
    samples: Float[ndarray, "channel frame"],
    arrival_time: float,
    *,
    microphones: Microphones,
    region: Region,
    tolerances: Tolerances,
    noise: Float[ndarray, " channel"],
    gains: Float[ndarray, " channel"] | None = None,
) -> tuple[Hypothesis | None, bool]:
    """Find the hypothesis of least cost about an impact's arrivals, and whether it is uncertain.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> travel, _ = multilateration.gradients(np.array([0.1, 0.2]), microphones=array)
    >>> samples = np.zeros((3, 8820))
    >>> samples[[0, 1, 2], np.rint((0.1 + travel) * 44100.0).astype(int)] = 1.0 / travel
    >>> region, noise = multilateration.surroundings(array), np.full(3, 1e-3)
    >>> found, uncertain = best(samples, 0.1006, microphones=array, region=region,
    ...                         tolerances=Tolerances(), noise=noise)
    >>> found.fix.position.round(1), uncertain
    (array([0.1, 0.2]), False)

    Args:
        arrival_time: First arrival at any microphone, within 0.3 ms, s.
        noise: Standard deviation of each channel's background.
        gains: Logarithms of the microphones' gains; None if unknown.
    """
    starts = _gather(samples, arrival_time, microphones=microphones)
    firsts = np.array([start.times for start in starts[: len(SHARES)]])
    kept = _distinct(starts, microphones=microphones)
    aligned = direct_sound.align(
        samples,
        np.array([start.times for start in kept]),
        width=np.full(len(kept), COMPARED),
        sample_rate=microphones.sample_rate,
        noise=noise,
    )
    weighed = _weigh(
        aligned,
        firsts,
        microphones=microphones,
        region=region,
        tolerances=tolerances,
        gains=gains,
    )
    if not weighed or not np.isfinite(starts[0].sd).all():
        return None, True
    winner = min(weighed, key=lambda hypothesis: hypothesis.cost)
    uncertain = (
        _rival_weight(weighed, winner) > tolerances.rival
        or winner.misfit > tolerances.misfit
        or not bool(region.holds(winner.fix.position))
        or bool(_strays(winner.times, firsts).max() > 2 * GATE)
    )
    return winner, uncertain


def implied_gains(
    strengths: Float[ndarray, " channel"],
    point: Float[ndarray, " 2"],
    *,
    microphones: Microphones,
) -> Float[ndarray, " channel"]:
    """Return the log gains, less their mean, that these strengths imply for an impact at a point.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> travel, _ = multilateration.gradients(np.array([0.1, 0.2]), microphones=array)
    >>> implied_gains(np.array([1.0, 1.0, 2.0]) / travel, np.array([0.1, 0.2]), microphones=array)
    array([-0.23104906, -0.23104906,  0.46209812])
    """
    travel, _ = multilateration.gradients(point, microphones=microphones)
    level = np.log(np.abs(strengths) * travel)
    return np.asarray(level - level.mean())


def _gather(
    samples: Float[ndarray, "channel frame"], arrival_time: float, *, microphones: Microphones
) -> list[Arrivals]:
    """Return all estimators' arrivals on one clock; the first arrival by each share comes first."""
    firsts = delays.first_arrivals(samples, arrival_time, microphones=microphones, shares=SHARES)
    spectra = delays.window_spectra(samples, arrival_time, microphones=microphones, window=0.02)
    longs = [
        delays.correlate(spectra, arrival_time, microphones=microphones, whitening=whitening)
        for whitening in (0.0, 1.0)  # plain and phase correlation
    ]
    return firsts + [
        replace(long, times=long.times + np.median(firsts[0].times - long.times)) for long in longs
    ]


def _distinct(starts: list[Arrivals], *, microphones: Microphones) -> list[Arrivals]:
    """Drop starts that are implausible or that repeat an earlier one."""
    slack = 1.5 / microphones.sample_rate
    kept: list[Arrivals] = []
    for start in starts:
        new = all(np.abs(_centred(start.times - other.times)).max() >= SAME for other in kept)
        if new and multilateration.plausible(start.times, microphones=microphones, slack=slack):
            kept.append(start)
    return kept or starts[:1]


def _weigh(
    aligned: Alignment,
    firsts: Float[ndarray, "share channel"],
    *,
    microphones: Microphones,
    region: Region,
    tolerances: Tolerances,
    gains: Float[ndarray, " channel"] | None,
) -> list[Hypothesis]:
    """Solve each aligned start and add up its costs."""
    channels = firsts.shape[1]
    freedom = COMPARED * microphones.sample_rate * (channels - 1)
    hypotheses = []
    for index, times in enumerate(aligned.times):
        sd = np.hypot(aligned.sd[index], tolerances.arrival_sd)
        fixes = multilateration.solve(
            times,
            sd,
            microphones=microphones,
            region=multilateration.grown(region, BEYOND),
            place_sd=tolerances.place_sd,
        )
        away = _strays(times, firsts) / GATE
        misfit = float(aligned.misfit[index])
        cost = 0.5 * freedom * np.log(misfit + 0.003) + np.sum(
            np.where(away < 1, 0.5 * away**2, away - 0.5)
        )
        for fix in fixes:
            implied = implied_gains(aligned.strengths[index], fix.position, microphones=microphones)
            loudness = _loudness_cost(implied, gains, tolerances=tolerances)
            outside = 0.0 if region.holds(fix.position) else OUTSIDE
            total = float(cost + loudness + outside + 0.5 * min(fix.residual, 50.0))
            hypotheses.append(Hypothesis(times, fix, misfit, total))
    return hypotheses


def _loudness_cost(
    implied: Float[ndarray, " channel"],
    gains: Float[ndarray, " channel"] | None,
    *,
    tolerances: Tolerances,
) -> float:
    """Return what the loudness of the channels costs a position."""
    if gains is None:
        return float(0.5 * np.sum((implied / tolerances.loudness_sd) ** 2))
    return float(0.5 * np.sum(((implied - gains) / tolerances.directivity_sd) ** 2))


def _rival_weight(hypotheses: list[Hypothesis], winner: Hypothesis) -> float:
    """Return the weight of the hypotheses that lie more than 10 mm from the winner."""
    weights = np.exp([winner.cost - hypothesis.cost for hypothesis in hypotheses])
    apart = np.array(
        [np.linalg.norm(h.fix.position - winner.fix.position) > 0.01 for h in hypotheses]
    )
    return float(weights[apart].sum() / weights.sum())


def _strays(
    times: Float[ndarray, " channel"], firsts: Float[ndarray, "share channel"]
) -> Float[ndarray, " channel"]:
    """Return how far each channel is from its nearest first arrival, but for a common shift."""
    shift = np.median(times - firsts, axis=1, keepdims=True)
    return np.asarray(np.abs(times - firsts - shift).min(axis=0))


def _centred(times: Float[ndarray, " channel"]) -> Float[ndarray, " channel"]:
    """Subtract the median: a common shift has no meaning."""
    return np.asarray(times - np.median(times))
