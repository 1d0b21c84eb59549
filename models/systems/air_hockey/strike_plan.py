"""Which stroke an agent means to make: an angle, and the contact where the puck will be.

The aim chooses the angle for the puck's state at the contact; the mallet's centre then is the
contact's radius behind the puck's, and the rod's tip off it by as much as the mallet will hang.
"""

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact, Strokes
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.table import Table


@runtime_checkable
class Aim(Protocol):
    """Chooses the shooting angle for a puck at the time of contact."""

    def reset(self) -> None:
        """Forget what was found before."""

    def choose(self, state: Float[ndarray, " 6"], *, near: float | None) -> float | None:
        """Return the angle for the puck's state at contact, rad; None where no shot is known.

        Args:
            state: m, m/s, m/s^2 in the table's frame.
            near: The angle of a stroke under way, which can change a little only; None before.
        """

    def other(self, state: Float[ndarray, " 6"], *, angle: float) -> float | None:
        """Return an angle that is clearly better than that of a stroke under way, None if none is.

        Args:
            state: m, m/s, m/s^2 in the table's frame.
            angle: Of the stroke, rad.
        """


@dataclass(frozen=True)
class Equipment:
    """What an agent is made of.

    Attributes:
        modes: How the puck moves.
        strokes: What the arm can do.
        aim: Which shot to take.
        table: The table.
        noise: Standard deviation of an observed place, m per axis.
    """

    modes: PuckModes
    strokes: Strokes
    aim: Aim
    table: Table = Table()  # noqa: RUF009  frozen, numbers only
    noise: float = 2e-3


@dataclass(frozen=True)
class Intent:
    """The stroke under way.

    Attributes:
        left: Time to the contact, s; negative after it.
        angle: Shooting angle, rad.
        contact: Posture and joint speeds at contact.
        puck: Its state at contact as predicted, m, m/s, m/s^2 in the table's frame.
        put_off: By how much the contact was put off, s.
    """

    left: float
    angle: float
    contact: Contact
    puck: Float[ndarray, " 6"]
    put_off: float = 0.0


def find(
    equipment: Equipment,
    puck: piecewise_filter.State,
    *,
    left: float,
    near: float | None,
    hanging: Float[ndarray, " 2"],
) -> Intent | None:
    """Return the stroke that the aim chooses for a while ahead, None where there is none.

    Args:
        equipment: Aim, strokes and table.
        puck: What is known of it now.
        left: Time to the contact, s.
        near: The angle of a stroke under way, rad; None before.
        hanging: By how much the mallet will be off the rod's tip, m.
    """
    state, _ = piecewise_filter.predict(puck, left)
    angle = equipment.aim.choose(state, near=near)
    if angle is None:
        return None
    return _at(equipment, state, angle, left=left, hanging=hanging)


def turned(
    equipment: Equipment,
    puck: piecewise_filter.State,
    intent: Intent,
    *,
    hanging: Float[ndarray, " 2"],
) -> Intent | None:
    """Return a clearly better stroke than the one under way for the same time, None if none is.

    Args:
        equipment: Aim, strokes and table.
        puck: What is known of it now.
        intent: The stroke under way.
        hanging: By how much the mallet will be off the rod's tip, m.
    """
    state, _ = piecewise_filter.predict(puck, intent.left)
    angle = equipment.aim.other(state, angle=intent.angle)
    if angle is None:
        return None
    found = _at(equipment, state, angle, left=intent.left, hanging=hanging)
    return None if found is None else replace(found, put_off=intent.put_off)


def _at(
    equipment: Equipment,
    state: Float[ndarray, " 6"],
    angle: float,
    *,
    left: float,
    hanging: Float[ndarray, " 2"],
) -> Intent | None:
    """Return the stroke that meets a puck at an angle, None where the arm has none."""
    normal, table = np.array((np.cos(angle), np.sin(angle))), equipment.table
    mallet = state[:2] - np.array(table.robot_base[:2]) - table.contact_radius * normal
    if not equipment.strokes.speed(mallet, np.array(angle)) > 0.0:
        return None
    tip = mallet - hanging
    covered = equipment.strokes.covers(tip, np.array(angle))
    return Intent(left, angle, equipment.strokes.contact(tip if covered else mallet, angle), state)


def moved(strokes: Strokes, puck: piecewise_filter.State, intent: Intent) -> Intent | None:
    """Return a stroke under way moved to where the puck goes, None where the arm does not reach.

    Args:
        strokes: What the arm can do.
        puck: What is known of it now.
        intent: The stroke.
    """
    state, _ = piecewise_filter.predict(puck, intent.left)
    way = state[:2] - intent.puck[:2]
    place = np.append(iiwa.tip(intent.contact.joints)[:2] + way, iiwa.TIP_HEIGHT)
    if not strokes.covers(place[:2], np.array(intent.angle)):
        return None
    joints = splines.seek(intent.contact.joints, place)
    return replace(intent, contact=replace(intent.contact, joints=joints), puck=state)


def slowed(contact: Contact, share: float) -> Contact:
    """Return the same contact at a share of its speed.

    Args:
        contact: The contact.
        share: Of its speed.
    """
    speeds = share * contact.joint_speeds
    return replace(contact, joint_speeds=speeds, speed=share * contact.speed)
