"""What an agent does with the puck: shoot it, push it into the open, or stop it.

    stop    a puck that comes faster than `FAST` is met by a mallet that recedes (`soft_strikes`)
    shoot   any other is shot where and when a shot keeps its chance (`strike_plan`)
    push    one that rests where it cannot be shot is brought into the open

An agent may be kept to some of these, as the tasks of the 2023 Robot Air Hockey Challenge do. Times
are in s.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.air_hockey import soft_strikes, strike_plan
from ricochet.models.systems.air_hockey.arm.arm_controller import ArmController
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.observer import TableObserver
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.puck.piecewise_filter import State
from ricochet.models.systems.air_hockey.shots.push import READY, into_the_open, to_rest
from ricochet.models.systems.air_hockey.strike_plan import StrikeContext, StrikePlan

FIRST_GUESS = 1.2  # how far ahead the first shot is looked for
SLACK = 0.06  # that a stroke is given beyond its duration from home
REPLAN_PERIODS = 5  # periods from one look over all shots to the next
RETARGET_UNTIL = 0.3  # before the contact: the latest time at which the target shot may change
LATER = 6 * PERIOD * np.arange(6)  # by which one is put off for an opponent
LONGEST_DELAY = 0.6  # by which a contact is put off that cannot be met in time
RESTING = 0.03  # m/s, up to which a puck is taken to rest: it can be struck at any time
FAR = 0.2  # by which a shot is farther ahead than a stroke takes, so that it need not be sought
TIMES = np.arange(0.9, 2.7, 8 * PERIOD)  # until the contact, that are tried where it does not
PATIENCE = 0.3  # without a shot, until a puck is pushed: chances come and go
PUSHED = 0.25  # m/s, up to which a puck that cannot be shot is pushed
LEARNT = 2.0  # until a contact, for which an opponent is watched if the puck can wait
FAST = 0.55  # m/s, from which a puck is stopped, not shot
SURE = 0.15  # m/s, deviation of a velocity that a stop is planned for
BETTER_STOP = 0.15  # by how much another stop is worth more than the one under way
TRIES = 3  # stops or pushes that the arm is asked for in a period
_NEVER = 10.0  # in place of an infinite time


class Skill(Enum):
    """What an agent may do."""

    SHOOT = "shoot"
    PUSH = "push"
    STOP = "stop"


ALL = frozenset(Skill)


@dataclass(frozen=True)
class Look:
    """Times until the contact that were ranked in a period, and what a shot is worth then."""

    times: Float[ndarray, " time"]
    worth: Float[ndarray, " time"]


class StrikeChooser:
    """Chooses strikes in an episode, for the arm as it is planned and the table as it is seen.

    Attributes:
        ahead: How far ahead the next contact from home is expected.
    """

    def __init__(
        self,
        context: StrikeContext,
        table: TableObserver,
        arm: ArmController,
        *,
        skills: frozenset[Skill] = ALL,
    ) -> None:
        """Begin an episode."""
        self._context, self._table, self._arm, self._skills = context, table, arm, skills
        self.ahead, self._until, self._tried = FIRST_GUESS, 0.0, 0
        self._without, self._ranked = 0.0, False
        self._looks: list[Look] = []
        self._shot: StrikePlan | None = None
        context.policy.reset()

    def pass_period(self) -> None:
        """Note that a period has passed, whatever was done in it."""
        self._until -= PERIOD

    def again(self) -> None:
        """Begin anew: after a strike, or where what was seen before is of no use."""
        self.ahead, self._until, self._tried = FIRST_GUESS, 0.0, 0
        self._looks, self._shot, self._without, self._ranked = [], None, 0.0, False
        self._context.policy.reset()

    def comes_fast(self, puck: State) -> bool:
        """Return whether a puck is to be stopped."""
        speed = np.hypot(*puck.mean[2:4])
        sure = np.sqrt(np.trace(puck.covariance[2:4, 2:4]) / 2.0) < SURE
        return bool(Skill.STOP in self._skills and speed > FAST and puck.mean[2] < 0.0 and sure)

    def save(self, puck: State) -> StrikePlan | None:
        """Return a stop of a puck that is on its way into the own goal, however slowly."""
        ends = soft_strikes.enters_own_goal(self._context, puck) and Skill.STOP in self._skills
        return self.stop(puck) if ends else None

    def stop(self, puck: State, *, least: float = 0.0) -> StrikePlan | None:
        """Return the best stop that the arm can make, worth at least something; None if none is."""
        found = soft_strikes.find_stops(self._context, puck, joints=self._arm.planned[0])
        return self._first_possible([each for each in found if each.worth > least])

    def _first_possible(self, plans: Sequence[StrikePlan]) -> StrikePlan | None:
        """Return the first of a few strikes that the arm can make."""
        for plan in plans[:TRIES]:
            with self._trying():
                if self._arm.plan(plan.contact, plan.left).possible:
                    return plan
        return None

    def strike(self, puck: State, *, is_watched: bool) -> StrikePlan | None:
        """Return a shot or, once it was watched for long enough, a push; with when it is due."""
        ahead = self._when(puck) if Skill.SHOOT in self._skills else None
        found = None if ahead is None else self._first_shot(puck, ahead)
        if found is None and ahead is None and not self._ranked and Skill.SHOOT in self._skills:
            return None  # all times are not ranked yet
        if found is not None and ahead is not None:
            self.ahead, self._without = periods(found.contact.duration + SLACK), 0.0
            return replace(found, left=ahead)
        self._without += PERIOD
        pushes = is_watched and Skill.PUSH in self._skills
        pushes &= Skill.SHOOT not in self._skills or self._without > PATIENCE
        found = self._push(puck) if pushes else None
        self.ahead = self.ahead if found is None else found.left
        return found

    def _first_shot(self, puck: State, ahead: float) -> StrikePlan | None:
        """Return a shot a while ahead; one found before serves while that is not soon."""
        far = ahead > self.ahead + FAR and self._table.opponent.is_there
        if not (far and self._looks and self._shot is not None):
            self._shot = self.shot(puck, ahead, near=None)
        return self._shot

    def shot(self, puck: State, left: float, *, near: float | None) -> StrikePlan | None:
        """Return the shot that meets the puck a while ahead."""
        return strike_plan.find(
            self._context,
            puck,
            left=left,
            near=near,
            offset=self._arm.offset_at_contact,
            opponent=self._table.opponent,
        )

    def replanned(self, puck: State, strike: StrikePlan) -> StrikePlan | None:
        """Return the strike at where the puck now goes, every few periods perhaps another one."""
        moved = strike_plan.updated(self._context.strokes, puck, strike)
        count = round(strike.left / PERIOD)
        watched = self._table.opponent.is_there and strike.is_shot  # then twice as often
        looks = count % (2 if watched else REPLAN_PERIODS) == 0 and strike.left > RETARGET_UNTIL
        if strike.is_stop:
            least = 0.0 if moved is None else strike.worth + BETTER_STOP
            return (self.stop(puck, least=least) if looks or moved is None else None) or moved
        if strike.is_push:
            return moved
        later = LATER[[0, 1 + count // 2 % (len(LATER) - 1)]] if watched else LATER[:1]
        found = moved if watched and looks else None  # no time for another angle and another shot
        found = found or self.shot(puck, strike.left, near=strike.angle) or moved
        return (self._retargeted(puck, found or strike, later) if looks else None) or found

    def _push(self, puck: State) -> StrikePlan | None:
        """Return a push of a puck that there is no shot for."""
        if np.hypot(*puck.mean[2:4]) > PUSHED or self._is_fine(puck):
            return None
        plans = soft_strikes.find_pushes(
            self._context,
            puck,
            joints=self._arm.planned[0],
            left=self.ahead,
            aim=into_the_open if Skill.SHOOT in self._skills else to_rest,
            which=slice(self._tried, self._tried + TRIES),
        )
        plans = tuple(
            replace(plan, left=periods(max(plan.left, least_time(self._arm, plan) + SLACK)))
            for plan in plans
        )
        found = self._first_possible(plans)
        self._tried = self._tried + TRIES if found is None and plans else 0
        return found

    def _is_fine(self, puck: State) -> bool:
        """Return whether a puck stays where it is to be brought, for an agent that does no more."""
        if Skill.SHOOT in self._skills:
            return False
        later, _ = piecewise_filter.predict(puck, FIRST_GUESS)
        inside = [low < at < high for (low, high), at in zip(READY, later[:2], strict=True)]
        return all(inside)

    def _when(self, puck: State) -> float | None:
        """Return how long it is to be until the contact; None if there is no good time."""
        rests, opponent = np.hypot(*puck.mean[2:4]) < RESTING, self._table.opponent
        if rests and not opponent.is_there:
            return self.ahead
        self._looks.append(self._look(puck, len(self._looks)))
        if len(self._looks) == REPLAN_PERIODS:
            self._until, self._looks, self._ranked = self._best_time(), [], True
        return self._until if self._until > 0.0 else None

    def _look(self, puck: State, number: int) -> Look:
        """Rank a part of the times until the contact: a period is too short for all."""
        times = TIMES[number::REPLAN_PERIODS]
        times = times if number else np.sort(np.append(times, self.ahead))
        worth = strike_plan.rank_times(
            self._context, puck, times=times, opponent=self._table.opponent
        )
        return Look(times, worth)

    def _best_time(self) -> float:
        """Return the best time of the last looks, of those past `LEARNT` if there is one; or 0."""
        ago = PERIOD * np.arange(len(self._looks))[::-1]
        times = np.concatenate([at.times - t for at, t in zip(self._looks, ago, strict=True)])
        worth = np.concatenate([each.worth for each in self._looks])
        opponent = self._table.opponent
        after = LEARNT - opponent.watched if opponent.is_there else 0.0
        late = np.where(times > after, worth, -np.inf)
        worth = late if np.isfinite(late).any() else worth
        best = int(worth.argmax())
        return float(times[best]) if np.isfinite(worth[best]) else 0.0

    def _retargeted(
        self, puck: State, strike: StrikePlan, later: Float[ndarray, " time"]
    ) -> StrikePlan | None:
        """Return a clearly better shot, perhaps later, when the arm can make it; or None."""
        arm, opponent = self._arm, self._table.opponent
        other = strike_plan.retargeted(
            self._context,
            puck,
            strike,
            offset=arm.offset_at_contact,
            later=later[later <= LONGEST_DELAY - strike.put_off],
            opponent=opponent,
        )
        if other is None:
            return None
        needed = periods(least_time(arm, other) + SLACK)
        later_still = max(needed - other.left, 0.0)
        other = replace(other, left=other.left + later_still, put_off=other.put_off + later_still)
        with self._trying():
            possible = arm.plan(other.contact, other.left).possible
        return other if possible and other.put_off <= LONGEST_DELAY else None

    @contextmanager
    def _trying(self) -> Iterator[None]:
        """Leave the arm's plan as it was."""
        before = self._arm.memory
        try:
            yield
        finally:
            self._arm.memory = before


def least_time(arm: ArmController, strike: StrikePlan) -> float:
    """Return the shortest time in which the arm can meet a strike's contact; long if never."""
    return min(arm.least_time(strike.contact), _NEVER)


def periods(time: float) -> float:
    """Return the least whole number of periods that a time fits into."""
    return PERIOD * math.ceil(time / PERIOD)
