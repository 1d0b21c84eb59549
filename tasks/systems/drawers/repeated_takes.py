"""Takes of a drawer that are one recording: louder, cut or coded anew: its digest is another.

Of two recordings phases of their spectra have nothing in common, those of a whine both hear apart;
of one they agree once both begin at the same time (the generalised cross-correlation with the phase
transform of Knapp and Carter 1976), and so does each part: two takes may hold one signal that was
played at their begin.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Complex, Complex64, Float32
from numpy import ndarray

from ricochet.models.systems.drawers.labels import SAMPLE_RATE

HEARD, RATE = 4.0, 4000
"""How much of a take's begin is compared, s, at how many samples a second."""
FRAMES = round(HEARD * RATE)
BAND = (200.0, 1900.0)
"""Hz."""
PARTS, LEAST = 8, RATE // 2
"""Of what two takes have at the same time, and samples that they have there at least."""
ALIKE = 0.25
"""Agreement in most parts: of two recordings it is that of chance, of one what a code left."""
PEAK = 10.0
"""Agreement at the best shift, in deviations of that at all, below which no part is looked at."""


class Begin(NamedTuple):
    """How a take begins, in its first channel.

    Attributes:
        sound: `FRAMES` samples, within the band alone.
        spectrum: Phases of these, and of as many zeros after them.
    """

    sound: Float32[ndarray, " frame"]
    spectrum: Complex64[ndarray, " bin"]


def begin(sound: Float32[ndarray, "channel sample"]) -> Begin:
    """Return how a take begins."""
    length = round(HEARD * SAMPLE_RATE)
    heard = sound[0, :length]
    bins = np.fft.rfft(np.pad(heard, (0, length - len(heard))))[: FRAMES // 2 + 1]
    kept = np.fft.irfft(np.where(_is_inside(FRAMES), bins, 0.0), FRAMES)
    padded = np.fft.rfft(kept, 2 * FRAMES)
    spectrum = np.where(_is_inside(2 * FRAMES), _unit(padded), 0.0)
    return Begin(kept.astype(np.float32), spectrum.astype(np.complex64))


def agreement(one: Begin, other: Begin) -> float:
    """Return how far phases of parts agree, once one take begins as much later as fits best.

    >>> noise = np.random.default_rng(0).normal(size=(2, 4 * SAMPLE_RATE)).astype(np.float32)
    >>> first, second = begin(noise[:1]), begin(noise[1:])
    >>> agreement(first, begin(0.1 * noise[:1, SAMPLE_RATE:])) > 0.8
    True
    >>> agreement(first, second) < 0.1
    True
    """
    at_shift = np.abs(np.fft.irfft(one.spectrum * other.spectrum.conj()))
    at_shift[FRAMES - LEAST : FRAMES + LEAST] = 0.0
    shift = int(at_shift.argmax())
    if at_shift[shift] < PEAK * np.sqrt(np.mean(at_shift**2)):
        return 0.0
    late, early = (one, other) if shift < FRAMES else (other, one)
    shift = min(shift, 2 * FRAMES - shift)
    length = (FRAMES - shift) // PARTS
    first, second = (
        np.fft.rfft(each[: PARTS * length].reshape(PARTS, length) * np.hanning(length))
        for each in (late.sound[shift:], early.sound)
    )
    phases = (_unit(first) * _unit(second).conj())[:, _is_inside(length)]
    return float(np.median(np.abs(phases.mean(axis=1))))


def _is_inside(frames: int) -> Bool[ndarray, " bin"]:
    """Return which bins of a spectrum of so many samples lie in the band."""
    place = np.fft.rfftfreq(frames, 1.0 / RATE)
    return np.asarray((place > BAND[0]) & (place < BAND[1]))


def _unit(values: Complex[ndarray, "*shape"]) -> Complex[ndarray, "*shape"]:
    """Return phases alone, zero where there is none."""
    size = np.abs(values)
    return np.where(size > 0.0, values / np.where(size > 0.0, size, 1.0), 0.0)


class KnownTakes:
    """Takes by name, among which a further one is looked for."""

    def __init__(self) -> None:
        """Know none."""
        self._known: dict[str, Begin] = {}

    def before(self, name: str, sound: Float32[ndarray, "channel sample"]) -> str | None:
        """Return the earlier take of which this is a copy; keep it where there is none.

        Args:
            name: `<session>/<file>`.
        """
        found = begin(sound)
        for other, known in self._known.items():
            if agreement(known, found) > ALIKE:
                return other
        self._known[name] = found
        return None
