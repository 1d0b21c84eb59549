"""Arrival times by aligning the direct sound of all microphones, before echoes come in.

Near the first arrivals t_m the channels hold one waveform s, unknown, at unknown strengths,

    x_m(t_m + u) = a_m s(u) + noise,   taper(u) > 0 only from just before u = 0 to `width` after.

Least squares over s, a and t is the best estimator in free field, and it sees no echo that comes
later than `width`. With S the mean waveform sum_m a_m X_m / sum_m a_m^2 of the aligned channels'
spectra, a Gauss-Newton step moves t_m by

    sum_k Re[conj(-i w S) (X_m - a_m S)] / (a_m sum_k w^2 |S|^2)

and leaves the mean arrival weighted by a_m^2 where it was. An error N_m of the channel has variance
sum_k w^2 |S|^2 |N_m|^2 / 2 over the square of the denominator: the background's, and that of echoes
where what is left over, R_m = X_m - a_m S, exceeds what the background explains.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float
from numpy import ndarray

FRAMES = 256
LEAD = 24  # frames before the arrival
RISE = 0.30e-3  # s before the arrival over which the taper rises
CHANCE = 2.0  # left-over energy above the noise's own that chance explains
ECHO = 2.0  # left-over echoes resemble the click and move it more than noise of their energy


@dataclass(frozen=True)
class Alignment:
    """Aligned direct sound; `start` counts the hypotheses aligned at once.

    Attributes:
        sd: Standard deviation of each against the others, s.
        strengths: Strength a_m of the direct sound, its mean square over channels 1.
        misfit: Share of a channel's energy that the common waveform leaves unexplained, on average.
        waveform: The common waveform, sampled from LEAD frames before the arrival.
    """

    times: Float[ndarray, "start channel"]
    sd: Float[ndarray, "start channel"]
    strengths: Float[ndarray, "start channel"]
    misfit: Float[ndarray, " start"]
    waveform: Float[ndarray, "start frame"]


def align(
    samples: Float[ndarray, "channel frame"],
    times: Float[ndarray, "start channel"],
    *,
    width: Float[ndarray, " start"],
    sample_rate: float,
    noise: Float[ndarray, " channel"],
    steps: int = 5,
) -> Alignment:
    """Align the direct sound, from several starts and with several widths at once.

    >>> samples = np.zeros((2, 4410))
    >>> samples[0, 1000:1003], samples[1, 1020:1023] = (1, -2, 1), (1, -2, 1)
    >>> starts, width = np.array([[1000.3, 1019.8]]) / 44100.0, np.array([1e-3])
    >>> found = align(samples, starts, width=width, sample_rate=44100.0, noise=np.full(2, 1e-3))
    >>> (np.diff(found.times) * 44100.0).round(3)
    array([[20.]])

    Args:
        times: Approximate arrival times, within a quarter period of the click's main band, s.
        width: Length of the direct sound that is used, s, up to 4 ms.
        noise: Standard deviation of each channel's background, a lower bound on its errors.
        steps: Gauss-Newton steps; two suffice close to the solution.
    """
    omega = 2 * np.pi * np.fft.rfftfreq(FRAMES, 1 / sample_rate)
    omega = omega * (omega < 0.9 * np.pi * sample_rate)
    for _ in range(steps):
        spectra = _spectra(samples, times, width=width, sample_rate=sample_rate)
        common, strengths = _common(spectra)
        slope = -1j * omega * common
        sharpness = np.sum(np.abs(slope) ** 2, axis=-1)[:, None]
        shift = np.sum((np.conj(slope)[:, None] * spectra).real, axis=-1) / (strengths * sharpness)
        times = times + np.clip(shift, -0.5 / sample_rate, 0.5 / sample_rate)
    rest = spectra - strengths[..., None] * common[:, None]
    since = (np.arange(FRAMES) - LEAD) / sample_rate
    open_frames = np.sum(_taper(since, width=width[:, None]) ** 2, axis=1)
    energy = np.sum(np.abs(spectra) ** 2, axis=2)
    return Alignment(
        times,
        _deviation(
            slope,
            rest,
            strengths=strengths,
            noise=noise,
            open_frames=open_frames,
            omega=omega,
        ),
        strengths,
        np.mean(np.sum(np.abs(rest) ** 2, axis=2) / np.maximum(energy, 1e-300), axis=1),
        np.fft.irfft(common, FRAMES),
    )


def _spectra(
    samples: Float[ndarray, "channel frame"],
    times: Float[ndarray, "start channel"],
    *,
    width: Float[ndarray, " start"],
    sample_rate: float,
) -> Complex[ndarray, "start channel bin"]:
    """Return the spectra of the tapered channels, their arrivals moved to frame LEAD."""
    whole = np.floor(times * sample_rate).astype(int)
    frames = np.arange(FRAMES)
    index = whole[..., None] - LEAD + frames
    channel = np.arange(len(samples))[:, None]
    inside = (index >= 0) & (index < samples.shape[1])
    piece = samples[channel, np.clip(index, 0, samples.shape[1] - 1)] * inside
    offset = times * sample_rate - whole
    since = (frames - LEAD - offset[..., None]) / sample_rate
    taper = _taper(since, width=width[:, None, None])
    turn = np.exp(2j * np.pi * np.fft.rfftfreq(FRAMES) * offset[..., None])
    return np.asarray(np.fft.rfft(piece * taper) * turn)


def _taper(
    since: Float[ndarray, "*#batch frame"], *, width: Float[ndarray, "*#batch 1"]
) -> Float[ndarray, "*#batch frame"]:
    """Return the weight of a sample by its time since the arrival."""
    rise = np.clip((since + RISE) / (0.6 * RISE), 0.0, 1.0)
    fall = np.clip((width - since) / (0.5 * width), 0.0, 1.0)
    return np.asarray(np.sin(0.5 * np.pi * np.minimum(rise, fall)) ** 2)


def _common(
    spectra: Complex[ndarray, "start channel bin"],
) -> tuple[Complex[ndarray, "start bin"], Float[ndarray, "start channel"]]:
    """Return the best waveform common to the channels and each channel's strength."""
    products = (np.conj(spectra) @ np.swapaxes(spectra, 1, 2)).real
    _, vectors = np.linalg.eigh(products)
    strengths = vectors[..., -1] * np.sqrt(products.shape[-1])
    strengths = strengths * np.where(strengths.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    total = np.sum(strengths**2, axis=1)[:, None]
    common = np.einsum("sm,smk->sk", strengths, spectra) / total
    return common, np.where(np.abs(strengths) < 1e-3, 1e-3, strengths)


def _deviation(
    slope: Complex[ndarray, "start bin"],
    rest: Complex[ndarray, "start channel bin"],
    *,
    strengths: Float[ndarray, "start channel"],
    noise: Float[ndarray, " channel"],
    open_frames: Float[ndarray, " start"],
    omega: Float[ndarray, " bin"],
) -> Float[ndarray, "start channel"]:
    """Return the standard deviation of each arrival from noise and left-over echoes."""
    sharpness = np.sum(np.abs(slope) ** 2, axis=-1)[:, None]
    free = 1 - strengths**2 / np.sum(strengths**2, axis=1, keepdims=True)
    left = np.sum(np.abs(slope[:, None] * rest) ** 2, axis=-1) / np.maximum(free, 0.1)
    left = left * FRAMES / open_frames[:, None]  # as if it filled the transform like steady noise
    expected = FRAMES * noise**2 * sharpness
    echoes = np.maximum(left - CHANCE * expected, 0.0)
    variance = 0.5 * (expected + ECHO * echoes)  # a real part holds half of a bin's energy
    count = strengths.shape[1]
    blur = open_frames * (strengths**2 @ noise**2) / count**2 * np.sum(omega**2)  # noise within S
    clear = np.maximum(sharpness - blur[:, None], 0.05 * sharpness)
    return np.asarray(np.sqrt(variance) / (np.abs(strengths) * clear))
