"""An agent that shoots pucks: 23 numbers in, the joints' positions and speeds in 20 ms out.

    watch     the filter learns where the puck is and how the airflow pushes it; the aim converges
    stroke    the run-up is planned again every period to where the puck will be at the contact
    leave     after the contact the mallet goes on, brakes and returns home; then it watches again
    retreat   anything wrong: the arm brakes and goes home, and `complaints` gains one line

The offered interface is that of the agents of the 2023 Robot Air Hockey Challenge: an object with
`reset()` and `draw_action(observation)`. Positions of an observation are in the robot's frame.
Commands follow from the last command, never from the observed joints: an arm that lags by a steady
error would creep.

Fig. 2 of Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey": estimation, contact planning and robot control, all at 50 Hz.
"""

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from models.controllers import command_guard, mallet_swing, sampling_mpc
from models.controllers.mallet_swing import Swing
from models.controllers.sampling_mpc import PERIOD, Memory, Plan
from models.core.hockey_table import Table
from models.filters import piecewise_kalman
from models.planners import via_points
from models.planners.strokes import Contact, Strokes
from models.probability.puck_modes import PuckModes
from models.simulators import iiwa

WATCH = 0.1  # s before a stroke begins
SLACK = 0.06  # s that a stroke is given beyond its duration from home
FROZEN = 0.06  # s before the contact from when on angle and contact stay
FIRST_GUESS = 1.2  # s, how far ahead the first shot is looked for
OVERLOAD = 1.05  # load of a plan that cannot be followed
SLOWER = (0.92, 0.84, 0.7)
"""Shares of a contact's speed that are tried before it is put off."""
LATEST = 0.6  # s by which a contact is put off that cannot be met in time
LAGGING = 0.15  # rad, by which observed joints may be off the last command


class Phase(Enum):
    """What the agent is doing."""

    WATCH = "watch"
    STROKE = "stroke"
    LEAVE = "leave"
    RETREAT = "retreat"


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


