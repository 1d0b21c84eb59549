"""An agent that plays air hockey: 23 numbers in, the joints' positions and speeds in 20 ms out.

    watch     the filter estimates where the puck is and how the airflow pushes it, the tracker
              where the opponent's mallet will be; a strike is chosen (`strike_choice`): a shot,
              whose angle converges and for whose contact the best time is waited, or a push of a
              puck that cannot be shot
    stroke    the run-up is planned again every period to where the puck will be at the contact
    leave     after the contact the mallet goes on, brakes and returns home; then it watches again
    retreat   on a fault the arm brakes and goes home, and `faults` gains one line; so it does where
              the strokes of a policy cannot be computed with

A puck that comes fast is stopped, whatever the arm does but strike.

It is an agent of the 2023 Robot Air Hockey Challenge: an object with `reset()` and
`draw_action(observation)` (`interface`). `observer` takes observations in, `strike_choice` says
which strike is planned, `arm.arm_controller` commands.

Fig. 2 of Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey": estimation, contact planning and robot control, all at 50 Hz.
"""

from dataclasses import replace
from enum import Enum

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.core.printable_text import one_line
from ricochet.models.systems.air_hockey import strike_choice, strike_plan
from ricochet.models.systems.air_hockey.arm.arm_controller import ArmController
from ricochet.models.systems.air_hockey.arm.plan import Plan
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact
from ricochet.models.systems.air_hockey.fault_log import FaultLog
from ricochet.models.systems.air_hockey.interface import JOINT_SPEEDS, JOINTS, PERIOD, SIZE
from ricochet.models.systems.air_hockey.observer import TableObserver
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.shots import goal_probability
from ricochet.models.systems.air_hockey.strike_choice import (
    ALL,
    LONGEST_DELAY,
    Skill,
    StrikeChooser,
)
from ricochet.models.systems.air_hockey.strike_plan import StrikeContext, StrikePlan

WATCH = 0.1  # s before a stroke begins
NO_SHOT_TIMEOUT = 0.4  # s without a known shot until that is a fault: at first hardly any is known
FREEZE_BEFORE = 0.06  # s before the contact; from then on angle and contact stay
SLOWEST, SPEED_SHARES = 0.7, 4
"""Least share of a contact's speed that is tried before it is put off, and how many shares."""
HOLD_PLAN_BEFORE = 0.16  # s before the contact; from then on the last plan may stand


class Phase(Enum):
    """What the agent is doing."""

    WATCH = "watch"
    STROKE = "stroke"
    LEAVE = "leave"
    RETREAT = "retreat"


