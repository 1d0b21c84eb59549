r"""Clicks that sound alike, and the waveform that they have in common.

One ball on one surface makes one click, louder or quieter. In sound whitened to unit noise, with
segments s_i about candidate onsets, the likeness of two is their greatest normalised correlation,

    rho_ij = max_lag <s_i(. + lag), s_j> / (|s_i| |s_j|).

Clicks with rho > ALIKE to a central one are a cluster; the click T that they have in common is the
unit vector that maximises sum_i <s_i, T>^2 over the aligned members, their first principal
component.
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy import ndimage, signal

ALIKE = 0.3
"""Least likeness within a cluster; noise stays under 0.2 at 44.1 kHz."""
LEAD, LENGTH = 1e-3, 8e-3
"""How long before its onset a segment begins, and how long it is, s."""
LAG = 1e-3
"""Greatest error of an onset, s."""
LOWEST, HIGHEST = 500.0, 0.45
"""Edges of the band: Hz, and as a share of the sample rate."""
_FRAME, _FRAMES = 1024, 4096  # of the spectrum; how many at a time
_LOUD = 1e-3  # of the mean spectrum, below which the quiet one counts as no quieter
_POWER_STEPS = 6


def whitened(sound: Float[ndarray, " frame"], sample_rate: float) -> Float[ndarray, " frame"]:
    """Return sound whose background has a flat spectrum in the band and a deviation of one.

    >>> hum = np.random.default_rng(0).standard_normal(8000).cumsum()
    >>> float(whitened(hum, 8000.0).std().round(1))
    1.0
    """
    edges, quiet = _background(sound, sample_rate)
    frequency = np.fft.rfftfreq(len(sound), 1.0 / sample_rate)
    gain = 1.0 / np.sqrt(np.interp(frequency, edges, quiet))
    gain[(frequency < LOWEST) | (frequency > HIGHEST * sample_rate)] = 0.0
    del frequency
    spectrum = np.fft.rfft(sound)
    spectrum *= gain
    del gain
    found = np.fft.irfft(spectrum, len(sound))
    found /= max(float(deviation(found)), 1e-300)
    return np.asarray(found)


def _background(
    sound: Float[ndarray, " frame"], sample_rate: float
) -> tuple[Float[ndarray, " edge"], Float[ndarray, " edge"]]:
    """Return frequencies, Hz, and the power there while it is quiet."""
    length = min(_FRAME, len(sound))
    hop, sides = length - length // 2, length // 2
    padded = np.pad(sound, (sides, sides + -(len(sound) + 2 * sides - length) % hop))
    last = (len(padded) - length) // hop + 1
    power = np.empty((length // 2 + 1, last))
    for first in range(0, last, _FRAMES):  # a spectrum of the whole takes eight times the sound
        end = min(first + _FRAMES, last)
        part = padded[first * hop : (end - 1) * hop + length]
        edges, _, spectrum = signal.stft(
            part, sample_rate, nperseg=length, boundary=None, padded=False
        )
        power[:, first:end] = np.square(np.abs(spectrum))
    middle = np.array([np.median(row) for row in power])
    quiet = middle / np.log(2.0) + _LOUD * power.mean(axis=1)
    return edges, ndimage.uniform_filter1d(quiet, 3) + 1e-12 * power.mean() + 1e-300


def deviation(values: Float[ndarray, " frame"]) -> float:
    """Return the standard deviation of noise with few loud parts, by its median.

    >>> round(deviation(np.array([-1.0, 1.0, 1.0, -1.0, 1000.0])), 3)
    1.483
    """
    return float(np.median(np.abs(values), overwrite_input=True) / 0.6745)


def freedom(sample_rate: float) -> float:
    """Return the degrees of freedom of a segment, twice bandwidth times duration.

    >>> freedom(44100.0)
    309.52
    """
    return 2.0 * (HIGHEST * sample_rate - LOWEST) * LENGTH


def segments(
    sound: Float[ndarray, " frame"], sample_rate: float, times: Float[ndarray, " onset"]
) -> Float[ndarray, "onset lag"]:
    """Return the sound about each time, s, silence beyond its ends.

    >>> segments(np.ones(8000), 8000.0, np.array([0.0, 0.5])).shape[0]
    2
    """
    frames = round(LENGTH * sample_rate)
    first = np.round((times - LEAD) * sample_rate).astype(int) + frames
    return np.asarray(np.pad(sound, frames)[first[:, None] + np.arange(frames)])


def clusters(
    sound: Float[ndarray, " frame"],
    sample_rate: float,
    times: Float[ndarray, " onset"],
    *,
    most: int,
) -> tuple[Float[ndarray, " member"], ...]:
    """Return the aligned onsets, s, of each cluster of two and more, the closest-knit first.

    >>> sound = np.zeros(8000)
    >>> sound[[2000, 2003, 6000, 6003]] = 1.0
    >>> clusters(sound, 8000.0, np.array([0.25, 0.75]), most=2)
    (array([0.25, 0.75]),)
    """
    if len(times) < 2:
        return ()
    rho, lags = likeness(segments(sound, sample_rate, times), round(LAG * sample_rate))
    alike = np.where(rho > ALIKE, rho**2, 0.0)
    np.fill_diagonal(alike, 0.0)
    left, found = np.ones(len(times), dtype=bool), []
    for _ in range(most):
        centre = int(np.where(left, alike @ left, -1.0).argmax())
        members = np.flatnonzero((rho[centre] > ALIKE) & left)
        if len(members) < 2:
            break
        found.append(times[members] + lags[centre, members] / sample_rate)
        left[members] = False
    return tuple(found)


def likeness(
    pieces: Float[ndarray, "onset lag"], lag: int
) -> tuple[Float[ndarray, "onset onset"], Int[ndarray, "onset onset"]]:
    """Return rho and by how many frames, at most `lag`, the second is later than the first.

    >>> pieces = np.eye(8)[[2, 4]]
    >>> rho, lags = likeness(pieces, 3)
    >>> rho.round(3).tolist(), lags.tolist()
    ([[1.0, 1.0], [1.0, 1.0]], [[0, 2], [-2, 0]])
    """
    size = 2 * pieces.shape[1]
    spectra = np.fft.rfft(pieces, size, axis=1)
    norms = np.linalg.norm(pieces, axis=1) + 1e-300
    rho, lags = [], []
    for spectrum, norm in zip(spectra, norms, strict=True):
        product = np.fft.irfft(spectra * np.conj(spectrum), size, axis=1)
        near = np.concatenate((product[:, -lag:], product[:, : lag + 1]), axis=1)
        rho.append(near.max(axis=1) / (norms * norm))
        lags.append(near.argmax(axis=1) - lag)
    return np.array(rho), np.array(lags)


def common(pieces: Float[ndarray, "member lag"]) -> Float[ndarray, " member"]:
    """Return the weights of aligned members in their click, none negative.

    >>> common(np.array([[3.0, 0.0], [1.0, 0.0]])).round(3)
    array([3., 1.])
    """
    weights = np.ones(len(pieces))
    for _ in range(_POWER_STEPS):
        weights = np.maximum(pieces @ unit(weights @ pieces), 0.0)
    return weights


def unit(values: Float[ndarray, "*batch lag"]) -> Float[ndarray, "*batch lag"]:
    """Return vectors of length one; zeros stay.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    return np.asarray(values / (np.linalg.norm(values, axis=-1, keepdims=True) + 1e-300))