class ShootingAgent:
    """An agent of the challenge's interface.

    Attributes:
        phase: What it is doing.
        intents: Strokes of this episode as they were at the contact.
        complaints: What went wrong in this episode, a line each.
    """

    def __init__(self, equipment: Equipment, *, seed: int = 0) -> None:
        """Prepare the agent.

        Args:
            equipment: What it is made of.
            seed: Of the planner's samples; every episode begins with it anew.
        """
        self._with, self._seed = equipment, seed
        self._base = np.array(equipment.table.robot_base[:2])
        self._home = via_points.level(iiwa.HOME)
        self.reset()

    def reset(self) -> None:
        """Begin an episode."""
        self.phase = Phase.WATCH
        self.complaints: list[str] = []
        self._wrong: set[str] = set()
        self.intents: list[Intent] = []
        self._puck: piecewise_kalman.State | None = None
        self._memory, self._draw = Memory(), np.random.default_rng(self._seed)
        self._command: Float[ndarray, "2 7"] = np.stack((iiwa.HOME, np.zeros(7)))
        self._begun = False
        self._swing, self._hanging = mallet_swing.REST, np.zeros(2)
        self._intent: Intent | None = None
        self._given_up = False
        self._since, self._ahead = 0.0, FIRST_GUESS
        self._with.aim.reset()

    def draw_action(self, observation: Float[ndarray, " 23"]) -> Float[ndarray, "2 7"]:
        """Return the joints' positions, rad, and speeds, rad/s, at the end of the coming 20 ms.

        Args:
            observation: Puck x, y, yaw and rates, joint positions and speeds, the opponent's
                mallet; in the robot's frame. A puck that is not seen is NaN.

        Raises:
            ValueError: If it has not 23 numbers, or if at the start its joints are not finite or
                the mallet is not on the table.
        """
        seen = np.asarray(observation, float)
        if seen.shape != (23,):
            raise ValueError(f"observation: found shape {seen.shape}, expected (23,)")
        if not self._begun:
            self._command, self._begun = _start(seen[6:13]), True
        self._since += PERIOD
        sound = self._sense(seen)
        self._given_up |= not sound
        if self._puck is not None and self._intent is not None:
            self._stroke(self._puck, self._intent)
        elif self._puck is not None and sound and self.phase is Phase.WATCH:
            self._watch(self._puck)
        return self._move()

    def _sense(self, seen: Float[ndarray, " 23"]) -> bool:
        """Take in an observation; return whether a stroke can stand on what is known."""
        mallet, velocity = self._mallet(seen[6:13], seen[13:20])
        place, table = seen[:2] + self._base, self._with.table
        away = np.isfinite(place).all() and not _on_table(place, table)
        if away:
            where = f"({place[0]:.2f}, {place[1]:.2f})"
            self._complain("puck", f"at {where} m, expected on the table")
        if away or _in_goal(place, table):
            place = np.full(2, np.nan)
        if self._puck is not None:
            self._puck = piecewise_kalman.update(
                self._puck, place, mallet=mallet, mallet_velocity=velocity
            )
        elif np.isfinite(place).all():
            parts = (self._with.modes, table)
            self._puck = piecewise_kalman.init(*parts, position=place, noise=self._with.noise)
        lost = self._puck is not None and self._puck.lost
        if lost:
            self._complain("puck", f"not seen for {piecewise_kalman.PATIENCE} periods")
        elif np.isfinite(place).all():
            self._wrong.discard("puck")
        return mallet is not None and not away and not lost

    def _mallet(
        self, joints: Float[ndarray, " 7"], speeds: Float[ndarray, " 7"]
    ) -> tuple[Float[ndarray, " 2"], Float[ndarray, " 2"]] | tuple[None, None]:
        """Return where the mallet is and its velocity; None where the joints are not to be had."""
        lag = np.abs(joints - self._command[0]).max()
        if not (np.isfinite(joints).all() and np.isfinite(speeds).all()):
            self._complain("joints", "found NaN, expected finite numbers")
        elif lag > LAGGING:
            self._complain("joints", f"{lag:.2f} rad off the last command, expected {LAGGING}")
        else:
            self._wrong.discard("joints")
            pose = iiwa.pose(joints)
            place = pose.tip[:2] + self._base + self._swing.offset
            return place, (pose.jacobian @ speeds)[:2]
        return None, None

    def _watch(self, puck: piecewise_kalman.State) -> None:
        """Look for a shot; begin its stroke when the puck has been watched for long enough."""
        found = None if puck.lost else self._shot(puck, self._ahead, near=None)
        if found is None:
            return
        angle, contact, state = found
        self._ahead = PERIOD * math.ceil((contact.duration + SLACK) / PERIOD)
        if self._since > WATCH:
            self.phase, self._intent = Phase.STROKE, Intent(self._ahead, angle, contact, state)
            self._given_up = False

    def _stroke(self, puck: piecewise_kalman.State, intent: Intent) -> None:
        """Follow the puck with the contact until shortly before it."""
        intent = replace(intent, left=intent.left - PERIOD)
        if intent.left > FROZEN:
            found = self._shot(puck, intent.left, near=intent.angle)
            found = found or self._same_shot(puck, intent)
            if found is not None:
                angle, contact, state = found
                intent = replace(intent, angle=angle, contact=contact, puck=state)
            else:
                self._complain("shot", "none is known for where the puck goes")
                self._given_up = True
        elif intent.left + PERIOD > FROZEN:
            self.intents.append(intent)
        self._intent = intent

    def _shot(
        self, puck: piecewise_kalman.State, left: float, *, near: float | None
    ) -> tuple[float, Contact, Float[ndarray, " 6"]] | None:
        """Return the angle, the contact and the puck a while ahead."""
        state, _ = piecewise_kalman.predict(puck, left)
        angle = self._with.aim.choose(state, near=near)
        if angle is None:
            return None
        normal = np.array((np.cos(angle), np.sin(angle)))
        mallet = state[:2] - self._base - self._with.table.contact_radius * normal
        if not self._with.strokes.speed(mallet, np.array(angle)) > 0.0:
            return None
        tip = mallet - self._hanging
        covered = self._with.strokes.covers(tip, np.array(angle))
        return angle, self._with.strokes.contact(tip if covered else mallet, angle), state

    def _same_shot(
        self, puck: piecewise_kalman.State, intent: Intent
    ) -> tuple[float, Contact, Float[ndarray, " 6"]] | None:
        """Return the stroke under way, moved to where the puck goes: the aim knows no better."""
        state, _ = piecewise_kalman.predict(puck, intent.left)
        moved = state[:2] - intent.puck[:2]
        place = np.append(iiwa.tip(intent.contact.joints)[:2] + moved, iiwa.TIP_HEIGHT)
        if not self._with.strokes.covers(place[:2], np.array(intent.angle)):
            return None
        joints = via_points.seek(intent.contact.joints, place)
        return intent.angle, replace(intent.contact, joints=joints), state

    def _move(self) -> Float[ndarray, "2 7"]:
        """Plan from the last command and return the next, unless that asks too much of the arm."""
        if self._intent is None and self._is_home():
            self._rest()
            return self._command
        plan = None if self._intent is None else self._strike(self._intent)
        if plan is None:
            plan = self._plan(self._home)
        command = np.stack(plan.at(PERIOD))
        asked = command_guard.excess(self._command, command, period=PERIOD)
        if asked > 1.0:
            self._complain("command", f"asked for {asked:.2f} times the limits, braking")
            self._give_up()
            self._memory = replace(self._memory, plan=None, aim=None)
            command = command_guard.braked(self._command, period=PERIOD)
        self._hanging = _hanging(self._swing, plan)
        self._command = command
        self._swing = mallet_swing.follow(
            self._swing, self._command[:1], self._command[1:], period=PERIOD
        )
        return self._command

    def _strike(self, intent: Intent) -> Plan | None:
        """Plan the stroke; None once it is over, or given up and the arm can brake."""
        before = self._memory
        if self._given_up and intent.left > 0.0:
            plan = self._plan(self._home)
            self._memory = before
            if plan.load <= 1.0:
                self._give_up()
                return None
        for share in (1.0, *SLOWER):
            contact = _slowed(intent.contact, share)
            self._memory = before
            plan = self._plan(contact, intent.left)
            if plan.load <= OVERLOAD or intent.left <= FROZEN:
                self._intent = replace(intent, contact=contact)
                break
        else:
            return self._later(intent, before, plan.load)
        if plan.over:
            self.phase, self._intent = Phase.LEAVE, None
        return plan if self._intent is not None else None

    def _later(self, intent: Intent, before: Memory, load: float) -> Plan | None:
        """Meet the puck when the arm can; None, and the stroke is over, where that is too late."""
        joints, speeds = self._command
        needed = sampling_mpc.least_time(joints, speeds, intent.contact)
        left = PERIOD * math.ceil(min(needed, 10.0) / PERIOD)
        later = intent.put_off + max(left - intent.left, PERIOD)
        self._memory = before
        if later <= LATEST:
            self._intent = replace(intent, left=intent.left + later - intent.put_off, put_off=later)
            plan = self._plan(intent.contact, self._intent.left)
            if plan.load <= OVERLOAD:
                return plan
            self._memory = before
        self._complain("stroke", f"needs {load:.2f} times what the arm can do")
        self._give_up()
        return None

    def _plan(self, target: Contact | Float[ndarray, " 7"], left: float = 0.0) -> Plan:
        """Plan from the last command."""
        self._memory, plan = sampling_mpc.plan(
            self._memory,
            joints=self._command[0],
            joint_speeds=self._command[1],
            target=target,
            time_left=left,
            draw=self._draw,
        )
        return plan

    def _is_home(self) -> bool:
        at_home = np.abs(self._command[0] - self._home).max() < 1e-4
        return bool(at_home and np.abs(self._command[1]).max() < 1e-4)

    def _rest(self) -> None:
        """At home: stay, and watch again."""
        self._memory = replace(self._memory, plan=None, aim=None)
        self._swing, self._hanging = mallet_swing.REST, np.zeros(2)
        if self.phase is not Phase.WATCH:
            self.phase, self._since, self._ahead = Phase.WATCH, 0.0, FIRST_GUESS
            self._wrong -= {"shot", "stroke", "command"}
            self._with.aim.reset()

    def _give_up(self) -> None:
        """End the stroke: the arm goes home."""
        self.phase, self._intent, self._given_up = Phase.RETREAT, None, False

    def _complain(self, what: str, why: str) -> None:
        """Say what goes wrong; once, while it stays so."""
        if what not in self._wrong:
            self._wrong.add(what)
            self.complaints.append(f"{what}: {why}")


