"""Spectra of consecutive frames of sound: amplitudes, bands of a mel scale, loudness and pitch.

A frame has N samples; its spectrum keeps the N / 2 positive frequencies. Powers are averaged over
microphones. Bands are triangles on the mel scale, m = 2595 log10(1 + f / 700 Hz), of power, in
decibels over full scale: by numpy alone, since controllers have nothing else.
"""

from functools import cache

import numpy as np
from jaxtyping import Float
from numpy import ndarray

QUIETEST = 1e-12  # power of a band, below which it is silent: -120 dB


def powers(samples: Float[ndarray, "channel sample"], length: int) -> Float[ndarray, "frame bin"]:
    """Return the power of each positive frequency in consecutive frames, mean over the channels.

    A rest that fills no frame is left out.

    >>> tone = np.sin(2 * np.pi * 0.125 * np.arange(64.0))[None]
    >>> found = powers(tone, 16)
    >>> found.shape, int(found[0].argmax())  # bins are 1 to 8 sixteenths of the sample rate
    ((4, 8), 1)

    Args:
        samples: Of each channel.
        length: Of a frame, samples; even.
    """
    count = samples.shape[1] // length
    frames = samples[:, : count * length].reshape(len(samples), count, length)
    spectra = np.fft.rfft(frames * np.hanning(length), axis=2)[..., 1:] / length
    return np.asarray((spectra.real**2 + spectra.imag**2).mean(0))


def mel_decibels(
    power: Float[ndarray, "frame bin"], sample_rate: float, bands: int = 40
) -> Float[ndarray, "frame band"]:
    """Return the power in bands of the mel scale, dB.

    >>> mel_decibels(np.zeros((1, 512)), 16_000.0, 3)
    array([[-120., -120., -120.]])
    """
    weights = _mel_weights(power.shape[1], sample_rate, bands)
    return np.asarray(10.0 * np.log10(power @ weights.T + QUIETEST))


def loudness(power: Float[ndarray, "frame bin"]) -> Float[ndarray, " frame"]:
    """Return the mean amplitude of each frame's spectrum, as Baum et al. measure it (Sec. V-A).

    >>> loudness(np.full((2, 8), 0.25))
    array([0.5, 0.5])
    """
    return np.asarray(np.sqrt(power).mean(1))


def pitch(power: Float[ndarray, "frame bin"], sample_rate: float) -> Float[ndarray, " frame"]:
    """Return the strongest frequency of each frame, Hz.

    >>> pitch(np.eye(8)[[2]], 16.0)
    array([3.])
    """
    return np.asarray((power.argmax(1) + 1) * (0.5 * sample_rate / power.shape[1]))


@cache
def _mel_weights(bins: int, sample_rate: float, bands: int) -> Float[ndarray, "band bin"]:
    highest = 2595.0 * np.log10(1.0 + 0.5 * sample_rate / 700.0)
    corners = 700.0 * (10.0 ** (np.linspace(0.0, highest, bands + 2) / 2595.0) - 1.0)
    frequency = np.arange(1, bins + 1) * (0.5 * sample_rate / bins)
    low, middle, high = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    rising, falling = (frequency - low) / (middle - low), (high - frequency) / (high - middle)
    return np.asarray(np.maximum(np.minimum(rising, falling), 0.0))
