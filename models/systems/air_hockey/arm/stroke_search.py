r"""Find for a grid of contacts how fast a stroke from home may be, and by which run-up.

An evolution strategy over, for each contact, the share of what the posture's joints could do, the
time of wind-up, the duration and six angles that the start posture is off its rule. It minimises

    -share + a duration + b |off|^2 + c max(peak - 1, 0),

where peak is the largest `stroke_path.LimitUsage.peak`, before and after the contact. All contacts
are searched at once, and each search's centre moves towards its neighbours' centres while it looks,
so that what lies between two contacts is a stroke as well. At the end the share is lowered until
the centre itself keeps to the limits. (mu, lambda) with one step size for all: Rechenberg 1973.

`joints` are the angles at contact, rad, `joint_speeds` the largest there, rad/s.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm import stroke_path
from ricochet.models.systems.air_hockey.arm.stroke_path import Limits

_SAMPLES, _ELITE = 16, 4
_LIKENESS = np.array((0.0, *(8 * (0.35,))))
_SCALES = np.array((0.15, 0.2, 0.15, *(6 * (0.12,))))
"""Of share, log wind-up, log duration, and the angles."""
_START = np.array((0.8, np.log(0.16), np.log(1.4), *(6 * (0.0,))))
_LOW = np.array((0.0, np.log(0.12), np.log(0.9), *(6 * (-1.0,))))
_HIGH = np.array((1.0, np.log(0.30), np.log(1.6), *(6 * (1.0,))))
_SLOW, _OFF, _WRONG = 0.15, 0.1, 4.0
_ENOUGH, _SOUND, _HOPELESS, _LONGEST = 1.01, 1.02, 1.2, 1.7
"""Peaks up to which a cell is left, is sound, and is mended; longest duration, s."""
_AT_ONCE = 2000
"""Strokes evaluated together, about what a core's cache holds."""
_LEAST = 0.1
"""Share under which a stroke counts as none."""


@dataclass(frozen=True)
class RunUps:
    """Run-ups.

    Attributes:
        share: Of the joint speeds asked for; 0 where no stroke keeps to the limits.
        wind_up, duration: s.
        offset: Of the start posture from its rule, rad.
    """

    share: Float[ndarray, "*grid"]
    wind_up: Float[ndarray, "*grid"]
    duration: Float[ndarray, "*grid"]
    offset: Float[ndarray, "*grid 7"]


def search(
    joints: Float[ndarray, "*grid 7"],
    joint_speeds: Float[ndarray, "*grid 7"],
    *,
    limits: Limits,
    draw: np.random.Generator,
    steps: int = 40,
    progress: Callable[[int], None] = lambda step: None,
) -> RunUps:
    """Find the run-ups."""
    centre = np.broadcast_to(_START, (*joints.shape[:-1], len(_START))).copy()
    for step in range(steps):
        spread = _SCALES * (0.08 ** (step / steps))
        samples = centre + spread * draw.standard_normal((_SAMPLES, *centre.shape))
        samples = np.clip(samples, _LOW, _HIGH)
        samples[0] = centre
        best = np.argsort(_cost(samples, joints, joint_speeds, limits), axis=0)[:_ELITE]
        elite = np.take_along_axis(samples, best[..., None], 0).mean(0)
        centre = elite + _LIKENESS * (_neighbours(elite) - elite)
        progress(step + 1)
    return _lowered(centre, joints, joint_speeds, limits)


def peak_usage(
    found: RunUps,
    joints: Float[ndarray, "*#grid 7"],
    joint_speeds: Float[ndarray, "*#grid 7"],
    limits: Limits,
) -> Float[ndarray, "*#grid"]:
    """Return the largest ratio of what a stroke uses to what it may."""
    speeds = found.share[..., None] * joint_speeds
    start = stroke_path.start_posture(joints, speeds, wind_up=found.wind_up) + found.offset
    home, end = (np.broadcast_to(posture, start.shape) for posture in (iiwa.HOME, joints))
    points = np.stack((home, splines.level(start, steps=2), end), -2)
    times = np.stack((0.0 * found.duration, found.duration - found.wind_up, found.duration), -1)
    path = splines.fit(times, points, first=0.0 * speeds, last=speeds)
    before = stroke_path.usage(path, limits).peak()
    return np.maximum(before, stroke_path.usage_after(points[..., -1, :], speeds, limits).peak())