def _on_table(place: Float[ndarray, " 2"], table: Table) -> bool:
    """Whether a puck is on the table or has just passed a goal line."""
    inside = abs(place[0]) <= table.half_length and abs(place[1]) <= table.half_width
    return bool(inside or _in_goal(place, table))


def _in_goal(place: Float[ndarray, " 2"], table: Table) -> bool:
    """Whether a puck has just passed a goal line."""
    deep = abs(place[0]) - table.half_length
    return bool(0.0 < deep < 0.2 and abs(place[1]) < table.goal_half_width)


def _slowed(contact: Contact, share: float) -> Contact:
    """The same contact at a share of its speed."""
    speeds = share * contact.joint_speeds
    return replace(contact, joint_speeds=speeds, speed=share * contact.speed)


def _hanging(swing: Swing, plan: Plan) -> Float[ndarray, " 2"]:
    """How far the mallet will be off the tip at the plan's contact, m."""
    if plan.contact is None or plan.time_left <= 0.0:
        return np.zeros(2)
    count = max(1, round(plan.time_left / PERIOD))
    period = plan.time_left / count
    times = plan.passed + period * np.arange(1, count + 1)
    joints, speeds = via_points.at(plan.path, times)
    return mallet_swing.follow(swing, joints, speeds, period=period).offset


def _start(joints: Float[ndarray, " 7"]) -> Float[ndarray, "2 7"]:
    """The command before the first: rest where the arm is."""
    if not np.isfinite(joints).all():
        raise ValueError("observation: joints are not finite at the start")
    over = float(iiwa.tip(joints)[2]) - iiwa.TIP_HEIGHT
    if abs(over) > iiwa.TIP_TOLERANCE:
        raise ValueError(
            f"observation: mallet {over:+.3f} m off the table at the start, expected 0"
        )
    home = np.abs(joints - iiwa.HOME).max() < 1e-3
    return np.stack((iiwa.HOME if home else joints, np.zeros(7)))
