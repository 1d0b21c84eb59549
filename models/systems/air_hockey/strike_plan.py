"""Which strike an agent plans: an angle, and the contact where the puck will be.

The policy chooses the angle for the puck's state at the contact; the mallet's centre then is the
contact's radius behind the puck's, and the rod's tip off it by as much as the mallet will hang.
States are (x, y, vx, vy, ax, ay) in m, m/s, m/s^2 in the table's frame, angles in rad, times in s.
`offset` is by how much the mallet will be off the rod's tip, m.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm.stroke_path import BRAKE, HOLD
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact, Strokes
from ricochet.models.systems.air_hockey.opponent.tracker import OpponentTracker
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.angle_policies import Better, Ranked
from ricochet.models.systems.air_hockey.shots.objective import Conditions, Opposed
from ricochet.models.systems.air_hockey.table import Table

MISSED = 1e-3
"""By how much a posture may miss the place that it is sought for, m."""
ROOM = 5e-3
"""By how much a mallet that comes to rest keeps off its bounds, m."""
WAITING = 0.05
"""By how much an objective is to be better to be worth a second more."""


@runtime_checkable
class AnglePolicy(Protocol):
    """Chooses the shooting angle for a puck at the time of contact."""

    def reset(self) -> None:
        """Forget what was found before."""

    def choose(
        self, state: Float[ndarray, " 6"], *, near: float | None, opposed: Opposed | None = None
    ) -> float | None:
        """Return the angle at contact, near that of a stroke under way; None if none is known."""

    def better_angle(
        self, states: Float[ndarray, "time 6"], *, angle: float, opposed: Opposed | None = None
    ) -> Better | None:
        """Return a shot clearly better than that of a stroke under way; None if there is none.

        Args:
            states: Of the puck at some times of contact, the stroke's first.
            opposed: With the times until each contact, in a column.
        """

    def rank(self, states: Float[ndarray, "time 6"], opposed: Opposed | None = None) -> Ranked:
        """Return the best shot for the puck's states at several times of contact, ascending."""


@dataclass(frozen=True)
class StrikeContext:
    """What strikes are planned with; an observed place and the aim err by m per axis."""

    modes: PuckModes
    strokes: Strokes
    policy: AnglePolicy
    table: Table = Table()  # noqa: RUF009  frozen, numbers only
    noise: float = 2e-3
    aim: float = 2e-3

    @cached_property
    def conditions(self) -> Conditions:
        """What decides a push or a stop."""
        covariance = objective.contact_covariance(aim=self.aim)
        return Conditions(self.modes, self.strokes.speed, covariance, self.table)


@dataclass(frozen=True)
class StrikePlan:
    """The strike under way.

    Attributes:
        left: Time to the contact; negative after it.
        put_off: By how much the contact was put off.
        is_push: Whether it is no shot, but brings the puck to where it can be shot.
        worth: Of a stop, as `shots.stop` counts it.
    """

    left: float
    angle: float
    contact: Contact
    puck: Float[ndarray, " 6"]
    put_off: float = 0.0
    is_push: bool = False
    worth: float = 0.0

    @property
    def is_stop(self) -> bool:
        """Whether it is to take a puck's speed."""
        return self.contact.is_stop

    @property
    def is_shot(self) -> bool:
        """Whether it is to score."""
        return not (self.is_push or self.is_stop)


def find(
    context: StrikeContext,
    puck: piecewise_filter.State,
    *,
    left: float,
    near: float | None,
    offset: Float[ndarray, " 2"],
    opponent: OpponentTracker | None = None,
) -> StrikePlan | None:
    """Return the strike that the policy chooses for the time `left`; None where there is none."""
    state, _ = piecewise_filter.predict(puck, left)
    angle = context.policy.choose(state, near=near, opposed=_opposed(opponent, np.array(left)))
    if angle is None:
        return None
    return _at(context, state, angle, left=left, offset=offset)