def mend(
    speeds: Float[ndarray, "x y u"],
    durations: Float[ndarray, "x y u"],
    peaks: Callable[[Float[ndarray, "x y u"], Float[ndarray, "x y u"]], Float[ndarray, "cx cy cu"]],
    *,
    rounds: int = 12,
) -> tuple[Float[ndarray, "x y u"], Float[ndarray, "x y u"], Bool[ndarray, "cx cy cu"]]:
    """Slow strokes down about cells inside which a stroke would not keep to the limits.

    Args:
        speeds: Of the mallet at contact, m/s.
        durations: s.
        peaks: The largest usage inside each cell between eight neighbours, for given speeds and
            durations.
        rounds: Each adds a fortieth to the durations and takes a hundredth off the speeds.

    Returns:
        Speeds, durations, and which cells keep to the limits with them.
    """
    for _ in range(rounds):
        found = peaks(speeds, durations)
        wrong = (found > _ENOUGH) & (found < _HOPELESS)
        if not wrong.any():
            break
        about = np.zeros(speeds.shape, bool)
        for corner in np.ndindex(2, 2, 2):
            part = tuple(slice(c, n - 1 + c) for c, n in zip(corner, speeds.shape, strict=True))
            about[part] |= wrong
        slower = np.minimum(1.025 * durations, _LONGEST)
        durations = np.where(about, np.maximum(slower, durations), durations)
        speeds = np.where(about, 0.99 * speeds, speeds)
    return speeds, durations, peaks(speeds, durations) <= _SOUND


def _unpack(values: Float[ndarray, "*grid 9"]) -> RunUps:
    """Return the run-ups that samples of the search stand for."""
    offset = np.concatenate((values[..., 3:], 0.0 * values[..., :1]), -1)
    return RunUps(values[..., 0], np.exp(values[..., 1]), np.exp(values[..., 2]), offset)


def _cost(
    samples: Float[ndarray, "sample *grid 9"],
    joints: Float[ndarray, "*grid 7"],
    joint_speeds: Float[ndarray, "*grid 7"],
    limits: Limits,
) -> Float[ndarray, " sample *grid"]:
    """Return what the search minimises."""
    found = _unpack(samples)
    parts = np.array_split(samples, 1 + found.share.size // _AT_ONCE)

    def peak(part: Float[ndarray, "some *grid 9"]) -> Float[ndarray, " some *grid"]:
        return peak_usage(_unpack(part), joints, joint_speeds, limits)

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # numpy's loops run at the same time
        peaks = np.concatenate(list(pool.map(peak, parts)))
    wrong = np.minimum(np.maximum(peaks - 0.99, 0.0), 10.0)
    off = (found.offset**2).sum(-1)
    return -found.share + _SLOW * found.duration + _OFF * off + _WRONG * wrong


def _neighbours(values: Float[ndarray, "*grid k"]) -> Float[ndarray, "*grid k"]:
    """Return the mean of the neighbours along each axis; at an edge its own value is one."""
    total, count = np.zeros_like(values), 0
    for axis in range(values.ndim - 1):
        for shift in (1, -1):
            moved = np.roll(values, shift, axis)
            edge = [slice(None)] * axis + [0 if shift == 1 else -1]
            moved[tuple(edge)] = values[tuple(edge)]
            total, count = total + moved, count + 1
    return total / max(count, 1)


def _lowered(
    centre: Float[ndarray, "*grid 9"],
    joints: Float[ndarray, "*grid 7"],
    joint_speeds: Float[ndarray, "*grid 7"],
    limits: Limits,
) -> RunUps:
    """Lower the share in steps of a fiftieth until each stroke keeps to the limits."""
    values, wrong = centre.copy(), centre[..., 0] > 0.0
    for _ in range(60):
        if not wrong.any():
            break
        tried = peak_usage(_unpack(values[wrong]), joints[wrong], joint_speeds[wrong], limits)
        wrong[wrong] = tried > 1.0
        values[wrong, 0] -= 0.02
        wrong &= values[..., 0] > 0.0
    values[..., 0] = np.where(values[..., 0] < _LEAST, 0.0, values[..., 0])
    return _unpack(values)
