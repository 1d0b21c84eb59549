"""Takes that are one recording: louder, cut, or coded anew, so that its digest is another.

Sound of a copy reaches the microphones after the same times as that of the original, to within a
part of a sample, and what is heard between two bounces is the same noise. Times of two drops differ
by far more, because each collision strays. Where one has taken out the noise, or a code has, that
many bounces come at the same times says it alone; a few may where a simulator has no collision that
strays, and then the noise differs.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import signal

from ricochet.models.systems.bouncing_ball.listening.repeated_drops import CUT, keep_time
from ricochet.models.systems.bouncing_ball.listening.takes import DetectedTake

SAME, FIRST = 5e-5, 3
"""Largest difference of times of one recording, s, which was sampled anew perhaps, and of how many
bounces: faint ones, which come last, are found at other onsets once sound was coded anew."""
BEFORE, LASTING, RATE = 5e-3, 0.04, 16_000
"""Where noise is compared, s before a bounce, for how long, s, and how often, Hz: what is above
half of that may have been taken out."""
ALIKE = 0.3
"""Correlation of one noise, of which most was taken out perhaps; that of two is that of chance."""


class _Known(NamedTuple):
    name: str
    times: Float[ndarray, "bounce channel"]
    noises: tuple[Float[ndarray, " frame"], ...]
    first: int


class KnownTakes:
    """Takes in which bounces were detected, among which a further one is looked for."""

    def __init__(self) -> None:
        """Know none."""
        self._known: list[_Known] = []
        self._gaps = np.empty(0)

    def before(
        self, name: str, take: DetectedTake, noises: tuple[Float[ndarray, " frame"], ...]
    ) -> str | None:
        """Return the earlier take of which this is a copy; keep it where there is none.

        Args:
            name: `<session>/<file>`.
            take: Its bounces, two or more.
            noises: What `noises` returns of it.
        """
        found = [
            _Known(name, _arrivals(take), noises, first)
            for first in range(min(CUT + 1, len(noises)))
        ]
        for each in found:
            for index in np.flatnonzero(np.abs(self._gaps - _gap(each)) <= SAME):
                if _are_copies(self._known[index], each):
                    return self._known[index].name
        self._known += found
        self._gaps = np.append(self._gaps, [_gap(each) for each in found])
        return None


def noises(
    samples: Float[ndarray, "channel frame"], take: DetectedTake, *, sample_rate: int
) -> tuple[Float[ndarray, " frame"], ...]:
    """Return what the first channel holds before some bounces from the second on.

    Each is without hum, and of unit length.
    """
    found = []
    for arrival in _arrivals(take)[1 : CUT + 2, 0]:
        end = round((arrival - BEFORE) * sample_rate)
        heard = samples[0, max(0, end - round(LASTING * sample_rate)) : max(0, end)]
        count = round(len(heard) * RATE / sample_rate)
        hiss = np.diff(signal.resample(heard, count), n=2) if count > 2 else np.zeros(0)
        found.append(np.asarray(hiss / (np.linalg.norm(hiss) or 1.0), dtype=np.float32))
    return tuple(found)


def _arrivals(take: DetectedTake) -> Float[ndarray, "bounce channel"]:
    return take.times[:, None] if take.arrivals is None else take.arrivals


def _gap(known: _Known) -> float:
    """Return the time from a bounce to the next, s."""
    return float(known.times[known.first + 1, 0] - known.times[known.first, 0])


def _are_copies(one: _Known, other: _Known) -> bool:
    """Say whether bounces that both have come at the same times, and many, or in the same noise."""
    if (one.first and other.first) or one.times.shape[1] != other.times.shape[1]:
        return False
    moved = _moved(one, other)
    same = bool((np.abs(moved[:FIRST]) <= SAME).all())
    return keep_time(moved) or (same and _hold_one_noise(one, other))


def _moved(one: _Known, other: _Known) -> Float[ndarray, "bounce channel"]:
    """Return how much later bounces of one come, in time from its first."""
    times = [each.times[each.first :] - each.times[each.first, 0] for each in (one, other)]
    count = min(map(len, times))
    return times[0][:count] - times[1][:count]


def _hold_one_noise(one: _Known, other: _Known) -> bool:
    first, second = (each.noises[each.first] for each in (one, other))
    if not (first.any() and second.any()):
        return not (first.any() or second.any())
    count = min(len(first), len(second))
    shifts = np.correlate(first[:count], second[:count], mode="full")
    return bool(np.abs(shifts[count - 2 : count + 1]).max() > ALIKE)
