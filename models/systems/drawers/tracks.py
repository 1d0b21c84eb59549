"""Tracks of a drawer, as a camera or a film of a scale gives them, and how they can be wrong.

A track is late against the sound by the shift at which what is heard and what is seen to move go
best together: the correlation of the sound's level, dB, with the logarithm of the speed. Where the
level rises and falls as of strokes, and not with the track's, the track is of another take.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import signal

from ricochet.models.systems.drawers.labels import MOVING, SAMPLE_RATE

STEP = 128  # samples over which a level is taken, 8 ms
SMOOTH = 9  # steps, over which level and speed are averaged
COARSE = 40  # steps, 0.32 s
SLOW = 0.02  # m/s, to which no logarithm looks below
FARTHEST = 1.5  # s, of a shift that is looked for
ON_TIME = (-0.3, 0.1)  # s; a room goes on sounding, so that the sound itself is a little late
USUAL = (-0.16, 0.0)  # s; sixteen simulated sessions, four drawers, have -0.11 to -0.05
LONG = 20.0  # s, that a track lasts whose shift is known to that
ALIKE = 0.5  # least correlation from which a shift is read; tracks of other takes have less
HEARD = 3.0  # dB, least deviation of a level in which strokes are heard
STROKES = 2.0  # s of motion at least, from which a track can be of another take
FASTEST = 3.0  # m/s, above which a track jumps: nobody moves a drawer so
QUIETEST = 1e-12  # power


@dataclass(frozen=True)
class Track:
    """Positions of a drawer, m, at times, s."""

    times: Float[ndarray, " time"]
    positions: Float[ndarray, " time"]


def jump(track: Track) -> tuple[float, float] | None:
    """Return when a track is first faster than any drawer, s, and how fast, m/s; or None.

    >>> jump(Track(np.array([0.0, 0.1, 0.2]), np.array([0.0, 0.01, 0.9])))
    (0.1, 8.9)
    """
    speed = np.abs(np.diff(track.positions)) / np.diff(track.times)
    fast = np.flatnonzero(speed > FASTEST)
    if not len(fast):
        return None
    return float(track.times[fast[0]]), round(float(speed[fast[0]]), 3)


def noise(track: Track) -> float:
    """Return the deviation of a track's frames from what is smooth, m, by second differences.

    Of white noise a second difference has six times its variance; the median passes over strokes.

    >>> wave = np.where(np.arange(99) % 2, 0.01, 0.0)
    >>> round(noise(Track(np.arange(99.0), wave)), 4)
    0.0121
    """
    second = np.diff(track.positions, 2)
    return float(np.median(np.abs(second)) / 0.6745 / np.sqrt(6.0)) if len(second) else 0.0


@dataclass(frozen=True)
class Compared:
    """A track beside the sound of its take.

    Attributes:
        late: How late the track is, s; None where both do not go together.
        moves: Whether it moves long enough to go together with what is heard.
        heard: Whether the sound rises and falls as of strokes.
    """

    late: float | None
    moves: bool
    heard: bool


def compare(track: Track, samples: Float[ndarray, "channel sample"]) -> Compared:
    """Return how a track goes together with the sound.

    Args:
        track: Of the whole recording or its beginning.
        samples: At SAMPLE_RATE, full scale 1.
    """
    count = min(samples.shape[1], round(track.times[-1] * SAMPLE_RATE)) // STEP
    parts = samples[:, : count * STEP].astype(float).reshape(len(samples), count, STEP)
    level = 10.0 * np.log10((parts**2).mean((0, 2)) + QUIETEST)
    edges = np.arange(count + 1) * STEP / SAMPLE_RATE
    at = np.interp(edges, track.times, track.positions)
    speed = np.abs(np.diff(at)) * SAMPLE_RATE / STEP
    smooth = _smooth(level)
    heard, seen = _unit(smooth), _unit(_smooth(np.log(_smooth(speed) + SLOW)))
    farthest = min(round(FARTHEST * SAMPLE_RATE / STEP), count // 4)
    together = signal.correlate(seen, heard, "full", "fft")
    middle = len(heard) - 1
    around = together[middle - farthest : middle + farthest + 1]
    best = int(np.argmax(around))
    if around[best] >= ALIKE:
        return Compared((best - farthest) * STEP / SAMPLE_RATE, moves=True, heard=True)
    strokes = len(smooth) > 2 * SMOOTH and float(smooth[SMOOTH:-SMOOTH].std()) > HEARD
    return Compared(None, moves=_moving(at) > STROKES, heard=strokes)


def _moving(at: Float[ndarray, " step"]) -> float:
    """Return how long a drawer moves, s, by mean positions of COARSE steps, free of noise."""
    means = at[: len(at) // COARSE * COARSE].reshape(-1, COARSE).mean(1)
    duration = COARSE * STEP / SAMPLE_RATE
    return float((np.abs(np.diff(means)) > MOVING * duration).sum() * duration)


def _smooth(values: Float[ndarray, " step"]) -> Float[ndarray, " step"]:
    return np.convolve(values, np.full(SMOOTH, 1.0 / SMOOTH), "same")


def _unit(values: Float[ndarray, " step"]) -> Float[ndarray, " step"]:
    centred = values - values.mean()
    size = float(np.linalg.norm(centred))
    return centred / size if size > 0.0 else centred
