"""An agent that shoots pucks: 23 numbers in, the joints' positions and speeds in 20 ms out.

    watch     the filter learns where the puck is and how the airflow pushes it; the aim converges
    stroke    the run-up is planned again every period to where the puck will be at the contact
    leave     after the contact the mallet goes on, brakes and returns home; then it watches again
    retreat   anything wrong: the arm brakes and goes home, and `complaints` gains one line

The offered interface is that of the agents of the 2023 Robot Air Hockey Challenge: an object with
`reset()` and `draw_action(observation)`. Positions of an observation are in the robot's frame.
`table_watch` takes observations in, `shot_intents` says what is meant, `arm_driver` commands.

Fig. 2 of Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey": estimation, contact planning and robot control, all at 50 Hz.
"""

import math
from dataclasses import replace
from enum import Enum

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.air_hockey import strike_plan
from ricochet.models.systems.air_hockey.arm.arm_controller import ArmDriver
from ricochet.models.systems.air_hockey.arm.plan import Plan
from ricochet.models.systems.air_hockey.arm.sampling_mpc import Memory
from ricochet.models.systems.air_hockey.fault_log import Complaints
from ricochet.models.systems.air_hockey.interface import JOINT_SPEEDS, JOINTS, PERIOD, SIZE
from ricochet.models.systems.air_hockey.observer import TableWatch
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.strike_plan import Equipment, Intent

WATCH = 0.1  # s before a stroke begins
PUZZLED = 0.4  # s of knowing no shot before it says so: the puck is hardly known at first
SLACK = 0.06  # s that a stroke is given beyond its duration from home
FROZEN = 0.06  # s before the contact from when on angle and contact stay
FIRST_GUESS = 1.2  # s, how far ahead the first shot is looked for
SLOWEST, TRIES = 0.7, 4
"""Least share of a contact's speed that is tried before it is put off, and how many shares."""
AGAIN = 5  # periods from one look over all shots to the next, in a stroke
TURNING = 0.3  # s before the contact, until when a stroke may turn to another shot
STANDING = 0.16  # s before the contact, from when the last plan stands where a new one cannot be
LATEST = 0.6  # s by which a contact is put off that cannot be met in time


class Phase(Enum):
    """What the agent is doing."""

    WATCH = "watch"
    STROKE = "stroke"
    LEAVE = "leave"
    RETREAT = "retreat"


