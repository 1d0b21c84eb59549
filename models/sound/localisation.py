"""Where an impact was and when it sounded.

The best of the hypotheses about its arrivals (`arrival_hypotheses`) is aligned over longer and
longer windows and the one of least stated variance is taken: in free field that uses the whole
click, near a wall the part before the echo. An impact is an outlier when it lies outside the
region, when a rival elsewhere holds a notable weight, when the winner leaves much unexplained, when
it is far from the first arrivals, or when the residual is improbable.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.sound import arrival_hypotheses, delays, direct_sound, multilateration
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.arrival_hypotheses import Hypothesis, Tolerances
from ricochet.models.sound.delays import Arrivals
from ricochet.models.sound.multilateration import Region

WIDTHS = np.array([0.15, 0.2, 0.25, 0.35, 0.5, 0.7, 1.0, 1.5, 2.2, 3.2]) * 1e-3  # s


@dataclass(frozen=True)
class Location:
    """One located impact.

    Attributes:
        position: Point of the surface, m; NaN where nothing fits.
        covariance: Of the position, m^2.
        emission_time, time_sd: Of the impact on the recording's clock, s: arrival less travel.
        outlier: Whether the position should not be relied upon.
        residual: Sum of squared arrival errors over their variances; 0 with three microphones.
        gains: Logarithm of each microphone's gain that this impact implies, less their mean.
        arrivals: When it reached each microphone, on the clock of `emission_time`; deviations are
            those of which the position is made, the microphones' places left out.
    """

    position: Float[ndarray, " 2"]
    covariance: Float[ndarray, "2 2"]
    emission_time: float
    time_sd: float
    outlier: bool
    residual: float
    gains: Float[ndarray, " channel"]
    arrivals: Arrivals


def locate(
    samples: Float[ndarray, "channel frame"],
    arrival_time: float,
    *,
    microphones: Microphones,
    region: Region | None = None,
    tolerances: Tolerances | None = None,
    gains: Float[ndarray, " channel"] | None = None,
) -> Location:
    """Locate one impact; an outlier, with NaN and infinite variance, where nothing fits.

    >>> from ricochet.models.sound import impact_synthesis
    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> impact = np.array([0.05]), np.array([[0.1, 0.2, 0.0]]), np.ones(1)
    >>> noise, draw = impact_synthesis.Background(snr=40.0), np.random.default_rng(0)
    >>> samples = impact_synthesis.render(*impact, microphones=array, duration=0.1, noise=noise,
    ...                                   draw=draw)
    >>> found = locate(samples, 0.0507, microphones=array)
    >>> found.position.round(3), round(found.emission_time, 4), found.outlier
    (array([0.1, 0.2]), 0.05, False)

    Args:
        arrival_time: First arrival at any microphone, within 0.3 ms, s.
        microphones: Three microphones or more, not on one line.
        region: Where impacts can be; None is the microphones' surroundings.
        gains: Logarithms of the microphones' gains as other impacts imply them; None if unknown.
    """
    region = region or multilateration.surroundings(microphones)
    tolerances = tolerances or Tolerances()
    noise = delays.background(samples, arrival_time, sample_rate=microphones.sample_rate)
    best, uncertain = arrival_hypotheses.best(
        samples,
        arrival_time,
        microphones=microphones,
        region=region,
        tolerances=tolerances,
        noise=noise,
        gains=gains,
    )
    if best is None:
        return _nowhere(arrival_time, channels=len(samples))
    return _finish(
        samples,
        best,
        noise,
        uncertain,
        microphones=microphones,
        region=multilateration.grown(region, arrival_hypotheses.BEYOND),
        tolerances=tolerances,
    )


def _finish(
    samples: Float[ndarray, "channel frame"],
    best: Hypothesis,
    noise: Float[ndarray, " channel"],
    uncertain: bool,
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
        bool(uncertain or improbable or not near),
        fix.residual,
        arrival_hypotheses.implied_gains(
            aligned.strengths[chosen], fix.position, microphones=microphones
        ),
        Arrivals(times + offset, sd),
    )


def _contact(
    waveform: Float[ndarray, " frame"], noise: float, *, sample_rate: float
) -> tuple[float, float]:
    """Return the time of contact after the aligned arrival, and its standard deviation.

    A surface is pushed from rest and left at rest, so the pressure, which follows the change of the
    push, first turns its sign at the middle of the contact.
    """
    fine = delays.refine(waveform[: 4 * direct_sound.LEAD])
    span = int(delays.FIRST_PEAK * sample_rate * delays.REFINEMENT)
    rise, _ = delays.first_rise(
        fine, noise, share=arrival_hypotheses.SHARES[0], span=span, limit=len(fine)
    )
    after = fine[int(np.ceil(rise)) :] * np.sign(fine[int(np.ceil(rise))])
    turned = int(np.argmax(after < 0))
    slope = float(after[turned - 1] - after[turned]) if turned else 0.0
    if slope <= 0:
        return 0.0, 1e-3
    turn = int(np.ceil(rise)) + turned - float(-after[turned]) / slope
    fineness = sample_rate * delays.REFINEMENT
    return turn / fineness - direct_sound.LEAD / sample_rate, noise / (slope * fineness)


def _nowhere(arrival_time: float, *, channels: int) -> Location:
    """Return no position; the arrival is still known to a few milliseconds."""
    return Location(
        np.full(2, np.nan),
        np.diag([np.inf, np.inf]),
        arrival_time,
        1e-3,
        True,
        np.inf,
        np.zeros(channels),
        Arrivals(np.full(channels, arrival_time), np.full(channels, np.inf)),
    )
