"""The choice of a strike: when, which kind, and what an agent's skills leave of it."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.arm.arm_controller import ArmController
from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes
from ricochet.models.systems.air_hockey.fault_log import FaultLog
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.observer import TableObserver
from ricochet.models.systems.air_hockey.puck.piecewise_filter import State
from ricochet.models.systems.air_hockey.strike_choice import (
    ALL,
    LEARNT,
    PATIENCE,
    REPLAN_PERIODS,
    Skill,
    StrikeChooser,
)
from ricochet.models.systems.air_hockey.strike_plan import StrikeContext
from ricochet.models.systems.air_hockey.table import Table
from tests.models.systems.air_hockey.test_strike_plan import Fixed, puck
from tests.oracles.hockey_modes import MODES


def chooser(
    arm: Strokes, angle: float | None = 0.0, skills: frozenset[Skill] = ALL
) -> StrikeChooser:
    context = StrikeContext(MODES, arm, Fixed(angle))
    table = TableObserver(MODES, Table(), noise=2e-3, faults=FaultLog())
    moves = ArmController(seed=0)
    moves.start(iiwa.HOME, np.zeros(7))
    return StrikeChooser(context, table, moves, skills=skills)


def moving(x: float, y: float, vx: float, vy: float, sd: float = 0.02) -> State:
    covariance = np.diag(np.repeat((2e-3, sd, 0.03), 2) ** 2)
    mean = np.array((x, y, vx, vy, 0.0, 0.0))
    return replace(puck((x, y)), mean=mean, covariance=covariance)


def test_a_puck_that_rests_is_shot_as_soon_as_the_arm_can(arm: Strokes) -> None:
    choice = chooser(arm)
    found = choice.strike(puck((-0.5, 0.0)), is_watched=False)
    assert found is not None and found.is_shot
    again = choice.strike(puck((-0.5, 0.0)), is_watched=False)
    assert again is not None and again.left == choice.ahead >= again.contact.duration


def test_of_a_puck_that_moves_the_best_time_is_known_after_a_round_of_looks(arm: Strokes) -> None:
    """It rolls to the right: the later the better, so no earlier time is ever taken."""
    choice, found = chooser(arm), None
    for period in range(2 * REPLAN_PERIODS):
        found = choice.strike(moving(-0.5, 0.05, 0.0, -0.05), is_watched=False)
        assert (found is None) == (period < REPLAN_PERIODS - 1)
    assert found is not None and found.left > 2.0


@pytest.mark.parametrize("seen", [1, 100])
def test_an_opponent_is_watched_before_a_shot_that_can_wait(arm: Strokes, seen: int) -> None:
    """A puck that rolls to the left is better shot soon, yet not before `LEARNT`."""
    choice, found = chooser(arm), None
    for _ in range(seen):
        choice._table.opponent.update(np.array((0.86, 0.0)))
    for _ in range(REPLAN_PERIODS):
        found = choice.strike(moving(-0.5, 0.0, 0.0, 0.02), is_watched=False)
    assert found is not None
    soonest = max(LEARNT - PERIOD * seen, 0.0)
    assert found.left > soonest - PERIOD * REPLAN_PERIODS
    assert (found.left > 1.6) == (seen == 1)


@pytest.mark.parametrize(
    ("state", "fast"),
    [
        (moving(0.4, 0.0, -1.5, 0.2), True),
        (moving(0.4, 0.0, 1.5, 0.2), False),
        (moving(-0.4, 0.0, -0.3, 0.2), False),
        (moving(0.4, 0.0, -1.5, 0.2, sd=0.5), False),
    ],
)
def test_what_comes_fast_is_stopped_once_its_velocity_is_known(
    arm: Strokes, state: State, fast: bool
) -> None:
    assert chooser(arm).comes_fast(state) == fast
    assert not chooser(arm, skills=frozenset({Skill.SHOOT})).comes_fast(state)


def test_a_stop_is_one_that_the_arm_can_make(arm: Strokes) -> None:
    choice = chooser(arm)
    found = choice.stop(moving(0.4, 0.1, -1.5, 0.1))
    assert found is not None and found.is_stop
    assert choice._arm.plan(found.contact, found.left).possible
    assert choice.stop(moving(0.4, 0.1, -1.5, 0.1), least=1.5) is None


def test_a_slow_puck_on_its_way_into_the_own_goal_is_saved(arm: Strokes) -> None:
    ends, stays = moving(-0.55, 0.02, -0.4, 0.0), moving(-0.55, 0.3, -0.4, 0.0)
    found = chooser(arm).save(ends)
    assert found is not None and found.is_stop
    assert chooser(arm).save(stays) is None
    assert chooser(arm, skills=frozenset({Skill.PUSH})).save(ends) is None


def test_what_cannot_be_shot_is_pushed_once_it_was_watched(arm: Strokes) -> None:
    """And had no shot for a while."""
    choice, periods = chooser(arm, None), round(PATIENCE / PERIOD)
    assert choice.strike(puck((-0.56, 0.0)), is_watched=False) is None
    found = [choice.strike(puck((-0.56, 0.0)), is_watched=True) for _ in range(periods)]
    assert all(each is None for each in found[:-1])
    assert found[-1] is not None and found[-1].is_push
    shoots = chooser(arm, None, skills=frozenset({Skill.SHOOT}))
    assert shoots.strike(puck((-0.56, 0.0)), is_watched=True) is None


def test_nothing_is_pushed_before_all_times_of_a_shot_are_known(arm: Strokes) -> None:
    """However long it was watched: a round of looks comes first, then a while without a shot."""
    choice, rolls = chooser(arm, None), moving(-0.56, 0.0, 0.0, 0.05)
    found = []
    for _ in range(REPLAN_PERIODS + round(PATIENCE / PERIOD)):
        choice.pass_period()
        found.append(choice.strike(rolls, is_watched=True))
    assert all(each is None for each in found[:-1])
    assert found[-1] is not None and found[-1].is_push


def test_time_goes_on_while_a_puck_is_not_looked_at(arm: Strokes) -> None:
    choice, rolls = chooser(arm), moving(-0.5, 0.05, 0.0, -0.05)
    for _ in range(REPLAN_PERIODS):
        choice.pass_period()
        before = choice.strike(rolls, is_watched=False)
    for _ in range(4):
        choice.pass_period()
    after = choice.strike(rolls, is_watched=False)
    assert before is not None and after is not None
    assert after.left == pytest.approx(before.left - 4 * PERIOD)


def test_a_puck_that_is_ready_is_left_alone_by_one_that_only_prepares(arm: Strokes) -> None:
    for place, leaves in (((-0.5, 0.2), True), ((-0.5, 0.44), False)):
        choice = chooser(arm, None, skills=frozenset({Skill.PUSH}))
        found = [choice.strike(puck(place), is_watched=True) for _ in range(12)]
        assert all(each is None for each in found) == leaves