class ShootingAgent:
    """An agent of the challenge's interface.

    Attributes:
        phase: What it is doing.
        intents: Strokes of this episode as they were at the contact.
    """

    def __init__(self, equipment: Equipment, *, seed: int = 0) -> None:
        """Prepare the agent.

        Args:
            equipment: What it is made of.
            seed: Of the planner's samples; every episode begins with it anew.
        """
        self._with, self._seed = equipment, seed
        self.reset()

    def reset(self) -> None:
        """Begin an episode."""
        self.phase = Phase.WATCH
        self.intents: list[Intent] = []
        self._complaints, known = Complaints(), self._with
        self._table = TableWatch(
            known.modes, known.table, noise=known.noise, complaints=self._complaints
        )
        self._arm, self._begun = ArmDriver(seed=self._seed), False
        self._intent: Intent | None = None
        self._given_up = False
        self._since, self._ahead = 0.0, FIRST_GUESS
        known.aim.reset()

    @property
    def complaints(self) -> list[str]:
        """What went wrong in this episode, a line each."""
        return self._complaints.lines

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
        if seen.shape != (SIZE,):
            raise ValueError(f"observation: found shape {seen.shape}, expected ({SIZE},)")
        if not self._begun:
            self._arm.start(seen[JOINTS], seen[JOINT_SPEEDS])
            self._begun = True
        self._since += PERIOD
        sound = self._table.see(seen, command=self._arm.command, hanging=self._arm.offset)
        self._given_up |= not sound
        self._arm.observe(seen[JOINTS])
        puck = self._table.puck
        if puck is not None and self._intent is not None:
            self._stroke(puck, self._intent)
        elif puck is not None and sound and self.phase is Phase.WATCH:
            self._watch(puck)
        return self._move()

    def _watch(self, puck: piecewise_filter.State) -> None:
        """Look for a shot; begin its stroke when the puck has been watched for long enough."""
        if puck.lost:
            return
        found = self._shot(puck, self._ahead, near=None)
        if found is None:
            if self._since > PUZZLED:
                where = "({:.2f}, {:.2f})".format(*puck.mean[:2])
                self._complaints.say("shot", f"none is known for a puck at {where} m")
            return
        self._complaints.settle("shot")
        self._ahead = PERIOD * math.ceil((found.contact.duration + SLACK) / PERIOD)
        if self._since > WATCH:
            self.phase, self._intent = Phase.STROKE, replace(found, left=self._ahead)
            self._given_up = False

    def _stroke(self, puck: piecewise_filter.State, intent: Intent) -> None:
        """Follow the puck with the contact until shortly before it."""
        intent = replace(intent, left=intent.left - PERIOD)
        if intent.left > FROZEN:
            found = self._shot(puck, intent.left, near=intent.angle)
            found = found or strike_plan.moved(self._with.strokes, puck, intent)
            if round(intent.left / PERIOD) % AGAIN == 0 and intent.left > TURNING:
                found = self._turned(puck, found or intent) or found
            if found is not None:
                intent = replace(found, put_off=max(found.put_off, intent.put_off))
            else:
                self._complaints.say("shot", "none is known for where the puck goes")
                self._given_up = True
        elif intent.left + PERIOD > FROZEN:
            self.intents.append(intent)
        self._intent = intent

    def _shot(
        self, puck: piecewise_filter.State, left: float, *, near: float | None
    ) -> Intent | None:
        """Return the stroke that meets the puck a while ahead."""
        hanging = self._arm.hanging
        return strike_plan.find(self._with, puck, left=left, near=near, hanging=hanging)

    def _turned(self, puck: piecewise_filter.State, intent: Intent) -> Intent | None:
        """Return a clearly better stroke, when the arm can make it; None if there is none."""
        other = strike_plan.turned(self._with, puck, intent, hanging=self._arm.hanging)
        if other is None:
            return None
        arm, before = self._arm, self._arm.memory
        needed = min(arm.least_time(other.contact), 10.0) + SLACK
        later = max(PERIOD * math.ceil(needed / PERIOD) - intent.left, 0.0)
        if intent.put_off + later > LATEST:
            return None
        possible = arm.plan(other.contact, intent.left + later).possible
        arm.memory = before
        put_off = intent.put_off + later
        return replace(other, left=intent.left + later, put_off=put_off) if possible else None

    def _move(self) -> Float[ndarray, "2 7"]:
        """Plan from the last command and return the next, unless that asks too much of the arm."""
        if self._intent is None and self._arm.is_home:
            self._rest()
            return self._arm.command
        plan = None if self._intent is None else self._strike(self._intent)
        asked = self._arm.follow(self._arm.plan(self._arm.home) if plan is None else plan)
        if asked > 1.0:
            self._complaints.say("command", f"asked for {asked:.2f} times the limits, braking")
            self._give_up()
        return self._arm.command

    def _strike(self, intent: Intent) -> Plan | None:
        """Plan the stroke; None once it is over, or given up and the arm can brake."""
        arm, before = self._arm, self._arm.memory
        if self._given_up and intent.left > 0.0:
            plan = arm.plan(arm.home)
            arm.memory = before
            if plan.load <= 1.0:
                self._give_up()
                return None
        share = 1.0
        for _ in range(TRIES):
            contact = strike_plan.slowed(intent.contact, share)
            arm.memory = before
            plan = arm.plan(contact, intent.left)
            if plan.possible or intent.left <= FROZEN:
                self._intent = replace(intent, contact=contact)
                break
            share = max(SLOWEST, share * min(0.98, max(0.85, 1.0 / plan.load)))
        else:
            last = before.plan.contact if before.plan is not None else None
            if last is None or intent.left > STANDING:
                return self._later(intent, before, plan.load)
            arm.memory, self._intent = before, replace(intent, contact=last)
            plan = arm.plan(last, intent.left)
        if plan.over:
            self.phase, self._intent = Phase.LEAVE, None
        return plan if self._intent is not None else None

    def _later(self, intent: Intent, before: Memory, load: float) -> Plan | None:
        """Meet the puck when the arm can; None, and the stroke is over, where that is too late."""
        arm = self._arm
        left = PERIOD * math.ceil(min(arm.least_time(intent.contact), 10.0) / PERIOD)
        later = intent.put_off + max(left - intent.left, PERIOD)
        arm.memory = before
        if later <= LATEST:
            self._intent = replace(intent, left=intent.left + later - intent.put_off, put_off=later)
            plan = arm.plan(intent.contact, self._intent.left)
            if plan.possible:
                return plan
            arm.memory = before
        self._complaints.say("stroke", f"needs {load:.2f} times what the arm can do")
        self._give_up()
        return None

    def _rest(self) -> None:
        """At home: stay, and watch again."""
        self._arm.rest()
        if self.phase is not Phase.WATCH:
            self.phase, self._since, self._ahead = Phase.WATCH, 0.0, FIRST_GUESS
            self._complaints.settle("shot", "stroke", "command")
            self._with.aim.reset()

    def _give_up(self) -> None:
        """End the stroke: the arm goes home."""
        self.phase, self._intent, self._given_up = Phase.RETREAT, None, False
