"""Where an impact was and when it sounded, from several hypotheses about its delays.

No estimator of delays is best everywhere: correlation over long windows wins in free field and
loses near walls, the first arrival is never far off but coarse. So each estimator, and the first
arrival with several ideas of what counts as one, is a start from which the direct sound is aligned
(`direct_sound`), the hyperbolas are solved (`multilateration`) and the hypothesis h is weighed:

    log w_h = - n/2 log misfit_h                      what the common waveform leaves over
              - sum_m huber((t_m - first_m) / gate)   distance from the first arrivals
              - residual_h / 2                        redundancy, with more than three microphones
              - sum_m (log a_m d_m - mean)^2 / 2 q^2  loudness falls as one over distance

Hypotheses with a delay longer than sound needs between two microphones, or without a solution
inside the region, have no weight. The winner is aligned over longer and longer windows and the one
of least stated variance is taken: in free field that uses the whole click, near a wall the part
before the echo. A bounce is an outlier when a rival elsewhere holds a notable weight, when the
winner leaves much unexplained, when it strays from the first arrivals, or when the residual is
improbable.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from models.sound import delays, direct_sound, multilateration
from models.sound.arrays import Microphones
from models.sound.delays import Arrivals
from models.sound.direct_sound import Alignment
from models.sound.multilateration import Fix, Region

SHARES = (0.3, 0.15, 0.5)  # of a channel's largest sample that counts as direct sound
JUDGED = 0.3e-3  # s of direct sound on which hypotheses are compared
WIDTHS = np.array([0.15, 0.2, 0.25, 0.35, 0.5, 0.7, 1.0, 1.5, 2.2, 3.2]) * 1e-3  # s
GATE = 40e-6  # s; how far first arrivals stray
SAME = 15e-6  # s; hypotheses closer than this are one


@dataclass(frozen=True)
class Tolerances:
    """What a bounce's stated uncertainty adds to noise and echoes.

    Attributes:
        place_sd: How well a microphone's place is known along any direction, m: nothing for a
            simulated rig; with a tape measure 1e-3 to 2e-3 is honest, and dominates.
        arrival_sd: Error of an arrival that no model explains, s: sound goes 0.02 mm in 0.05 us,
            about what interpolation leaves.
        contact_sd: Error of the contact's time within the click, s: next to nothing where every
            bounce clicks alike; a real ball's contact changes with its speed, and 20e-6 is honest.
        loudness_sd: Spread of the microphones' gains, nepers.
        rival: Weight of rivals elsewhere at which a bounce is an outlier.
        misfit: Unexplained share of the direct sound's energy at which a bounce is an outlier.
    """

    place_sd: float = 0.0
    arrival_sd: float = 0.05e-6
    contact_sd: float = 0.1e-6
    loudness_sd: float = 0.5
    rival: float = 0.1
    misfit: float = 0.3


SURVEYED = Tolerances(place_sd=1.5e-3, contact_sd=20e-6)  # a real rig, by tape measure


@dataclass(frozen=True)
class Location:
    """One located impact.

    Attributes:
        position: Point of the surface, m; NaN where nothing fits.
        covariance: Of the position, m^2.
        emission_time: Time of the impact on the recording's clock, s: arrival less travel.
        time_sd: Standard deviation of the emission time, s.
        outlier: Whether the position should not be relied upon.
        residual: Sum of squared arrival errors over their variances; 0 with three microphones.
        method: The estimators that led here, and the length of direct sound that was used.
    """

    position: Float[ndarray, " 2"]
    covariance: Float[ndarray, "2 2"]
    emission_time: float
    time_sd: float
    outlier: bool
    residual: float
    method: str


@dataclass(frozen=True)
class _Hypothesis:
    """One idea of the arrivals, aligned and solved."""

    times: Float[ndarray, " channel"]
    fix: Fix
    misfit: float
    cost: float
    method: str


def locate(
    samples: Float[ndarray, "channel frame"],
    arrival_time: float,
    *,
    microphones: Microphones,
    region: Region | None = None,
    tolerances: Tolerances | None = None,
) -> Location:
    """Locate one impact.

    Args:
        samples: The recording, double precision.
        arrival_time: First arrival at any microphone, within 0.3 ms, s.
        microphones: Three microphones or more, not on one line.
        region: Where impacts can be; None is the microphones' surroundings.
        tolerances: What the stated uncertainty adds to noise and echoes; None takes the defaults.

    Returns:
        The location; flagged as outlier, with NaN and infinite variance where nothing fits.
    """
    region = region or multilateration.surroundings(microphones)
    tolerances = tolerances or Tolerances()
    noise = delays.background(samples, arrival_time, sample_rate=microphones.sample_rate)
    starts = _starts(samples, arrival_time, microphones=microphones)
    firsts = np.array([start.times for start in starts[: len(SHARES)]])
    kept = _distinct(starts, arrival_time, microphones=microphones)
    aligned = direct_sound.align(
        samples,
        np.array([start.times for start in kept]),
        width=np.full(len(kept), JUDGED),
        sample_rate=microphones.sample_rate,
        noise=noise,
    )
    hypotheses = _weigh(
        kept, aligned, firsts, microphones=microphones, region=region, tolerances=tolerances
    )
    if not hypotheses or not np.isfinite(starts[0].sd).all():
        return _nowhere(arrival_time, channels=len(samples))
    best = min(hypotheses, key=lambda hypothesis: hypothesis.cost)
    doubtful = _rivals(hypotheses, best) > tolerances.rival
    doubtful |= best.misfit > tolerances.misfit
    doubtful |= bool(_astray(best.times, firsts).max() > 2 * GATE)
    return _finish(
        samples,
        best,
        noise,
        doubtful,
        microphones=microphones,
        region=region,
        tolerances=tolerances,
    )


def _starts(
    samples: Float[ndarray, "channel frame"], arrival_time: float, *, microphones: Microphones
) -> list[Arrivals]:
    """All estimators' arrivals on one clock; the first arrival by each share comes first."""
    firsts = [
        delays.first_arrival(samples, arrival_time, microphones=microphones, share=share)
        for share in SHARES
    ]
    spectra = delays.window_spectra(samples, arrival_time, microphones=microphones, window=0.02)
    longs = [
        delays.correlate(
            spectra, arrival_time, microphones=microphones, whitening=whitening, method=method
        )
        for whitening, method in ((0.0, "plain correlation"), (1.0, "phase correlation"))
    ]
    middle = np.median(firsts[0].times)
    return firsts + [
        replace(long, times=long.times - np.median(long.times) + middle) for long in longs
    ]