def rank_times(
    context: StrikeContext,
    puck: piecewise_filter.State,
    *,
    times: Float[ndarray, " time"],
    opponent: OpponentTracker | None = None,
) -> Float[ndarray, " time"]:
    """Return what the best shot is worth at some times until the contact, ascending.

    A stroke from home must be over by then, or it is -inf; of equal shots the earlier is better by
    `WAITING`.
    """
    states = states_ahead(puck, times)
    ranked = context.policy.rank(states, _opposed(opponent, times[:, None]))
    normal = np.stack((np.cos(ranked.angle), np.sin(ranked.angle)), -1)
    base = np.array(context.table.robot_base[:2])
    mallet = states[:, :2] - base - context.table.contact_radius * normal
    early = context.strokes.duration(mallet, ranked.angle) > times
    return np.where(early, -np.inf, ranked.worth - WAITING * times)


def states_ahead(
    puck: piecewise_filter.State, times: Float[ndarray, " time"]
) -> Float[ndarray, "time 6"]:
    """Return the puck's states at ascending times, each predicted from the one before."""
    states, before = [], 0.0
    for time in times.tolist():
        mean, covariance = piecewise_filter.predict(puck, time - before)
        puck, before = replace(puck, mean=mean, covariance=covariance), time
        states.append(mean)
    return np.array(states)


def _opposed(opponent: OpponentTracker | None, until: Float[ndarray, "*time"]) -> Opposed | None:
    """Return what a shot has against it."""
    return Opposed(opponent, until) if opponent is not None and opponent.is_there else None


def retargeted(
    context: StrikeContext,
    puck: piecewise_filter.State,
    plan: StrikePlan,
    *,
    offset: Float[ndarray, " 2"],
    later: Float[ndarray, " time"],
    opponent: OpponentTracker | None = None,
) -> StrikePlan | None:
    """Return a strike clearly better than the one under way; None if none is.

    Args:
        later: By how much its contact may be put off, s, the first being 0.
    """
    times = plan.left + later
    states = states_ahead(puck, times)
    opposed = _opposed(opponent, times[:, None])
    better = context.policy.better_angle(states, angle=plan.angle, opposed=opposed)
    if better is None:
        return None
    left = float(times[better.time])
    found = _at(context, states[better.time], better.angle, left=left, offset=offset)
    put_off = plan.put_off + left - plan.left
    return None if found is None else replace(found, put_off=put_off)


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
    """Return a strike under way moved to where the puck goes; None where the arm does not reach.

    A stop or a push is made so slow that the mallet comes to rest within its bounds.
    """
    state, _ = piecewise_filter.predict(puck, plan.left)
    way = state[:2] - plan.puck[:2]
    place = np.append(iiwa.tip(plan.contact.joints)[:2] + way, iiwa.TIP_HEIGHT)
    if plan.is_shot and not strokes.covers(place[:2], np.array(plan.angle)):
        return None
    joints = splines.seek(plan.contact.joints, place)
    if np.linalg.norm(iiwa.tip(joints) - place) > MISSED:
        return None
    contact = replace(plan.contact, joints=joints)
    if not plan.is_shot:
        mallet = place[:2] + np.array(puck.table.robot_base[:2])
        share = share_with_room(mallet, plan.angle, contact.speed, puck.table)
        if share <= 0.0:
            return None
        contact = slowed_down(contact, share)
    return replace(plan, contact=contact, puck=state)


def share_with_room(
    mallet: Float[ndarray, " 2"], angle: float, speed: float, table: Table
) -> float:
    """Return the share of a speed along an angle after which a mallet rests within its bounds.

    Negative where it is off them before. Its place at contact is in the table's frame, m.
    """
    way = (HOLD + 0.5 * BRAKE) * speed * np.array((np.cos(angle), np.sin(angle)))
    low = np.array((table.mallet_front, -table.mallet_side)) + ROOM
    high = np.array((np.inf, table.mallet_side - ROOM))
    room = np.where(way > 0.0, high - mallet, mallet - low)
    shares = np.where(way == 0.0, np.sign(room), room / np.maximum(np.abs(way), 1e-12))
    return float(min(1.0, shares.min()))


def slowed_down(contact: Contact, share: float) -> Contact:
    """Return the same contact at a share of its speed."""
    speeds = share * contact.joint_speeds
    return replace(contact, joint_speeds=speeds, speed=share * contact.speed)
