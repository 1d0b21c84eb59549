r"""Find for a grid of contacts how fast a stroke from home may be, and by which run-up.

An evolution strategy over, for each contact, the share of what the posture's joints could do, the
time of wind-up, the duration and six angles that the ready posture is off its rule. It minimises

    -share + a duration + b |off|^2 + c max(load - 1, 0),

where load is the largest ratio of `run_ups.use`, before and after the contact. All contacts are
searched at once, and each search's centre moves towards its neighbours' centres while it looks, so
that what lies between two contacts is a stroke as well. At the end the share is lowered until the
centre itself keeps to the limits. (mu, lambda) with one step size for all: Rechenberg 1973.
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
"""Loads up to which a cell is left, is sound, and is mended; longest duration, s."""
_AT_ONCE = 2000
"""Strokes looked at together, about what a core's cache holds."""
_LEAST = 0.1
"""Share under which a stroke counts as none."""


@dataclass(frozen=True)
class RunUps:
    """What was found.

    Attributes:
        share: Of the joint speeds asked for; 0 where no stroke keeps to the limits.
        wind_up: s.
        duration: s.
        offset: Of the ready posture from its rule, rad.
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
    progress: Callable[[int], None] | None = None,
) -> RunUps:
    """Find the run-ups.

    Args:
        joints: At contact, rad.
        joint_speeds: The largest at contact, rad/s.
        limits: What strokes keep to.
        draw: Source of randomness.
        steps: Of the search.
        progress: Told the number of each step done.
    """
    centre = np.broadcast_to(_START, (*joints.shape[:-1], len(_START))).copy()
    for step in range(steps):
        spread = _SCALES * (0.08 ** (step / steps))
        samples = centre + spread * draw.standard_normal((_SAMPLES, *centre.shape))
        samples = np.clip(samples, _LOW, _HIGH)
        samples[0] = centre
        best = np.argsort(_cost(samples, joints, joint_speeds, limits), axis=0)[:_ELITE]
        elite = np.take_along_axis(samples, best[..., None], 0).mean(0)
        centre = elite + _LIKENESS * (_neighbours(elite) - elite)
        if progress:
            progress(step + 1)
    return _lowered(centre, joints, joint_speeds, limits)


def load(
    found: RunUps,
    joints: Float[ndarray, "*grid 7"],
    joint_speeds: Float[ndarray, "*grid 7"],
    limits: Limits,
) -> Float[ndarray, "*grid"]:
    """Return the largest ratio of what a stroke uses to what it may.

    Args:
        found: The run-ups.
        joints: At contact, rad.
        joint_speeds: The largest at contact, rad/s.
        limits: What strokes keep to.
    """
    speeds = found.share[..., None] * joint_speeds
    ready = stroke_path.ready(joints, speeds, wind_up=found.wind_up) + found.offset
    home = np.broadcast_to(iiwa.HOME, ready.shape)
    points = np.stack(
        (home, splines.level(ready, steps=2), np.broadcast_to(joints, ready.shape)), -2
    )
    times = np.stack((0.0 * found.duration, found.duration - found.wind_up, found.duration), -1)
    path = splines.fit(times, points, first=0.0 * speeds, last=speeds)
    before = stroke_path.use(path, limits).load()
    return np.maximum(before, stroke_path.after(points[..., -1, :], speeds, limits).load())


def mend(
    speeds: Float[ndarray, "x y u"],
    durations: Float[ndarray, "x y u"],
    loads: Callable[[Float[ndarray, "x y u"], Float[ndarray, "x y u"]], Float[ndarray, "cx cy cu"]],
    *,
    rounds: int = 12,
) -> tuple[Float[ndarray, "x y u"], Float[ndarray, "x y u"], Bool[ndarray, "cx cy cu"]]:
    """Slow strokes down about cells inside which a stroke would not keep to the limits.

    Args:
        speeds: Of the mallet at contact, m/s.
        durations: s.
        loads: The largest load inside each cell between eight neighbours, for given speeds and
            durations.
        rounds: Each adds a fortieth to the durations and takes a hundredth off the speeds.

    Returns:
        Speeds, durations, and which cells keep to the limits with them.
    """
    for _ in range(rounds):
        found = loads(speeds, durations)
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
    return speeds, durations, loads(speeds, durations) <= _SOUND


def _unpack(values: Float[ndarray, "*grid 9"]) -> RunUps:
    offset = np.concatenate((values[..., 3:], 0.0 * values[..., :1]), -1)
    return RunUps(values[..., 0], np.exp(values[..., 1]), np.exp(values[..., 2]), offset)


def _cost(
    samples: Float[ndarray, "sample *grid 9"],
    joints: Float[ndarray, "*grid 7"],
    joint_speeds: Float[ndarray, "*grid 7"],
    limits: Limits,
) -> Float[ndarray, " sample *grid"]:
    found = _unpack(samples)
    parts = np.array_split(samples, 1 + found.share.size // _AT_ONCE)

    def use(part: Float[ndarray, "some *grid 9"]) -> Float[ndarray, " some *grid"]:
        return load(_unpack(part), joints, joint_speeds, limits)

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # numpy's loops run beside each other
        loads = np.concatenate(list(pool.map(use, parts)))
    wrong = np.minimum(np.maximum(loads - 0.99, 0.0), 10.0)
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
        tried = load(_unpack(values[wrong]), joints[wrong], joint_speeds[wrong], limits)
        wrong[wrong] = tried > 1.0
        values[wrong, 0] -= 0.02
        wrong &= values[..., 0] > 0.0
    values[..., 0] = np.where(values[..., 0] < _LEAST, 0.0, values[..., 0])
    return _unpack(values)