def _distinct(
    starts: list[Arrivals], arrival_time: float, *, microphones: Microphones
) -> list[Arrivals]:
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
) -> list[_Hypothesis]:
    """Solve each aligned start and add up what speaks against it."""
    channels = firsts.shape[1]
    freedom = JUDGED * microphones.sample_rate * (channels - 1)
    hypotheses = []
    for index, start in enumerate(starts):
        times = aligned.times[index]
        sd = np.hypot(aligned.sd[index], tolerances.arrival_sd)
        fixes = multilateration.solve(
            times, sd, microphones=microphones, region=region, place_sd=tolerances.place_sd
        )
        away = _astray(times, firsts) / GATE
        misfit = float(aligned.misfit[index])
        cost = 0.5 * freedom * np.log(misfit + 0.003) + np.sum(
            np.where(away < 1, 0.5 * away**2, away - 0.5)
        )
        for fix in fixes:
            travel, _ = multilateration.gradients(fix.position, microphones=microphones)
            level = np.log(np.abs(aligned.strengths[index]) * travel)
            gains = 0.5 * np.sum((level - level.mean()) ** 2) / tolerances.loudness_sd**2
            total = float(cost + gains + 0.5 * min(fix.residual, 50.0))
            hypotheses.append(_Hypothesis(times, fix, misfit, total, start.method))
    return hypotheses


def _rivals(hypotheses: list[_Hypothesis], best: _Hypothesis) -> float:
    """Weight of the hypotheses that lie more than 10 mm from the best one."""
    weights = np.exp([best.cost - hypothesis.cost for hypothesis in hypotheses])
    apart = np.array(
        [np.linalg.norm(h.fix.position - best.fix.position) > 0.01 for h in hypotheses]
    )
    return float(weights[apart].sum() / weights.sum())


