r"""First arrivals: when a sound begins, to a fraction of a frame.

The window x about an onset is split into a quiet and a loud part where the Akaike criterion

    A(k) = k log var(x[:k]) + (N - k) log var(x[k:])

is least (Maeda 1985). On the waveform interpolated eight times the arrival is the instant at which
it first crosses a fixed fraction of its first strong peak; noise of standard deviation s moves that
instant by s over the slope there.
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy import signal

FRACTION = 0.4
"""Height at which the arrival is timed, as a fraction of the first strong peak."""
ROWS = 2**12
"""Arrivals that are timed at a time."""


def sharpened(
    samples: Float[ndarray, "channel frame"], sample_rate: float
) -> Float[ndarray, "channel frame"]:
    """High-pass sound, so that rumble does not hide a click's start.

    >>> rumble = np.sin(2 * np.pi * 50.0 * np.arange(44100) / 44100)[None]
    >>> round(float(sharpened(rumble, 44100.0).std() / rumble.std()), 4)
    0.0025
    """
    corner = min(1000.0, 0.1 * sample_rate)
    sections = signal.butter(2, corner, btype="highpass", fs=sample_rate, output="sos")
    return np.asarray(signal.sosfilt(sections, samples, axis=1))


def arrival(
    channel: Float[ndarray, " frame"],
    sample_rate: float,
    *,
    splits: Int[ndarray, " onset"],
    after: float = 2.5e-3,
) -> tuple[Float[ndarray, " onset"], ...]:
    """Time the first arrival near each of several frames of one channel.

    >>> buzz = 1e-3 * np.random.default_rng(0).standard_normal(4410)
    >>> buzz[2000:2400] += 0.5 * (-1.0) ** (np.arange(400) // 4)
    >>> times, sd, loudness, quality = arrival(buzz, 44100.0, splits=np.array([1990]))
    >>> (times * 44100.0).round(1), loudness.round(2)
    (array([1999.6]), array([0.5]))

    Args:
        splits: Frames near which a sound begins.
        after: How long after such a frame the arrival may be sought, s.

    Returns:
        Times in s, their standard deviations in s, root mean square of the rise, and peak over
        noise.
    """
    before, ahead = round(3e-3 * sample_rate), round(after * sample_rate)
    padded = np.pad(channel, (before, ahead))
    found = [
        _arrivals(padded, sample_rate, splits[first : first + ROWS], before, ahead)
        for first in range(0, max(1, len(splits)), ROWS)
    ]
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))


def _arrivals(
    padded: Float[ndarray, " frame"],
    sample_rate: float,
    splits: Int[ndarray, " onset"],
    before: int,
    ahead: int,
) -> tuple[Float[ndarray, " onset"], ...]:
    window = np.arange(before + ahead)
    cut = padded[splits[:, None] + window]
    first = change_points(cut, guard=max(4, before // 8))
    fine, noise, slope, peak = _refine(cut, first, rise=max(3, round(0.3e-3 * sample_rate)))
    times = (splits - before + fine) / sample_rate
    sd = np.hypot(noise / np.maximum(slope, 1e-300), 0.1) / sample_rate
    power = np.where(window > first[:, None], np.square(cut), 0.0)
    tail = power.sum(axis=1) / np.maximum((window > first[:, None]).sum(axis=1), 1)
    loudness = np.sqrt(np.maximum(tail - noise**2, 1e-300))
    return times, np.minimum(sd, 2e-3), loudness, peak / np.maximum(noise, 1e-300)


def change_points(cut: Float[ndarray, "row frame"], *, guard: int) -> Int[ndarray, " row"]:
    """Return the frame at which each row is split best into a quiet and a loud part (Akaike).

    >>> signs = np.where(np.arange(60) % 3 == 0, 1.0, -1.0)
    >>> change_points(np.where(np.arange(60) < 37, 0.1, 1.0)[None] * signs, guard=4)
    array([37])

    Args:
        guard: Frames at either end that hold no change.
    """
    frames = cut.shape[1]
    power = np.cumsum(np.square(cut), axis=1)
    floor = 1e-12 * power[:, -1:] + 1e-300
    count = np.arange(1, frames)
    left = (power[:, :-1] + floor) / count
    right = (power[:, -1:] - power[:, :-1] + floor) / (frames - count)
    criterion = count * np.log(left) + (frames - count) * np.log(right)
    criterion[:, :guard] = np.inf
    criterion[:, frames - guard :] = np.inf
    return np.asarray(np.argmin(criterion, axis=1) + 1)


def _refine(
    cut: Float[ndarray, "row frame"], first: Int[ndarray, " row"], *, rise: int, factor: int = 8
) -> tuple[Float[ndarray, " onset"], ...]:
    """Return where a fraction of the first peak is crossed, noise, slope, height; in frames."""
    rows = np.arange(len(cut))
    lead = 8
    frames = np.clip(first[:, None] - lead + np.arange(lead + rise + 8), 0, cut.shape[1] - 1)
    part = np.abs(signal.resample(cut[rows[:, None], frames], factor * frames.shape[1], axis=1))
    span = part[:, : factor * (lead + rise)]
    height = span[:, factor * lead // 2 :].max(axis=1)
    index = np.arange(span.shape[1])
    above = (span > FRACTION * height[:, None]) & (index >= factor * lead // 2)
    after = np.maximum(np.argmax(above, axis=1), 1)
    low, high = span[rows, after - 1], span[rows, after]
    slope = np.maximum(high - low, 1e-300)
    share = np.clip((FRACTION * height - low) / slope, 0.0, 1.0)
    place = first - lead + (after - 1 + share) / factor
    quiet = np.arange(cut.shape[1]) < first[:, None] - 2
    count = np.maximum(quiet.sum(axis=1), 1)
    noise = np.sqrt(np.where(quiet, np.square(cut), 0.0).sum(axis=1) / count)
    return place, noise, slope * factor, height
