"""Stops and pushes as contacts of the arm: where, how fast, and when there is none."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import soft_strikes
from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.puck.piecewise_filter import State
from ricochet.models.systems.air_hockey.shots.push import WIND_UP, into_the_open
from ricochet.models.systems.air_hockey.strike_plan import StrikeContext, StrikePlan
from ricochet.models.systems.air_hockey.table import Table
from tests.models.systems.air_hockey.test_strike_plan import Fixed, puck
from tests.oracles.hockey_modes import MODES

TABLE = Table()


@pytest.fixture
def context(arm: Strokes) -> StrikeContext:
    return StrikeContext(MODES, arm, Fixed(None))


def moving(x: float, y: float, vx: float, vy: float) -> State:
    return replace(puck((x, y)), mean=np.array((x, y, vx, vy, 0.0, 0.0)))


def pushes(context: StrikeContext, at: State, which: slice) -> tuple[StrikePlan, ...]:
    return soft_strikes.find_pushes(
        context, at, joints=iiwa.HOME, left=1.2, aim=into_the_open, which=which
    )


def meets(plan: StrikePlan) -> None:
    """Check that the mallet touches the puck along the plan's angle, at its speed."""
    pose = iiwa.pose(plan.contact.joints)
    mallet = pose.tip + TABLE.robot_base
    normal = np.array((np.cos(plan.angle), np.sin(plan.angle)))
    np.testing.assert_allclose(plan.puck[:2] - mallet[:2], TABLE.contact_radius * normal, atol=1e-4)
    assert mallet[2] == pytest.approx(TABLE.tip_height, abs=1e-4)
    velocity = (pose.jacobian @ plan.contact.joint_speeds)[:2]
    np.testing.assert_allclose(velocity, plan.contact.speed * normal, atol=1e-3)


def test_a_push_is_a_soft_stroke_from_close_behind(context: StrikeContext) -> None:
    for plan in pushes(context, puck((-0.56, 0.0)), slice(0, 3)):
        assert plan.is_push and not plan.is_shot and not plan.is_stop
        assert 0.1 < plan.contact.speed < 0.7
        meets(plan)
        ends = iiwa.tip(np.stack((plan.contact.joints, plan.contact.start_posture)))
        way = np.hypot(*(ends[0] - ends[1])[:2])
        assert way == pytest.approx(0.5 * WIND_UP * plan.contact.speed, rel=0.05)
    assert pushes(context, puck((0.5, 0.0)), slice(0, 3)) == ()


def test_pushes_are_asked_for_in_parts(context: StrikeContext) -> None:
    whole = pushes(context, puck((-0.56, 0.0)), slice(0, 4))
    part = pushes(context, puck((-0.56, 0.0)), slice(2, 4))
    assert [(p.angle, p.contact.speed) for p in whole[2:]] == [
        (p.angle, p.contact.speed) for p in part
    ]


def test_a_fast_puck_is_met_by_a_mallet_that_recedes(context: StrikeContext) -> None:
    at = moving(0.4, 0.1, -1.5, 0.1)
    found = soft_strikes.find_stops(context, at, joints=iiwa.HOME)
    assert len(found) > 2
    for plan in found:
        assert plan.is_stop and not plan.is_shot
        expected, _ = piecewise_filter.predict(at, plan.left)
        np.testing.assert_allclose(plan.puck, expected)
        meets(plan)
        way = np.abs(plan.contact.joints - iiwa.HOME) / iiwa.SPEED_LIMIT
        assert plan.left >= soft_strikes.QUICKEST * way.max()


def test_a_puck_that_stays_away_or_goes_away_is_not_stopped(context: StrikeContext) -> None:
    for at in (moving(0.7, 0.0, -0.1, 0.3), moving(-0.4, 0.0, 1.5, 0.0)):
        assert soft_strikes.find_stops(context, at, joints=iiwa.HOME) == ()


@pytest.mark.parametrize(
    ("at", "enters"),
    [
        (moving(-0.5, 0.0, -0.5, 0.0), True),
        (moving(-0.5, 0.0, -0.1, 0.0), False),
        (moving(-0.5, 0.3, -0.5, 0.0), False),
        (moving(-0.5, 0.0, 0.5, 0.0), False),
        (moving(0.4, 0.0, -2.0, 0.0), True),
    ],
)
def test_a_puck_on_its_way_into_the_own_goal_is_known(
    context: StrikeContext, at: State, enters: bool
) -> None:
    assert soft_strikes.enters_own_goal(context, at) == enters
