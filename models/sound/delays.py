"""Delays between microphones by correlation and by first arrivals, each with its uncertainty.

Each estimator returns arrival times t_m whose differences t_m - t_n are the delays of Eq. 9 of Matl
et al. (STReSSD, appendix C); a shift common to all microphones has no meaning in a correlation.

- Correlation over a window of 20 ms or more: t_n - t_m maximises sum_k g_k cos(phi_k + w_k tau)
  with phi the phase of conj(X_m) X_n. Plain correlation weighs by g = |X_m X_n|, phase correlation
  by g = 1 (Kuglin 1975): whitening 0 and 1. Errors e_k of the phases move the peak by
  sum g w e / sum g w^2, with variance sum g^2 w^2 sin^2 e / (sum g w^2 cos e)^2. Pairs are joined
  by least squares.
- First arrival: where a channel first rises through half of its first peak, between samples. Noise
  of standard deviation s moves the crossing by s over the slope there.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float
from numpy import ndarray

from ricochet.models.sound.arrays import Microphones

BAND = (300.0, 18000.0)  # Hz; where impacts are louder than rooms
REFINEMENT = 8  # grid points a sample where a crossing is sought
BEFORE = 0.4e-3  # s; the uncertainty of the onset
FIRST_PEAK = 0.35e-3  # s after the first crossing in which the first peak lies
LEAST_CROSSING = 0.02  # frames; error of a crossing without noise
SETTLED = 4.0  # noise standard deviations that a first arrival exceeds


@dataclass(frozen=True)
class Arrivals:
    """Arrival times at every microphone by one estimator and their independent deviations, s."""

    times: Float[ndarray, " channel"]
    sd: Float[ndarray, " channel"]


def first_arrivals(
    samples: Float[ndarray, "channel frame"],
    arrival_time: float,
    *,
    microphones: Microphones,
    shares: tuple[float, ...] = (0.3,),
) -> list[Arrivals]:
    """Estimate when the sound first reaches each microphone, for each of several shares.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> samples = np.zeros((3, 8820))
    >>> samples[[0, 1, 2], [4410, 4430, 4390]] = 1.0
    >>> [found] = first_arrivals(samples, 0.0995, microphones=array)
    >>> (np.diff(found.times) * 44100.0).round(2)
    array([ 20., -40.])

    Args:
        arrival_time: First arrival at any microphone, s.
        shares: Of a channel's largest sample, what the direct sound surely reaches.

    Returns:
        Arrival times; standard deviation infinite where nothing rises above the noise.
    """
    rate = microphones.sample_rate
    noise = background(samples, arrival_time, sample_rate=rate)
    start = max(round((arrival_time - BEFORE) * rate), 0)
    stop = round((arrival_time + BEFORE + FIRST_PEAK + longest_delay(microphones)) * rate)
    fine = refine(samples[:, start : stop + 1])
    span = int(FIRST_PEAK * rate * REFINEMENT)
    found = []
    for share in shares:
        rises = np.array(
            [
                first_rise(channel, level, share=share, span=span, limit=len(channel) - span)
                for channel, level in zip(fine, noise, strict=True)
            ]
        )
        slopes = rises[:, 1] * rate * REFINEMENT
        sd = np.where(slopes > 0, noise / np.maximum(slopes, 1e-300), np.inf)
        times = rises[:, 0] / (rate * REFINEMENT) + start / rate
        found.append(Arrivals(times, np.hypot(sd, LEAST_CROSSING / rate)))
    return found


def longest_delay(microphones: Microphones) -> float:
    """Return the longest time that sound needs between two of the microphones, s.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> round(longest_delay(array) * array.speed_of_sound, 3)
    0.5
    """
    places = microphones.positions
    between = np.linalg.norm(places[:, None] - places, axis=2)
    return float(between.max()) / microphones.speed_of_sound


def background(
    samples: Float[ndarray, "channel frame"], arrival_time: float, *, sample_rate: float
) -> Float[ndarray, " channel"]:
    """Return the standard deviation of each channel over the 8 ms before an arrival; never 0.

    >>> noise = 0.1 * np.random.default_rng(0).standard_normal((1, 4410))
    >>> background(noise, 0.05, sample_rate=44100.0).round(2)
    array([0.1])
    """
    stop = int((arrival_time - BEFORE) * sample_rate)
    before = samples[:, max(stop - int(0.008 * sample_rate), 0) : max(stop, 0)]
    peak = np.abs(samples[:, max(stop, 0) : stop + int(0.005 * sample_rate)]).max(axis=1)
    floor = 1e-5 * peak + 1e-12
    if before.shape[1] < 40:
        return np.asarray(floor + 0.01 * peak)
    return np.asarray(np.maximum(before.std(axis=1), floor))


def refine(samples: Float[ndarray, "*batch frame"]) -> Float[ndarray, "*batch fine"]:
    """Interpolate band-limited samples; entry k * REFINEMENT is sample k.

    >>> wave = np.sin(0.3 * np.arange(64.0)) * np.hanning(64)
    >>> refine(wave).shape, bool(np.allclose(refine(wave)[::REFINEMENT], wave))
    ((512,), True)
    """
    frames = samples.shape[-1]
    padded = 1 << (frames + frames // 4).bit_length()
    spectrum = np.fft.rfft(samples, padded)
    spectrum[..., -1] *= 0.5  # the highest frequency counts for two
    fine = np.fft.irfft(spectrum, padded * REFINEMENT) * REFINEMENT
    return np.asarray(fine[..., : frames * REFINEMENT])


def first_rise(
    fine: Float[ndarray, " fine"], noise: float, *, share: float, span: int, limit: int
) -> tuple[float, float]:
    """Find where a signal first rises through half of its first peak.

    >>> ramp = np.concatenate([np.zeros(10), np.linspace(0.0, 1.0, 11), np.zeros(10)])
    >>> crossing, slope = first_rise(ramp, 0.001, share=0.3, span=12, limit=31)
    >>> round(crossing, 3), round(slope, 3)
    (15.0, 0.1)

    Args:
        share: Share of the largest value that the first peak surely reaches.
        span: Points after the first crossing in which the first peak lies.
        limit: Points in which a crossing may lie.

    Returns:
        Crossing in points, and the slope there a point; slope 0 where nothing stands out.
    """
    size = np.abs(fine)
    gate = max(share * float(size.max()), SETTLED * noise)
    above = np.flatnonzero(size[:limit] > gate)
    if not len(above):
        return float(size[:limit].argmax()), 0.0
    first = int(above[0])
    peak = float(size[first : first + span].max())
    half = max(0.5 * peak, gate)
    over = first + int(np.argmax(size[first : first + span] >= half))
    if over == 0:
        return 0.0, 0.0
    rise = float(size[over] - size[over - 1])
    return over - float(size[over] - half) / rise if rise > 0 else float(over), max(rise, 0.0)


def window_spectra(
    samples: Float[ndarray, "channel frame"],
    arrival_time: float,
    *,
    microphones: Microphones,
    window: float,
) -> Complex[ndarray, "channel bin"]:
    """Return spectra of a tapered window of a length, s, from just before the first arrival on.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> window_spectra(np.ones((3, 4410)), 0.02, microphones=array, window=0.02).shape
    (3, 1025)
    """
    frames = round(window * microphones.sample_rate)
    start = round((arrival_time - 0.05 * window) * microphones.sample_rate)
    taper = np.clip(
        np.minimum(
            np.arange(frames) / (0.04 * frames), (frames - np.arange(frames)) / (0.3 * frames)
        ),
        0.0,
        1.0,
    )
    piece = np.zeros((len(samples), frames))
    low, high = max(start, 0), min(start + frames, samples.shape[1])
    if low < high:
        piece[:, low - start : high - start] = samples[:, low:high]
    padded = 1 << (2 * frames - 1).bit_length()
    return np.asarray(np.fft.rfft(piece * np.sin(0.5 * np.pi * taper) ** 2, padded))


def correlate(
    spectra: Complex[ndarray, "channel bin"],
    arrival_time: float,
    *,
    microphones: Microphones,
    whitening: float,
) -> Arrivals:
    """Join the delays of all pairs into arrival times about `arrival_time`.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> samples = np.zeros((3, 8820))
    >>> samples[[0, 1, 2], [4410, 4430, 4390]] = 1.0
    >>> spectra = window_spectra(samples, 0.0995, microphones=array, window=0.02)
    >>> found = correlate(spectra, 0.1, microphones=array, whitening=1.0)
    >>> (np.diff(found.times) * 44100.0).round(2)
    array([ 20., -40.])
    """
    rate, places = microphones.sample_rate, microphones.positions
    count = len(places)
    frames = 2 * (spectra.shape[1] - 1)
    frequency = np.arange(spectra.shape[1]) * rate / frames
    band = (frequency > BAND[0]) & (frequency < min(BAND[1], 0.45 * rate))
    delays, variances = np.zeros((count, count)), np.zeros((count, count))
    for first, second in zip(*np.triu_indices(count, 1), strict=True):
        cross = np.where(band, np.conj(spectra[first]) * spectra[second], 0.0)
        cross = cross / np.maximum(np.abs(cross), 1e-300) ** whitening
        apart = float(np.linalg.norm(places[first] - places[second]))
        bound = apart / microphones.speed_of_sound + 0.5 / rate
        delay, variance = _peak(cross, frequency, rate=rate, bound=bound)
        delays[second, first], delays[first, second] = delay, -delay
        variances[second, first] = variances[first, second] = variance
    mean = delays.mean(axis=1)
    closure = (delays - (mean[:, None] - mean)) ** 2
    each = (variances.sum(axis=1) - variances.sum() / (2 * (count - 1))) / max(count - 2, 1)
    each = np.maximum(each, 0.1 * variances.sum(axis=1) / count)
    sd = np.sqrt(each + closure.sum(axis=1) / count)
    return Arrivals(arrival_time + mean, sd)


def _peak(
    cross: Complex[ndarray, " bin"], frequency: Float[ndarray, " bin"], *, rate: float, bound: float
) -> tuple[float, float]:
    """Return the second channel's delay after the first at the highest peak, and its variance.

    A second squared where there is no peak: nothing is in common, or a channel is silent.
    """
    frames = 2 * (len(cross) - 1)
    correlation = np.fft.irfft(cross, 2 * frames)
    reach = min(int(bound * rate * 2), frames - 1)  # what the window holds
    lags = np.arange(-reach, reach + 1)
    delay = float(lags[correlation[lags].argmax()]) / (2 * rate)
    omega = 2 * np.pi * frequency
    for _ in range(3):
        turned = cross * np.exp(1j * omega * delay)
        slope = -float(np.sum(omega * turned.imag))
        curvature = float(np.sum(omega**2 * turned.real))
        if curvature <= 0:
            break
        delay += float(np.clip(slope / curvature, -0.5 / rate, 0.5 / rate))
    spread = float(np.sum((omega * turned.imag) ** 2))
    square = max(curvature, 0.0) ** 2
    return delay, min(spread / square, 1.0) if square > 0 else 1.0
