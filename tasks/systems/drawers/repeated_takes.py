"""Takes of a drawer that are one recording: louder, cut or coded anew: its digest is another.

Of two recordings phases of their spectra have nothing in common, those of a whine both hear apart;
of one they agree throughout once both begin at the same time (the generalised cross-correlation
with the phase transform of Knapp and Carter 1976).
"""

import numpy as np
from jaxtyping import Complex64, Float32
from numpy import ndarray

from ricochet.models.systems.drawers.labels import SAMPLE_RATE

HEARD = SAMPLE_RATE
"""Samples from a take's begin that are compared, at most: a second."""
BAND = (200.0, 7000.0)
"""Hz."""
ALIKE = 0.25
"""Agreement of phases, of one where it is one recording, and of as much of a second as both hold;
of two that of chance is 0.04 at the most."""


def phases(sound: Float32[ndarray, "channel sample"]) -> Complex64[ndarray, " bin"]:
    """Return the phases of how a take begins in its first channel.

    >>> noise = np.random.default_rng(0).normal(size=(1, 4000)).astype(np.float32)
    >>> float(np.abs(np.vdot(phases(noise), phases(0.3 * noise)))).__round__(3)
    1.0
    """
    begin = sound[0, :HEARD]
    spectrum = np.fft.rfft(np.pad(begin, (0, HEARD - len(begin))))
    place = np.fft.rfftfreq(HEARD, 1.0 / SAMPLE_RATE)
    heard = spectrum[(place > BAND[0]) & (place < BAND[1])]
    size = np.abs(heard)
    unit = np.where(size > 0.0, heard / np.where(size > 0.0, size, 1.0), 0.0)
    return (unit / np.sqrt(len(unit))).astype(np.complex64)


def agreement(one: Complex64[ndarray, " bin"], other: Complex64[ndarray, " bin"]) -> float:
    """Return how far phases agree, once one take begins as much later as fits best.

    >>> noise = np.random.default_rng(0).normal(size=(2, SAMPLE_RATE + 100)).astype(np.float32)
    >>> later = phases(noise[:1, 100:])
    >>> agreement(phases(noise[:1]), later) > 0.8, agreement(phases(noise[1:]), later) < 0.1
    (True, True)
    """
    shifted = np.fft.ifft(one * other.conj(), n=2 * len(one))  # half a step between shifts
    return float(2 * len(one) * np.abs(shifted).max())


class KnownTakes:
    """Takes by name, among which a further one is looked for."""

    def __init__(self) -> None:
        """Know none."""
        self._known: dict[str, Complex64[ndarray, " bin"]] = {}

    def before(self, name: str, sound: Float32[ndarray, "channel sample"]) -> str | None:
        """Return the earlier take of which this is a copy; keep it where there is none.

        Args:
            name: `<session>/<file>`.
        """
        found = phases(sound)
        for other, known in self._known.items():
            if agreement(known, found) > ALIKE:
                return other
        self._known[name] = found
        return None
