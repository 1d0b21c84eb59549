r"""Scripted opponents: mallets before the goal that is shot at, whatever the puck does to them.

    Sweep      the 2023 Robot Air Hockey Challenge's default opponent in its hit task (public
               files): a figure of eight across the goal, with s the phase,
                   x = 0.86 - 0.1 sin s cos s m,    y = -0.16 cos s m,    s' = 3 rad/s
    Follower   ours: keeps before the puck on a line across the goal, as far and as fast as an
               arm can; its acceleration steers it to the puck's y like a damped spring

Places are in m in the table's frame, times in s.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from numpy import ndarray


@runtime_checkable
class Opponent(Protocol):
    """Where an opponent's mallet is; asked once a millisecond."""

    def move(self, time: float, puck: Float[ndarray, " 2"]) -> Float[ndarray, "2 2"]:
        """Return the place and the velocity of the mallet at a time, given where the puck is."""


@dataclass(frozen=True)
class Sweep:
    """The figure of eight; the phase is that at the start, rad."""

    phase: float = 0.5 * np.pi
    rate: float = 3.0
    centre: float = 0.86
    depth: float = 0.1
    width: float = 0.16

    def move(self, time: float, puck: Float[ndarray, " 2"]) -> Float[ndarray, "2 2"]:
        """Return place and velocity."""
        s = self.phase + self.rate * time
        place = (self.centre - 0.5 * self.depth * np.sin(2.0 * s), -self.width * np.cos(s))
        speed = (-self.depth * np.cos(2.0 * s), self.width * np.sin(s))
        return np.stack((place, np.multiply(self.rate, speed)))


@dataclass
class Follower:
    """The mallet that follows the puck.

    Attributes:
        line: x of the mallet, m.
        reach: Largest |y|, m.
        speed, acceleration: Largest, m/s and m/s^2.
        frequency: Of the spring, rad/s; it is critically damped.
    """

    line: float = 0.80
    reach: float = 0.20
    speed: float = 1.0
    acceleration: float = 6.0
    frequency: float = 10.0
    _state: tuple[float, float, float] = (0.0, 0.0, 0.0)  # time, y, and its rate

    def move(self, time: float, puck: Float[ndarray, " 2"]) -> Float[ndarray, "2 2"]:
        """Return place and velocity, moved on from when it was last asked."""
        before, y, rate = self._state
        step, off = time - before, float(np.clip(puck[1], -self.reach, self.reach)) - y
        push = self.frequency * (self.frequency * off - 2.0 * rate)
        rate += step * float(np.clip(push, -self.acceleration, self.acceleration))
        rate = float(np.clip(rate, -self.speed, self.speed))
        self._state = time, y + step * rate, rate
        return np.array(((self.line, self._state[1]), (0.0, rate)))


def make(name: str, draw: np.random.Generator) -> Opponent | None:
    """Make a fresh opponent by its name, or None for "none".

    Args:
        draw: Of the phase with which a sweep begins.

    Raises:
        KeyError: There is no such opponent.
    """
    if name == "sweep":
        return Sweep(float(draw.uniform(-np.pi, np.pi)))
    if name == "follow":
        return Follower()
    if name not in NAMES:
        raise KeyError(name)
    return None


NAMES = ("none", "sweep", "follow")
