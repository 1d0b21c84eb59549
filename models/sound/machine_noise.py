"""The steady sound of a machine: the harmonics of its motors and the rush of its gears.

A source at place q, at distance d_m from microphone m, is recorded as

    x_m(u) = (a / d_m) s(u - d_m / c),
    s = sqrt(share) sum_k cos(2 pi k f u + phi_k) / k  +  sqrt(1 - share) rush,

both parts brought to unit power, phi_k uniform, rush Gaussian noise in a band. It is written as a
spectrum, so the delays are exact; over the recording's length it is periodic.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float
from numpy import ndarray
from scipy import fft

from ricochet.models.sound.arrays import Microphones


@dataclass(frozen=True)
class Machine:
    """A machine that runs.

    Attributes:
        place: Where it stands, m.
        frequency, band: Of the motors and of the gears' rush, Hz.
        share: Share of the power in the harmonics.
    """

    place: tuple[float, float, float] = (0.75, 0.0, 0.30)
    frequency: float = 130.0
    harmonics: int = 24
    band: tuple[float, float] = (400.0, 4000.0)
    share: float = 0.5


def steady(
    machine: Machine,
    level: float,
    *,
    microphones: Microphones,
    frames: int,
    draw: np.random.Generator,
) -> Float[ndarray, "channel frame"]:
    """Render a machine that runs all the time at a root mean square level, a row a microphone.

    >>> array = Microphones(np.array([[0.0, 0.0, 0.1], [0.3, 0.0, 0.1]]), 44100.0)
    >>> draw = np.random.default_rng(0)
    >>> samples = steady(Machine(), 0.2, microphones=array, frames=1000, draw=draw)
    >>> samples.shape, round(float(np.sqrt(np.mean(samples**2))), 3)
    ((2, 1000), 0.2)
    """
    whole = fft.next_fast_len(frames, real=True)
    rate = microphones.sample_rate
    frequency = fft.rfftfreq(whole, 1 / rate)
    source = _rush(machine, frequency, draw) + _motors(machine, frequency, draw)
    distances = np.linalg.norm(microphones.positions - np.asarray(machine.place), axis=1)
    late = (distances - distances.min()) / microphones.speed_of_sound
    spectra = source * np.exp(-2j * np.pi * frequency * late[:, None]) / distances[:, None]
    samples = fft.irfft(spectra, whole)[:, :frames]
    power = float(np.sqrt(np.mean(samples**2)))
    return np.asarray(samples * (level / power)) if power > 0 else samples


def _rush(
    machine: Machine, frequency: Float[ndarray, " bin"], draw: np.random.Generator
) -> Complex[ndarray, " bin"]:
    """Return the spectrum of the gears' rush, its power 1 - share."""
    inside = (frequency >= machine.band[0]) & (frequency <= machine.band[1])
    parts = draw.standard_normal((2, len(frequency))) * inside
    return np.asarray(_scaled(parts[0] + 1j * parts[1], 1.0 - machine.share))


def _motors(
    machine: Machine, frequency: Float[ndarray, " bin"], draw: np.random.Generator
) -> Complex[ndarray, " bin"]:
    """Return the spectrum of the motors' harmonics at the nearest bins, its power the share."""
    order = np.arange(1, machine.harmonics + 1)
    phases = np.exp(2j * np.pi * draw.random(machine.harmonics))
    spectrum = np.zeros(len(frequency), dtype=complex)
    bins = np.rint(order * machine.frequency / frequency[1]).astype(int)
    inside = bins < len(frequency)
    spectrum[bins[inside]] = (phases / order)[inside]
    return _scaled(spectrum, machine.share)


def _scaled(spectrum: Complex[ndarray, " bin"], power: float) -> Complex[ndarray, " bin"]:
    """Bring a spectrum to a power."""
    total = float(np.sum(np.abs(spectrum) ** 2))
    return spectrum * np.sqrt(power / total) if total > 0 else spectrum
