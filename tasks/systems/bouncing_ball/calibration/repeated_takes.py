"""Takes that are one recording: louder, cut, or coded anew, so that its digest is another.

Sound of a copy reaches the microphones after the same times as that of the original, to within a
part of a sample, and what is heard between two bounces is the same noise. Times of two drops differ
by far more, because each collision strays; where a simulator has none that does, the noise differs.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import signal

from ricochet.models.systems.bouncing_ball.listening.takes import DetectedTake

SAME = 5e-5
"""Largest difference of times of one recording, s, which was sampled anew perhaps."""
BEFORE, LASTING, RATE = 5e-3, 0.04, 16_000
"""Where noise is compared, s before a bounce, for how long, s, and how often, Hz: what is above
half of that may have been taken out."""
ALIKE = 0.5
"""Correlation of one noise; that of two is 0.06."""


class _Known(NamedTuple):
    name: str
    times: Float[ndarray, "bounce channel"]
    noise: Float[ndarray, " frame"]


class KnownTakes:
    """Takes in which bounces were detected, among which a further one is looked for."""

    def __init__(self) -> None:
        """Know none."""
        self._known: list[_Known] = []
        self._seconds = np.empty(0)

    def before(self, name: str, take: DetectedTake, noise: Float[ndarray, " frame"]) -> str | None:
        """Return the earlier take of which this is a copy; keep it where there is none.

        Args:
            name: `<session>/<file>`.
            take: Its bounces, two or more.
            noise: What `noise` returns of it.
        """
        times = _arrivals(take)
        found = _Known(name, times - times[0, 0], noise)
        second = found.times[1, 0]
        for index in np.flatnonzero(np.abs(self._seconds - second) <= SAME):
            if _are_copies(self._known[index], found):
                return self._known[index].name
        self._known.append(found)
        self._seconds = np.append(self._seconds, second)
        return None


def noise(
    samples: Float[ndarray, "channel frame"], take: DetectedTake, *, sample_rate: int
) -> Float[ndarray, " frame"]:
    """Return what the first channel holds before the second bounce, without hum, of unit length."""
    end = round((_arrivals(take)[1, 0] - BEFORE) * sample_rate)
    heard = samples[0, max(0, end - round(LASTING * sample_rate)) : max(0, end)]
    count = round(len(heard) * RATE / sample_rate)
    hiss = np.diff(signal.resample(heard, count), n=2) if count > 2 else np.zeros(0)
    return np.asarray(hiss / (np.linalg.norm(hiss) or 1.0), dtype=np.float32)


def _arrivals(take: DetectedTake) -> Float[ndarray, "bounce channel"]:
    return take.times[:, None] if take.arrivals is None else take.arrivals


def _are_copies(one: _Known, other: _Known) -> bool:
    """Say whether bounces that both have come at the same times, and in the same noise."""
    if one.times.shape[1] != other.times.shape[1]:
        return False
    count = min(len(one.times), len(other.times))
    if not (np.abs(one.times[:count] - other.times[:count]) <= SAME).all():
        return False
    if not (one.noise.any() and other.noise.any()):
        return not (one.noise.any() or other.noise.any())
    count = min(len(one.noise), len(other.noise))
    shifts = np.correlate(one.noise[:count], other.noise[:count], mode="full")
    return bool(np.abs(shifts[count - 2 : count + 1]).max() > ALIKE)
