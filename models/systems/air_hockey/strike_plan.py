"""Which strike an agent plans: an angle, and the contact where the puck will be.

The policy chooses the angle for the puck's state at the contact; the mallet's centre then is the
contact's radius behind the puck's, and the rod's tip off it by as much as the mallet will hang.
States are (x, y, vx, vy, ax, ay) in m, m/s, m/s^2 in the table's frame, angles in rad, times in s.
`offset` is by how much the mallet will be off the rod's tip, m.
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
class AnglePolicy(Protocol):
    """Chooses the shooting angle for a puck at the time of contact."""

    def reset(self) -> None:
        """Forget what was found before."""

    def choose(self, state: Float[ndarray, " 6"], *, near: float | None) -> float | None:
        """Return the angle at contact, near that of a stroke under way; None if none is known."""

    def better_angle(self, state: Float[ndarray, " 6"], *, angle: float) -> float | None:
        """Return an angle clearly better than that of a stroke under way; None if there is none."""


@dataclass(frozen=True)
class StrikeContext:
    """What strikes are planned with; noise of an observed place in m per axis."""

    modes: PuckModes
    strokes: Strokes
    policy: AnglePolicy
    table: Table = Table()  # noqa: RUF009  frozen, numbers only
    noise: float = 2e-3


@dataclass(frozen=True)
class StrikePlan:
    """The strike under way.

    Attributes:
        left: Time to the contact; negative after it.
        put_off: By how much the contact was put off.
    """

    left: float
    angle: float
    contact: Contact
    puck: Float[ndarray, " 6"]
    put_off: float = 0.0


def find(
    context: StrikeContext,
    puck: piecewise_filter.State,
    *,
    left: float,
    near: float | None,
    offset: Float[ndarray, " 2"],
) -> StrikePlan | None:
    """Return the strike that the policy chooses for the time `left`; None where there is none."""
    state, _ = piecewise_filter.predict(puck, left)
    angle = context.policy.choose(state, near=near)
    if angle is None:
        return None
    return _at(context, state, angle, left=left, offset=offset)


def retargeted(
    context: StrikeContext,
    puck: piecewise_filter.State,
    plan: StrikePlan,
    *,
    offset: Float[ndarray, " 2"],
) -> StrikePlan | None:
    """Return a clearly better strike at the same time as the one under way; None if none is."""
    state, _ = piecewise_filter.predict(puck, plan.left)
    angle = context.policy.better_angle(state, angle=plan.angle)
    if angle is None:
        return None
    found = _at(context, state, angle, left=plan.left, offset=offset)
    return None if found is None else replace(found, put_off=plan.put_off)


def _at(
    context: StrikeContext,
    state: Float[ndarray, " 6"],
    angle: float,
    *,
    left: float,
    offset: Float[ndarray, " 2"],
) -> StrikePlan | None:
    """Return the strike that meets a puck at an angle; None where the arm has none."""
    normal, table = np.array((np.cos(angle), np.sin(angle))), context.table
    mallet = state[:2] - np.array(table.robot_base[:2]) - table.contact_radius * normal
    if not context.strokes.speed(mallet, np.array(angle)) > 0.0:
        return None
    tip = mallet - offset
    covered = context.strokes.covers(tip, np.array(angle))
    return StrikePlan(
        left, angle, context.strokes.contact(tip if covered else mallet, angle), state
    )


def updated(strokes: Strokes, puck: piecewise_filter.State, plan: StrikePlan) -> StrikePlan | None:
    """Return a strike under way moved to where the puck goes; None where the arm does not reach."""
    state, _ = piecewise_filter.predict(puck, plan.left)
    way = state[:2] - plan.puck[:2]
    place = np.append(iiwa.tip(plan.contact.joints)[:2] + way, iiwa.TIP_HEIGHT)
    if not strokes.covers(place[:2], np.array(plan.angle)):
        return None
    joints = splines.seek(plan.contact.joints, place)
    return replace(plan, contact=replace(plan.contact, joints=joints), puck=state)


def slowed_down(contact: Contact, share: float) -> Contact:
    """Return the same contact at a share of its speed."""
    speeds = share * contact.joint_speeds
    return replace(contact, joint_speeds=speeds, speed=share * contact.speed)
