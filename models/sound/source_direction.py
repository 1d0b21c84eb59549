"""Where a sound comes from: the direction whose delays fit all pairs of microphones best.

SRP-PHAT (DiBiase 2000): for a far source in direction u, microphone i hears what j hears earlier by
tau_ij(u) = u . (r_i - r_j) / c. With R_ij the phase correlation of both in a frame, the power
steered to u is

    P(u) = sum over pairs R_ij(tau_ij(u))

and the direction with the largest power is taken, among those of a grid on the upper half of the
sphere: a level ring does not distinguish a direction from its mirror image below.
"""

from functools import cache

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound.arrays import Microphones

AZIMUTHS, ELEVATIONS = 120, 12
FINER = 8  # times the sample rate at which correlations are looked up
LOWEST, HIGHEST = 300.0, 7500.0  # Hz that are used


@cache
def directions() -> Float[ndarray, "direction 3"]:
    """Return the unit vectors of the grid.

    >>> directions().shape
    (1440, 3)
    """
    azimuth = np.arange(AZIMUTHS) * (2.0 * np.pi / AZIMUTHS)
    elevation = (np.arange(ELEVATIONS) + 0.5) * (0.5 * np.pi / ELEVATIONS)
    up, round_ = np.meshgrid(elevation, azimuth, indexing="ij")
    found = [np.cos(up) * np.cos(round_), np.cos(up) * np.sin(round_), np.sin(up)]
    return np.stack(found, axis=-1).reshape(-1, 3)


def locate(
    samples: Float[ndarray, "channel sample"], length: int, microphones: Microphones
) -> Float[ndarray, "frame 3"]:
    """Return the direction of the loudest source in consecutive frames, a unit vector each.

    >>> array = Microphones(np.array([[0.0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]]), 16_000.0)
    >>> locate(np.random.default_rng(0).standard_normal((3, 2048)), 1024, array).shape
    (2, 3)

    Args:
        samples: Of each channel, in the order of the microphones.
        length: Of a frame, samples.
        microphones: Where they are, and at which rate they sample.
    """
    count = samples.shape[1] // length
    frames = samples[:, : count * length].reshape(len(samples), count, length)
    spectra = np.fft.rfft(frames * np.hanning(length), axis=2)
    frequency = np.fft.rfftfreq(length, 1.0 / microphones.sample_rate)
    used = (frequency > LOWEST) & (frequency < HIGHEST)
    phases = np.where(used, spectra / np.maximum(np.abs(spectra), np.finfo(float).tiny), 0.0)
    power = np.zeros((count, len(directions())))
    for first, second in zip(*np.triu_indices(len(samples), 1), strict=True):
        correlation = np.fft.irfft(phases[first] * phases[second].conj(), FINER * length, axis=1)
        power += correlation[:, _lags(microphones, int(first), int(second), FINER * length)]
    return directions()[power.argmax(1)]


def _lags(microphones: Microphones, first: int, second: int, length: int) -> ndarray:
    """Return where in a circular correlation each direction's delay is."""
    apart = microphones.positions[first] - microphones.positions[second]
    earlier = directions() @ apart / microphones.speed_of_sound
    return np.round(-earlier * microphones.sample_rate * FINER).astype(int) % length
