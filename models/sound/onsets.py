r"""Impact onsets: when a sound's power jumps in many bands at once, to a fraction of a sample.

In each octave band b the power behind an instant is compared with the power ahead of it. For
Gaussian sound with n_b and m_b degrees of freedom in the two windows (twice bandwidth times
duration) the generalised likelihood ratio of "the variance rose here" against "it did not" is

    G = sum_b [ (n_b + m_b)/2 log((n_b B_b + m_b F_b) / (n_b + m_b))
                - n_b/2 log B_b - m_b/2 log F_b ] 1(F_b > B_b)                       (nats)

with B and F the mean powers behind and ahead. A band that holds a voice or a ringing tail adds
little, whatever its loudness, because only rises count and each is measured against its own past.
Instants where G peaks above a running background are onsets; models.sound.first_arrivals times them
to a fraction of a frame.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy import ndimage, signal

from ricochet.models.sound import first_arrivals

HOP = 0.25e-3
"""Spacing of the instants that are tried, s."""
BEHIND = 6e-3
"""Length of the window before an instant, s."""
PEAKS_BEHIND = 12e-3
"""How far back a pulse as loud as the present one makes it no news, s: voices pulse."""
PEAK_SHARE = 0.7
"""Share of the loudest recent pulse that the power behind an instant is at least."""
AHEAD = 1.5e-3
"""Length of the window after an instant, s."""
DEAD_TIME = 8e-3
"""Two onsets nearer than this are one, s."""
LEAST_EVIDENCE = 10.0
"""Least G of an onset, nats: white noise passes 10 nats less than once in two minutes."""
LOWEST_BAND = 500.0
"""Lower edge of the lowest band, Hz."""
HOPS = 2**14
"""Hops whose sound is filtered at a time: in one piece that takes thrice the recording's memory."""


@dataclass(frozen=True)
class Onsets:
    """Impact onsets in order of time, in a recording of `duration` seconds.

    Attributes:
        times: First arrival at any channel, s after the first sample, deviation `time_sd`.
        strengths: Evidence G for the rise in power, nats.
        loudness: Root mean square of the rise in the loudest channel, sample units.
    """

    times: Float[ndarray, " onset"]
    strengths: Float[ndarray, " onset"]
    time_sd: Float[ndarray, " onset"]
    loudness: Float[ndarray, " onset"]
    duration: float


def detect(
    samples: Float[ndarray, "channel frame"],
    sample_rate: float,
    *,
    least_evidence: float = LEAST_EVIDENCE,
) -> Onsets:
    """Find the impact onsets of a recording; none in silence or in less than 20 ms.

    >>> sound = 1e-3 * np.random.default_rng(0).standard_normal((1, 22050))
    >>> sound[0, [4410, 13230]] = 1.0
    >>> detect(sound, 44100.0).times.round(4)
    array([0.1, 0.3])

    Args:
        sample_rate: Hz, from 8 kHz upwards.

    Raises:
        ValueError: If `samples` is not two-dimensional or not finite, or the rate is under 8 kHz.
    """
    _check(samples, sample_rate)
    duration = samples.shape[1] / sample_rate
    if duration < 0.02 or not np.any(samples):
        empty = np.zeros(0)
        return Onsets(empty, empty, empty, empty, duration)
    evidence = novelty(samples, sample_rate)
    peaks = pick_peaks(evidence, least_evidence=least_evidence)
    hop = hop_length(sample_rate)
    times, time_sd, loudness = _arrivals(samples, sample_rate, splits=peaks * hop)
    found = Onsets(times, evidence[peaks], time_sd, loudness, duration)
    return _distinct(found)


def hop_length(sample_rate: float) -> int:
    """Return the number of frames between the instants that are tried.

    >>> hop_length(44100.0)
    11
    """
    return max(1, round(HOP * sample_rate))


def bands(sample_rate: float) -> tuple[tuple[float, float], ...]:
    """Return the octave bands (lower, upper edge in Hz) that fit under the Nyquist frequency.

    >>> bands(8000.0)
    ((500.0, 1000.0), (1000.0, 2000.0), (2000.0, 3600.0))
    """
    top, lower, edges = 0.45 * sample_rate, LOWEST_BAND, []
    while lower * 1.3 < top:
        upper = min(2.0 * lower, top)
        edges.append((lower, upper if upper * 1.3 < top else top))
        lower = edges[-1][1]
    return tuple(edges)