class ShootingAgent:
    """An agent of the challenge's interface, with the strikes it planned in this episode."""

    def __init__(
        self, context: StrikeContext, *, skills: frozenset[Skill] = ALL, seed: int = 0
    ) -> None:
        """Prepare the agent; every episode begins anew with the seed of the planner's samples.

        Args:
            skills: What it may do.
        """
        self._context, self._skills, self._seed = context, skills, seed
        _load_machine_code(context)
        self.reset()

    def reset(self) -> None:
        """Begin an episode."""
        self.phase = Phase.WATCH
        self.strike_plans: list[StrikePlan] = []
        self._faults, context = FaultLog(), self._context
        self._table = TableObserver(
            context.modes, context.table, noise=context.noise, faults=self._faults
        )
        self._arm, self._begun = ArmController(seed=self._seed), False
        self._strike: StrikePlan | None = None
        self._given_up = False
        self._since = 0.0
        self._choice = StrikeChooser(context, self._table, self._arm, skills=self._skills)

    @property
    def faults(self) -> list[str]:
        """What went wrong in this episode, a line each."""
        return self._faults.lines

    def draw_action(self, observation: Float[ndarray, " 23"]) -> Float[ndarray, "2 7"]:
        """Return the joints' positions, rad, and speeds, rad/s, at the end of the coming 20 ms.

        Args:
            observation: As `interface` lays it out; a puck that is not seen is NaN.

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
        before = self._arm.command
        try:
            return self._act(seen)
        except (ArithmeticError, ValueError) as error:  # LinAlgError is a ValueError
            found = one_line(f"{type(error).__name__}, {error}", longest=100)
            self._faults.report("plan", f"cannot be computed ({found}), braking")
            self._give_up()
            self._arm.brake(before)
            return self._arm.command

    def _act(self, seen: Float[ndarray, " 23"]) -> Float[ndarray, "2 7"]:
        """Take an observation in, decide and return the next command."""
        self._choice.pass_period()
        sound = self._table.update(seen, command=self._arm.command, offset=self._arm.offset)
        self._given_up |= not sound
        self._arm.observe(seen[JOINTS])
        puck = self._table.puck
        self._since = 0.0 if puck is None or puck.lost else self._since + PERIOD
        if puck is not None and self._strike is not None:
            self._follow(puck, self._strike)
        elif puck is not None and sound and not self._defend(puck) and self.phase is Phase.WATCH:
            self._watch(puck)
        return self._move()

    def _defend(self, puck: piecewise_filter.State) -> bool:
        """Begin to stop a puck that comes fast, wherever the arm is, if it can be."""
        if puck.lost or not self._choice.comes_fast(puck):
            return False
        found = self._choice.stop(puck)
        if found is None:
            return False
        self._choice.again()
        self._begin(found)
        return True

    def _watch(self, puck: piecewise_filter.State) -> None:
        """Look for a strike; begin it when the puck has been watched for long enough."""
        if puck.lost:
            self._choice.again()
            return
        is_watched = self._since > WATCH
        found = self._choice.strike(puck, is_watched=is_watched)
        save = self._choice.save(puck) if found is None and is_watched else None
        if save is not None:
            self._begin(save)
        elif found is None:
            shoots = Skill.SHOOT in self._skills and puck.mean[0] < 0.0
            if shoots and self._since > NO_SHOT_TIMEOUT:
                where = "({:.2f}, {:.2f})".format(*puck.mean[:2])
                self._faults.report("shot", f"none is known for a puck at {where} m")
        else:
            self._due(found, is_watched=is_watched)

    def _due(self, found: StrikePlan, *, is_watched: bool) -> None:
        """Begin a stroke from home when it is time to."""
        self._faults.clear("shot")
        needed = self._choice.ahead
        if is_watched and found.left < needed + 2.0 * PERIOD:
            self._begin(replace(found, left=max(found.left, needed)))

    def _begin(self, strike: StrikePlan) -> None:
        """Begin a stroke."""
        self.phase, self._strike, self._given_up = Phase.STROKE, strike, False

    def _follow(self, puck: piecewise_filter.State, strike: StrikePlan) -> None:
        """Follow the puck with the contact until shortly before it."""
        strike = replace(strike, left=strike.left - PERIOD)
        if strike.left > FREEZE_BEFORE:
            found = self._choice.replanned(puck, strike)
            if found is not None:
                strike = replace(found, put_off=max(found.put_off, strike.put_off))
            else:
                self._faults.report("shot", "none is known for where the puck goes")
                self._given_up = True
        elif strike.left + PERIOD > FREEZE_BEFORE:
            self.strike_plans.append(strike)
        self._strike = strike

    def _move(self) -> Float[ndarray, "2 7"]:
        """Plan from the last command and return the next, unless that asks too much of the arm."""
        if self._strike is None and self._arm.is_home:
            self._rest()
            return self._arm.command
        plan = None if self._strike is None else self._plan(self._strike)
        asked = self._arm.follow(self._arm.plan(self._arm.home) if plan is None else plan)
        if asked > 1.0:
            self._faults.report("command", f"asked for {asked:.2f} times the limits, braking")
            self._give_up()
        return self._arm.command

    def _plan(self, strike: StrikePlan) -> Plan | None:
        """Plan the stroke; None once it is over, or given up and the arm can brake."""
        if self._given_up and strike.left > 0.0 and self._can_brake():
            self._give_up()
            return None
        before = self._arm.memory
        plan = self._as_fast_as_possible(strike)
        if not (plan.possible or strike.left <= FREEZE_BEFORE):
            self._arm.memory = before
            last = before.plan.contact if before.plan is not None else None
            if last is None or strike.left > HOLD_PLAN_BEFORE:
                return self._put_off(strike, plan.peak)
            plan = self._meet(strike, last)
        if plan.over:
            self.phase, self._strike = Phase.LEAVE, None
            return None
        return plan

    def _can_brake(self) -> bool:
        """Return whether the arm can go home from where it is planned to be."""
        before = self._arm.memory
        plan = self._arm.plan(self._arm.home)
        self._arm.memory = before
        return plan.peak <= 1.0

    def _as_fast_as_possible(self, strike: StrikePlan) -> Plan:
        """Plan the contact at its speed, then at smaller shares of it until one is possible."""
        before, share = self._arm.memory, 1.0
        for _ in range(SPEED_SHARES):
            self._arm.memory = before
            plan = self._meet(strike, strike_plan.slowed_down(strike.contact, share))
            if plan.possible or strike.left <= FREEZE_BEFORE:
                break
            share = max(SLOWEST, share * min(0.98, max(0.85, 1.0 / plan.peak)))
        return plan

    def _meet(self, strike: StrikePlan, contact: Contact) -> Plan:
        """Plan a strike with another contact."""
        self._strike = replace(strike, contact=contact)
        return self._arm.plan(contact, strike.left)

    def _put_off(self, strike: StrikePlan, peak: float) -> Plan | None:
        """Meet the puck when the arm can; None, and the stroke is over, where that is too late."""
        arm, before = self._arm, self._arm.memory
        if strike.is_stop:
            self._give_up()
            return None
        left = strike_choice.periods(strike_choice.least_time(arm, strike))
        later = strike.put_off + max(left - strike.left, PERIOD)
        if later <= LONGEST_DELAY:
            delayed = replace(strike, left=strike.left + later - strike.put_off, put_off=later)
            plan = self._meet(delayed, strike.contact)
            if plan.possible:
                return plan
            arm.memory = before
        self._faults.report("stroke", f"needs {peak:.2f} times what the arm can do")
        self._give_up()
        return None

    def _rest(self) -> None:
        """At home: stay, and watch again."""
        self._arm.rest()
        if self.phase is not Phase.WATCH:
            self.phase, self._since = Phase.WATCH, 0.0
            self._faults.clear("shot", "stroke", "command")
            self._choice.again()

    def _give_up(self) -> None:
        """End the stroke: the arm goes home."""
        self.phase, self._strike, self._given_up = Phase.RETREAT, None, False


def _load_machine_code(context: StrikeContext) -> None:
    """Place the arm and follow a puck once: code is compiled, or read, before periods count."""
    iiwa.pose(iiwa.HOME)
    puck = np.array(((0.0, 0.0, 1.0, 0.0, 0.0, 0.0),))
    goal_probability.predict(context.modes, puck, np.zeros((1, 6, 6)), context.table)