def _finish(
    samples: Float[ndarray, "channel frame"],
    best: _Hypothesis,
    noise: Float[ndarray, " channel"],
    doubtful: bool,
    *,
    microphones: Microphones,
    region: Region,
    tolerances: Tolerances,
) -> Location:
    """Align the winner with the window of least variance and state place, time and covariance."""
    rate = microphones.sample_rate
    aligned = direct_sound.align(
        samples,
        np.tile(best.times, (len(WIDTHS), 1)),
        width=WIDTHS,
        sample_rate=rate,
        noise=noise,
        steps=3,
    )
    strayed = np.abs(aligned.times - best.times).max(axis=1) > 0.5 / rate
    chosen = int(np.argmin(np.sum(aligned.sd**2, axis=1) + strayed))
    times, sd = aligned.times[chosen], np.hypot(aligned.sd[chosen], tolerances.arrival_sd)
    fixes = multilateration.solve(
        times,
        sd,
        microphones=microphones,
        region=region,
        place_sd=tolerances.place_sd,
        start=best.fix.position,
    )
    near = [fix for fix in fixes if np.linalg.norm(fix.position - best.fix.position) < 0.02]
    fix = near[0] if near else best.fix
    level = 1 / np.sqrt(np.sum((aligned.strengths[chosen] / noise) ** 2))
    offset, offset_sd = _contact(aligned.waveform[chosen], level, sample_rate=rate)
    freedom = len(samples) - 3
    improbable = freedom > 0 and fix.residual > stats.chi2.ppf(0.999, freedom)
    common = 1 / np.sum(sd**-2)  # alignment leaves the common shift to the contact's error
    variance = fix.covariance[2, 2] - common + offset_sd**2 + tolerances.contact_sd**2
    return Location(
        fix.position,
        fix.covariance[:2, :2],
        fix.emission + offset,
        float(np.sqrt(variance)),
        bool(doubtful or improbable or not near),
        fix.residual,
        f"{best.method}, {1e3 * WIDTHS[chosen]:.2f} ms",
    )


def _contact(
    waveform: Float[ndarray, " frame"], noise: float, *, sample_rate: float
) -> tuple[float, float]:
    """Time of contact after the aligned arrival, and its standard deviation.

    A surface is pushed from rest and left at rest, so the pressure, which follows the change of the
    push, first turns its sign at the middle of the contact.
    """
    fine = delays.refine(waveform[: 4 * direct_sound.LEAD])
    span = int(delays.FIRST_PEAK * sample_rate * delays.REFINEMENT)
    rise, _ = delays.first_rise(fine, noise, share=SHARES[0], span=span, limit=len(fine))
    after = fine[int(np.ceil(rise)) :] * np.sign(fine[int(np.ceil(rise))])
    turned = int(np.argmax(after < 0))
    slope = float(after[turned - 1] - after[turned]) if turned else 0.0
    if slope <= 0:
        return 0.0, 1e-3
    turn = int(np.ceil(rise)) + turned - float(-after[turned]) / slope
    fineness = sample_rate * delays.REFINEMENT
    return turn / fineness - direct_sound.LEAD / sample_rate, noise / (slope * fineness)


def _nowhere(arrival_time: float, *, channels: int) -> Location:
    """State that no place explains the sound; the arrival is still known to a few milliseconds."""
    return Location(
        np.full(2, np.nan),
        np.diag([np.inf, np.inf]),
        arrival_time,
        1e-3,
        True,
        np.inf,
        f"none of the hypotheses about {channels} channels",
    )


def _astray(
    times: Float[ndarray, " channel"], firsts: Float[ndarray, "share channel"]
) -> Float[ndarray, " channel"]:
    """How far each channel is from the nearest idea of its first arrival, common shift aside."""
    shift = np.median(times - firsts, axis=1, keepdims=True)
    return np.asarray(np.abs(times - firsts - shift).min(axis=0))


def _centred(times: Float[ndarray, " channel"]) -> Float[ndarray, " channel"]:
    """Differences from the median, for the common shift has no meaning."""
    return np.asarray(times - np.median(times))
