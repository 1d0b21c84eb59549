"""Hypotheses about one impact's arrivals: where they come from and what speaks against each.

No estimator of delays is best everywhere: correlation over long windows wins in free field and
loses near walls, the first arrival is never far off but coarse. So each estimator, and the first
arrival with several ideas of what counts as one, is a start from which the direct sound is aligned
(`direct_sound`), the hyperbolas are solved (`multilateration`) and the hypothesis h is weighed:

    log w_h = - n/2 log misfit_h                      what the common waveform leaves over
              - sum_m huber((t_m - first_m) / gate)   distance from the first arrivals
              - residual_h / 2                        redundancy, with more than three microphones
              - sum_m (log a_m d_m / g_m)^2 / 2 q^2   loudness falls as one over distance
              - 3 outside the region

and g_m the microphones' gains, about equal unless the take has shown them. Delays longer than sound
needs between two microphones have no weight.
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
JUDGED = 0.3e-3  # s of direct sound on which hypotheses are compared
BEYOND = 1.0  # m beyond the region where solutions still rival those inside
OUTSIDE = 3.0  # nats against a place outside the region
GATE = 40e-6  # s; how far first arrivals stray
SAME = 15e-6  # s; hypotheses closer than this are one


@dataclass(frozen=True)
class Tolerances:
    """What a bounce's stated uncertainty adds to noise and echoes.

    Attributes:
        place_sd: How well a microphone's place is known along any direction, m: nothing for a
            simulated rig; with a tape measure 1e-3 to 2e-3 is honest, and dominates.
        arrival_sd: Error of an arrival that no model explains, s: sound goes 0.007 mm in 0.02 us,
            more than interpolation leaves.
        contact_sd: Error of the contact's time within the click, s: next to nothing where every
            bounce clicks alike; a real ball's contact changes with its speed, and 20e-6 is honest.
        loudness_sd: Spread of the microphones' unknown gains, nepers.
        directivity_sd: Spread of a microphone's gain over directions, nepers; 0.1 is 0.9 dB.
        rival: Weight of rivals elsewhere at which a bounce is an outlier.
        misfit: Unexplained share of the direct sound's energy at which a bounce is an outlier.
    """

    place_sd: float = 0.0
    arrival_sd: float = 0.02e-6
    contact_sd: float = 0.05e-6
    loudness_sd: float = 0.5
    directivity_sd: float = 0.1
    rival: float = 0.1
    misfit: float = 0.3


SURVEYED = Tolerances(place_sd=1.5e-3, contact_sd=20e-6)  # a real rig, by tape measure


@dataclass(frozen=True)
class Hypothesis:
    """One idea of the arrivals, aligned and solved.

    Attributes:
        times: Arrival times, s.
        fix: Place and emission time.
        misfit: Share of the direct sound that it leaves unexplained.
        cost: What speaks against it, nats.
        method: The estimators that lead here.
    """

    times: Float[ndarray, " channel"]
    fix: Fix
    misfit: float
    cost: float
    method: str


def judge(
    samples: Float[ndarray, "channel frame"],
    arrival_time: float,
    *,
    microphones: Microphones,
    region: Region,
    tolerances: Tolerances,
    noise: Float[ndarray, " channel"],
    gains: Float[ndarray, " channel"] | None = None,
) -> tuple[Hypothesis | None, bool]:
    """Find what is best believed about an impact's arrivals.

    Args:
        samples: The recording.
        arrival_time: First arrival at any microphone, within 0.3 ms, s.
        microphones: The array.
        region: Where impacts can be.
        tolerances: What is tolerated.
        noise: Standard deviation of each channel's background.
        gains: Logarithms of the microphones' gains; None if unknown.

    Returns:
        The hypothesis of least cost, None if there is none, and whether it is doubtful.
    """
    starts = _gather(samples, arrival_time, microphones=microphones)
    firsts = np.array([start.times for start in starts[: len(SHARES)]])
    kept = _distinct(starts, microphones=microphones)
    aligned = direct_sound.align(
        samples,
        np.array([start.times for start in kept]),
        width=np.full(len(kept), JUDGED),
        sample_rate=microphones.sample_rate,
        noise=noise,
    )
    weighed = _weigh(
        kept,
        aligned,
        firsts,
        microphones=microphones,
        region=region,
        tolerances=tolerances,
        gains=gains,
    )
    if not weighed or not np.isfinite(starts[0].sd).all():
        return None, True
    best = min(weighed, key=lambda hypothesis: hypothesis.cost)
    doubtful = (
        _rivals(weighed, best) > tolerances.rival
        or best.misfit > tolerances.misfit
        or not bool(region.holds(best.fix.position))
        or bool(_astray(best.times, firsts).max() > 2 * GATE)
    )
    return best, doubtful


def shown_gains(
    strengths: Float[ndarray, " channel"],
    point: Float[ndarray, " 2"],
    *,
    microphones: Microphones,
) -> Float[ndarray, " channel"]:
    """Give the microphones' gains that an impact at a point would mean.

    Args:
        strengths: Strength of the direct sound in each channel.
        point: The point, m.
        microphones: The array.

    Returns:
        Logarithm of each gain, less their mean.
    """
    travel, _ = multilateration.gradients(point, microphones=microphones)
    level = np.log(np.abs(strengths) * travel)
    return np.asarray(level - level.mean())


def _gather(
    samples: Float[ndarray, "channel frame"], arrival_time: float, *, microphones: Microphones
) -> list[Arrivals]:
    """All estimators' arrivals on one clock; the first arrival by each share comes first."""
    firsts = delays.first_arrivals(samples, arrival_time, microphones=microphones, shares=SHARES)
    spectra = delays.window_spectra(samples, arrival_time, microphones=microphones, window=0.02)
    longs = [
        delays.correlate(
            spectra, arrival_time, microphones=microphones, whitening=whitening, method=method
        )
        for whitening, method in ((0.0, "plain correlation"), (1.0, "phase correlation"))
    ]
    return firsts + [
        replace(long, times=long.times + np.median(firsts[0].times - long.times)) for long in longs
    ]