def evidence_of_rise(
    behind: Float[ndarray, "*batch band"],
    ahead: Float[ndarray, "*batch band"],
    freedom_behind: Float[ndarray, " band"],
    freedom_ahead: Float[ndarray, " band"],
) -> Float[ndarray, "*batch band"]:
    """Return the generalised likelihood ratio G of a rise in variance, nats; 0 where power falls.

    >>> ones = np.ones(3)
    >>> evidence_of_rise(ones, np.array([0.5, 1.0, 4.0]), 20 * ones, 10 * ones).round(2)
    array([0.  , 0.  , 3.47])
    """
    total = freedom_behind + freedom_ahead
    rise = np.maximum(ahead / behind, 1.0)
    pooled = (freedom_behind + freedom_ahead * rise) / total
    return np.asarray(0.5 * (total * np.log(pooled) - freedom_ahead * np.log(rise)))


def novelty(samples: Float[ndarray, "channel frame"], sample_rate: float) -> Float[ndarray, " hop"]:
    """Return the evidence G of a rise in power, nats; hop h is the instant before its first frame.

    >>> sound = 1e-3 * np.random.default_rng(0).standard_normal((1, 22050))
    >>> sound[0, 11000] = 1.0  # the first frame of hop 1000
    >>> int(novelty(sound, 44100.0).argmax())
    1000
    """
    hop = hop_length(sample_rate)
    edges = bands(sample_rate)
    evidence = np.zeros(samples.shape[1] // hop)
    for edge, freedom in zip(edges, freedoms(sample_rate), strict=True):  # each takes much memory
        power = _band_power(samples, sample_rate, edge, hop)[:, None]
        floor = 1e-9 * power.max() + 1e-300
        evidence += rise_of_power(power, np.array([freedom]), floor=floor)
    evidence[: min(round(0.5 * BEHIND / HOP), len(evidence))] = 0.0
    return evidence


def freedoms(sample_rate: float) -> Float[ndarray, " band"]:
    """Return the degrees of freedom of one hop's power in each band.

    >>> freedoms(8000.0)  # twice the bandwidth times the duration
    array([0.25, 0.5 , 0.8 ])
    """
    widths = np.array([upper - lower for lower, upper in bands(sample_rate)])
    return np.asarray(2.0 * widths * hop_length(sample_rate) / sample_rate)


def rise_of_power(
    power: Float[ndarray, "hop band"],
    freedom: Float[ndarray, " band"],
    *,
    floor: Float[ndarray, " band"] | float,
) -> Float[ndarray, " hop"]:
    """Return G at every hop, nats, from the power of the hops about it; `floor` counts as silence.

    >>> power = np.where(np.arange(200) < 120, 1.0, 9.0)[:, None]
    >>> int(rise_of_power(power, np.array([4.0]), floor=1e-3)[50:].argmax()) + 50
    120
    """
    behind_hops, ahead_hops = round(BEHIND / HOP), round(AHEAD / HOP)
    sums = np.concatenate([np.zeros((1, power.shape[1])), np.cumsum(power, axis=0)])
    at = np.arange(len(power))
    first, last = np.maximum(at - behind_hops, 0), np.minimum(at + ahead_hops, len(power))
    behind = (sums[at] - sums[first]) / np.maximum(at - first, 1)[:, None]
    ahead = (sums[last] - sums[at]) / (last - at)[:, None]
    recent = _recent_peak(ahead, ahead_hops=ahead_hops)
    behind, ahead = np.maximum(behind, PEAK_SHARE * recent) + floor, ahead + floor
    evidence = evidence_of_rise(behind, ahead, freedom * behind_hops, freedom * ahead_hops)
    return np.asarray(evidence.sum(axis=1))


def pick_peaks(
    evidence: Float[ndarray, " hop"], *, least_evidence: float = LEAST_EVIDENCE
) -> Int[ndarray, " peak"]:
    """Return the hops at which the evidence, in nats, peaks above its running background.

    None is nearer to a higher one than half the dead time.

    >>> evidence = np.zeros(800)
    >>> evidence[[100, 104, 500]] = 50.0, 60.0, 9.0
    >>> pick_peaks(evidence)
    array([104])
    """
    threshold = np.maximum(least_evidence, 4.0 * _background(evidence))
    padded = np.concatenate([[0.0], evidence, [0.0]])
    distance = max(1, round(0.5 * DEAD_TIME / HOP))
    peaks, _ = signal.find_peaks(padded, distance=distance)
    peaks = peaks - 1
    return np.asarray(peaks[evidence[peaks] > threshold[peaks]], dtype=np.int64)


def _check(samples: Float[ndarray, "channel frame"], sample_rate: float) -> None:
    if samples.ndim != 2:
        raise ValueError(f"samples must have shape (channel, frame), got {samples.shape}")
    if not np.all(np.isfinite(samples)):
        raise ValueError("samples must be finite, got NaN or infinity")
    if not sample_rate >= 8000.0:
        raise ValueError(f"sample_rate must be at least 8000 Hz, got {sample_rate}")


def _band_power(
    samples: Float[ndarray, "channel frame"],
    sample_rate: float,
    edge: tuple[float, float],
    hop: int,
) -> Float[ndarray, " hop"]:
    """Return the mean power of one band per hop, over channels each scaled to its own floor."""
    sections = signal.butter(2, edge, btype="bandpass", fs=sample_rate, output="sos")
    hops, state = samples.shape[1] // hop, np.zeros((len(sections), len(samples), 2))
    power = np.empty((len(samples), hops))
    for first in range(0, hops, HOPS):
        last = min(first + HOPS, hops)
        part = samples[:, first * hop : last * hop]
        band, state = signal.sosfilt(sections, part, axis=1, zi=state)
        power[:, first:last] = np.square(band).reshape(len(band), -1, hop).mean(axis=2)
    floor = np.median(power, axis=1, keepdims=True) + 1e-6 * power.max(axis=1, keepdims=True)
    return np.asarray(np.mean(power / np.maximum(floor, 1e-300), axis=0))


def _recent_peak(
    ahead: Float[ndarray, "hop band"], *, ahead_hops: int
) -> Float[ndarray, "hop band"]:
    """Return the greatest power of a short window that ended before each hop, per band."""
    span = max(1, round(PEAKS_BEHIND / HOP) - ahead_hops)
    ended = np.concatenate([np.zeros((ahead_hops, ahead.shape[1])), ahead])[: len(ahead)]
    origin = (span - 1) // 2  # the window ends at the present hop
    return np.asarray(ndimage.maximum_filter1d(ended, span, axis=0, origin=origin, mode="constant"))


def _background(evidence: Float[ndarray, " hop"]) -> Float[ndarray, " hop"]:
    """Return the upper quartile of 0.1 s blocks of evidence, median of five blocks, per hop."""
    block = round(0.1 / HOP)
    count = max(1, len(evidence) // block)
    quartile = np.array([np.quantile(part, 0.75) for part in np.array_split(evidence, count)])
    smooth = np.median(
        np.lib.stride_tricks.sliding_window_view(np.pad(quartile, 2, mode="edge"), 5), axis=1
    )
    middles = (np.arange(count) + 0.5) * block
    return np.asarray(np.interp(np.arange(len(evidence)), middles, smooth))


def _arrivals(
    samples: Float[ndarray, "channel frame"], sample_rate: float, *, splits: Int[ndarray, " onset"]
) -> tuple[Float[ndarray, " onset"], ...]:
    """Return the earliest arrival over channels: time, its standard deviation, loudness."""
    if len(splits) == 0:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    sharp = first_arrivals.sharpened(samples, sample_rate)
    picks = [first_arrivals.arrival(each, sample_rate, splits=splits) for each in sharp]
    times, time_sd, loudness, quality = (np.stack(part) for part in zip(*picks, strict=True))
    trusted = quality >= np.minimum(6.0, 0.5 * quality.max(axis=0))
    best = np.argmin(np.where(trusted, times, np.inf), axis=0)
    onset = np.arange(len(splits))
    return times[best, onset], time_sd[best, onset], loudness.max(axis=0)


def _distinct(found: Onsets) -> Onsets:
    """Drop the weaker of two onsets within the dead time, the later of two that are alike."""
    order = np.argsort(found.times, kind="stable")
    kept: list[int] = []
    for i in order:
        if kept and found.times[i] - found.times[kept[-1]] < DEAD_TIME:
            if found.loudness[i] > 2.0 * found.loudness[kept[-1]]:
                kept[-1] = int(i)
            continue
        kept.append(int(i))
    return Onsets(
        found.times[kept],
        found.strengths[kept],
        found.time_sd[kept],
        found.loudness[kept],
        found.duration,
    )
