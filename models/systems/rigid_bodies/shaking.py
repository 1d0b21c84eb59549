r"""How an arm shakes what it carries: by joints 6 and 7 in turn, or by waves of its last joints.

In turn, each of the joints goes to +a, to -a and back, at a limited speed and acceleration (a
trapezoid of speed, rests between). Waves are sums over joints of

    q_j(t) = b_j + a_j w(t) sin(2 pi f_j t + phi_j),   w rising and falling by smooth steps,

so that they begin and end at rest, in a posture that may tilt the flange. A motion within the arm's
limits of angle, speed and acceleration is one that the arm can make.

Source: Heiden et al., appendix II-E (in turn, at a tenth of the speed limit); waves: ours.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import panda

READY = 0.25 * np.pi * np.array((0.0, -1.0, 0.0, -3.0, 0.0, 2.0, 1.0))
"""The arm's posture of documentation and planners: its flange looks down."""
RATE = 100.0
"""Frames a second."""
AWAY = 0.1
"""By which joints 6 and 7 go from the posture, rad."""
SLOW = 0.1
"""Share of the speed limit."""
RAMP = 5.0
"""Acceleration of joints 6 and 7 in turn, rad/s^2."""
REST = 0.3
"""Seconds between parts, and before and after."""
FADE = 0.4
"""Seconds in which waves rise and fall."""
JOINTS = (4, 5, 6)
"""Of waves: joints 5, 6 and 7."""


@dataclass(frozen=True)
class Waves:
    """Of joints 5, 6 and 7.

    Attributes:
        sizes: rad.
        frequencies: Hz.
        phases: rad.
        posture: By which the joints are away from `READY`, rad.
    """

    sizes: tuple[float, float, float]
    frequencies: tuple[float, float, float]
    phases: tuple[float, float, float]
    posture: tuple[float, float, float] = (0.0, 0.0, 0.0)


TELLING = Waves(
    sizes=(0.121, 0.163, 0.001),
    frequencies=(0.736, 0.791, 0.985),
    phases=(2.03, 0.114, 1.875),
    posture=(0.0, -0.0715, -0.7015),
)
"""What tells most of weights in a box."""


def in_turn(*, speed: float = SLOW, away: float = AWAY) -> Float[ndarray, "frame 7"]:
    """Return joint angles, rad, at `RATE`, of joints 6 and 7 by +-away in turn.

    >>> joints = in_turn()
    >>> joints.shape, (joints - READY).max(0)[5:].round(3)
    ((580, 7), array([0.1, 0.1]))

    Args:
        speed: Share of the speed limit.
    """
    still = np.zeros(round(REST * RATE))
    parts = [still]
    ends = (0.0, away, -away, 0.0)
    for begin, end in pairwise(ends):
        parts += [begin + _trapezoid(end - begin, speed * panda.SPEED_LIMIT[6]), still + end]
    one = np.concatenate(parts)
    found = np.tile(READY, (2 * len(one), 1))
    found[: len(one), 5] += one
    found[len(one) :, 6] += one
    return found


def waves(motion: Waves, seconds: float) -> Float[ndarray, "frame 7"]:
    """Return joint angles, rad, at `RATE`, rests of `REST` before and after included."""
    times = np.arange(round((seconds - 2.0 * REST) * RATE) + 1) / RATE
    window = _smooth(times / FADE) * _smooth((times[-1] - times) / FADE)
    rest = round(REST * RATE)
    found = np.tile(READY, (len(times) + 2 * rest, 1))
    found[:, JOINTS] += motion.posture
    rows = zip(JOINTS, motion.sizes, motion.frequencies, motion.phases, strict=True)
    for joint, size, frequency, phase in rows:
        wave = size * window * np.sin(2.0 * np.pi * frequency * times + phase)
        found[rest : rest + len(times), joint] += wave
    return found


def within_limits(joints: Float[ndarray, "frame 7"], share: float = 0.5) -> bool:
    """Return whether a motion at `RATE` keeps to a share of the arm's speeds and accelerations.

    >>> within_limits(in_turn()), within_limits(in_turn(), share=0.01)
    (True, False)
    """
    rates = np.abs(np.diff(joints, axis=0)).max(0) * RATE
    changes = np.abs(np.diff(joints, 2, axis=0)).max(0) * RATE**2
    inside = ((joints > panda.LOW) & (joints < panda.HIGH)).all()
    slow = (rates <= share * panda.SPEED_LIMIT).all()
    return bool(inside and slow and (changes <= share * panda.ACCELERATION_LIMIT).all())


def _trapezoid(distance: float, speed: float) -> Float[ndarray, " frame"]:
    """Return the way at `RATE` after rest, its end included, of a trapezoid of speed."""
    far, ramp = abs(distance), speed / RAMP
    if speed * ramp > far:
        ramp = np.sqrt(far / RAMP)
        speed = RAMP * ramp
    whole = far / speed + ramp
    times = np.arange(1, int(np.ceil(whole * RATE)) + 1) / RATE
    up = 0.5 * RAMP * np.minimum(times, ramp) ** 2
    level = speed * np.clip(times - ramp, 0.0, whole - 2.0 * ramp)
    late = np.clip(times - (whole - ramp), 0.0, ramp)
    return np.sign(distance) * (up + level + speed * late - 0.5 * RAMP * late**2)


def _smooth(share: Float[ndarray, " frame"]) -> Float[ndarray, " frame"]:
    """Return a step from 0 to 1 without a jump of the acceleration."""
    x = np.clip(share, 0.0, 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