def _distinct(starts: list[Arrivals], *, microphones: Microphones) -> list[Arrivals]:
    """Drop starts that are implausible or that repeat an earlier one."""
    slack = 1.5 / microphones.sample_rate
    kept: list[Arrivals] = []
    for start in starts:
        repeats = [np.abs(_centred(start.times - other.times)).max() < SAME for other in kept]
        if any(repeats):
            twin = repeats.index(True)
            if start.method not in kept[twin].method:
                kept[twin] = replace(kept[twin], method=f"{kept[twin].method} + {start.method}")
        elif multilateration.plausible(start.times, microphones=microphones, slack=slack):
            kept.append(start)
    return kept or starts[:1]


def _weigh(
    starts: list[Arrivals],
    aligned: Alignment,
    firsts: Float[ndarray, "share channel"],
    *,
    microphones: Microphones,
    region: Region,
    tolerances: Tolerances,
    gains: Float[ndarray, " channel"] | None,
) -> list[Hypothesis]:
    """Solve each aligned start and add up what speaks against it."""
    channels = firsts.shape[1]
    freedom = JUDGED * microphones.sample_rate * (channels - 1)
    hypotheses = []
    for index, start in enumerate(starts):
        times = aligned.times[index]
        sd = np.hypot(aligned.sd[index], tolerances.arrival_sd)
        fixes = multilateration.solve(
            times,
            sd,
            microphones=microphones,
            region=region.grown(BEYOND),
            place_sd=tolerances.place_sd,
        )
        away = _astray(times, firsts) / GATE
        misfit = float(aligned.misfit[index])
        cost = 0.5 * freedom * np.log(misfit + 0.003) + np.sum(
            np.where(away < 1, 0.5 * away**2, away - 0.5)
        )
        for fix in fixes:
            shown = shown_gains(aligned.strengths[index], fix.position, microphones=microphones)
            loudness = _against(shown, gains, tolerances=tolerances)
            outside = 0.0 if region.holds(fix.position) else OUTSIDE
            total = float(cost + loudness + outside + 0.5 * min(fix.residual, 50.0))
            hypotheses.append(Hypothesis(times, fix, misfit, total, start.method))
    return hypotheses


def _against(
    shown: Float[ndarray, " channel"],
    gains: Float[ndarray, " channel"] | None,
    *,
    tolerances: Tolerances,
) -> float:
    """What the loudness in each channel speaks against a place."""
    if gains is None:
        return float(0.5 * np.sum((shown / tolerances.loudness_sd) ** 2))
    return float(0.5 * np.sum(((shown - gains) / tolerances.directivity_sd) ** 2))


def _rivals(hypotheses: list[Hypothesis], best: Hypothesis) -> float:
    """Weight of the hypotheses that lie more than 10 mm from the best one."""
    weights = np.exp([best.cost - hypothesis.cost for hypothesis in hypotheses])
    apart = np.array(
        [np.linalg.norm(h.fix.position - best.fix.position) > 0.01 for h in hypotheses]
    )
    return float(weights[apart].sum() / weights.sum())


def _astray(
    times: Float[ndarray, " channel"], firsts: Float[ndarray, "share channel"]
) -> Float[ndarray, " channel"]:
    """How far each channel is from the nearest idea of its first arrival, common shift aside."""
    shift = np.median(times - firsts, axis=1, keepdims=True)
    return np.asarray(np.abs(times - firsts - shift).min(axis=0))


def _centred(times: Float[ndarray, " channel"]) -> Float[ndarray, " channel"]:
    """Differences from the median, for the common shift has no meaning."""
    return np.asarray(times - np.median(times))
