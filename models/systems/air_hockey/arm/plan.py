"""A plan of the arm: a path, and what follows it once the puck is met.

Commands are the path levelled onto the table; from the contact on the mallet goes on straight, then
brakes (`stroke_path.follow`). Joint angles are in rad, speeds in rad/s, times in s.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import splines
from ricochet.models.arms.splines import Path
from ricochet.models.systems.air_hockey.arm import stroke_path
from ricochet.models.systems.air_hockey.arm.stroke_path import BRAKE, HOLD
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact
from ricochet.models.systems.air_hockey.interface import PERIOD

LARGEST_USE = 1.01
"""What plans may use of joint speed and clearance: 0.944 of the former's true limit."""
LARGEST_ACCELERATION_USE = 1.15
"""What they may use of acceleration, of 0.8 of what the joints can do."""
_DIFFERENCE = 1e-4
"""Time over which speeds are differences."""


@dataclass(frozen=True)
class Plan:
    """What the arm will do.

    Attributes:
        path: The run-up, or the path to a rest, not yet levelled.
        contact: What it meets at the path's end; None for a rest.
        passed: Of the path's time, what is over.
        peak: Largest ratio of what it uses to what it may use; 1 is the most.
        peak_without_acceleration: The same of joint speed and clearance alone.
    """

    path: Path
    contact: Contact | None
    passed: float = 0.0
    peak: float = 0.0
    peak_without_acceleration: float = 0.0

    @property
    def time_left(self) -> float:
        """Time until the contact or the rest; negative after it."""
        return float(self.path.times[-1]) - self.passed

    @property
    def possible(self) -> bool:
        """Whether the arm can follow it: a little over 1, in acceleration more, is allowed."""
        within = self.peak_without_acceleration <= LARGEST_USE
        return within and self.peak <= LARGEST_ACCELERATION_USE

    @property
    def over(self) -> bool:
        """Whether the arm is at rest by now."""
        return self.time_left < (-HOLD - BRAKE if self.contact else 0.0) + 1e-9

    @cached_property
    def next(self) -> tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]]:
        """Joint angles and speeds a period from now: what is commanded, and then gone on from."""
        return self.at(PERIOD)

    def at(self, time: float) -> tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]]:
        """Return joint angles and speeds at a time from now; outside the path the arm rests."""
        late = time - self.time_left
        if self.contact is None or late <= 0.0:
            joints, speeds = self.raw(time)
            return _levelled(joints, speeds)
        return _after(self.contact, late)

    def raw(self, time: float) -> tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]]:
        """Return the same before it is levelled, up to the path's end."""
        joints, speeds = splines.at(self.path, np.array((self.passed + time,)))
        return joints[0], speeds[0]


def _levelled(
    joints: Float[ndarray, " 7"], speeds: Float[ndarray, " 7"]
) -> tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]]:
    """Bring a posture and its speeds onto the table."""
    near = joints + _DIFFERENCE * np.array((0.0, 1.0, -1.0))[:, None] * speeds
    here, ahead, behind = splines.level(near, steps=5)
    return here, (ahead - behind) / (2.0 * _DIFFERENCE)


def _after(contact: Contact, late: float) -> tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]]:
    """Go on straight, then brake."""
    times = late + _DIFFERENCE * np.array((0.0, 1.0, -1.0))
    here, ahead, behind = stroke_path.follow(contact.joints, contact.joint_speeds, times)
    return here, (ahead - behind) / (2.0 * _DIFFERENCE)
