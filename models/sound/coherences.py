"""How alike microphones hear a frame, band by band: what a place sounds like at an array.

For microphones i and j with spectra X_i, X_j of a frame, phases are averaged over the bins of a
band,

    c_ij = mean over the band of X_i X_j^* / |X_i X_j|

as in phase correlation (Kuglin 1975): |c| is near 1 where one direct sound has most of the energy,
and its phase is the delay between both; a room, or a second source, leaves less, in its own way.
"""

from itertools import pairwise

import numpy as np
from jaxtyping import Float
from numpy import ndarray

EDGES = (300, 600, 900, 1200, 1600, 2000, 2500, 3000, 3600, 4300, 5200, 6300, 7800)
"""Of bands, Hz."""


def band_coherences(
    samples: Float[ndarray, "channel sample"], length: int, sample_rate: float
) -> Float[ndarray, "frame feature"]:
    """Return real and imaginary parts of each pair of microphones in each band of EDGES.

    >>> click = np.zeros((2, 1024))
    >>> click[:, 500] = 1.0
    >>> found = band_coherences(click, 1024, 16_000.0)  # both at once: coherences of 1
    >>> found.shape, bool(np.allclose(found[0, ::2], 1.0)), bool(np.allclose(found[0, 1::2], 0.0))
    ((1, 24), True, True)

    Args:
        samples: Of each channel.
        length: Of consecutive frames, samples; a rest that fills none is left out.
        sample_rate: Hz.
    """
    count = samples.shape[1] // length
    frames = samples[:, : count * length].reshape(len(samples), count, length)
    spectra = np.fft.rfft(frames * np.hanning(length), axis=2)
    phases = spectra / np.maximum(np.abs(spectra), np.finfo(float).tiny)
    frequency = np.fft.rfftfreq(length, 1.0 / sample_rate)
    bands = [slice(*np.searchsorted(frequency, edges)) for edges in pairwise(EDGES)]
    found = []
    for first, second in zip(*np.triu_indices(len(samples), 1), strict=True):
        for band in bands:
            mean = (phases[first][:, band] * phases[second][:, band].conj()).mean(1)
            found += [mean.real, mean.imag]
    return np.stack(found, axis=1)
