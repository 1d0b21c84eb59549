"""Planned strikes: where the policy points, updated with the puck, retargeted and slowed."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import strike_plan
from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.shots.angle_policies import Better, Ranked
from ricochet.models.systems.air_hockey.shots.objective import Opposed
from ricochet.models.systems.air_hockey.strike_plan import StrikeContext, StrikePlan
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles.hockey_modes import MODES

TABLE = Table()
BASE = np.array(TABLE.robot_base[:2])


@dataclass
class Fixed:
    """Always the same angle."""

    angle: float | None

    def reset(self) -> None:
        pass

    def choose(
        self, state: np.ndarray, *, near: float | None, opposed: Opposed | None = None
    ) -> float | None:
        return self.angle

    def better_angle(
        self, states: np.ndarray, *, angle: float, opposed: Opposed | None = None
    ) -> Better | None:
        if self.angle is None or angle == self.angle:
            return None
        return Better(len(states) - 1, self.angle)

    def rank(self, states: np.ndarray, opposed: Opposed | None = None) -> Ranked:
        """The farther a puck has come to the right, the better."""
        if self.angle is None:
            return Ranked(np.zeros(len(states)), np.full(len(states), -np.inf))
        return Ranked(np.full(len(states), self.angle), -10.0 * states[:, 1])


def puck(place: tuple[float, float]) -> piecewise_filter.State:
    return piecewise_filter.init(MODES, TABLE, position=np.array(place), noise=2e-3)


def find(arm: Strokes, angle: float | None, place: tuple[float, float]) -> StrikePlan | None:
    context, offset = StrikeContext(MODES, arm, Fixed(angle)), np.array((0.003, -0.002))
    return strike_plan.find(context, puck(place), left=0.5, near=None, offset=offset)


@pytest.mark.parametrize("angle", [-0.3, 0.0, 0.3])
def test_the_mallet_meets_the_puck_where_it_will_hang(arm: Strokes, angle: float) -> None:
    """Behind the puck along the angle, once it is off the tip as predicted."""
    found = find(arm, angle, (-0.5, 0.0))
    assert found is not None and found.angle == angle
    mallet = iiwa.tip(found.contact.joints)[:2] + np.array((0.003, -0.002))
    normal = np.array((np.cos(angle), np.sin(angle)))
    np.testing.assert_allclose(
        found.puck[:2] - BASE - mallet, TABLE.contact_radius * normal, atol=1e-6
    )


def test_no_angle_or_a_place_out_of_reach_is_no_stroke(arm: Strokes) -> None:
    assert find(arm, None, (-0.5, 0.0)) is None
    assert find(arm, 0.0, (0.5, 0.0)) is None


def test_a_stroke_moves_as_the_puck_moves(arm: Strokes) -> None:
    before = find(arm, 0.1, (-0.5, 0.0))
    assert before is not None
    way = np.array((0.01, -0.02))
    after = strike_plan.updated(arm, puck((-0.5 + way[0], way[1])), before)
    assert after is not None and after.left == before.left
    tips = [iiwa.tip(each.contact.joints)[:2] for each in (before, after)]
    np.testing.assert_allclose(tips[1] - tips[0], way, atol=1e-6)
    assert strike_plan.updated(arm, puck((0.5, 0.0)), before) is None


def test_a_slower_stroke_meets_the_same_place(arm: Strokes) -> None:
    found = find(arm, 0.0, (-0.5, 0.0))
    assert found is not None
    slow = strike_plan.slowed_down(found.contact, 0.5)
    np.testing.assert_array_equal(slow.joints, found.contact.joints)
    assert slow.speed == pytest.approx(0.5 * found.contact.speed)
    moving = iiwa.pose(slow.joints).jacobian @ slow.joint_speeds
    assert moving[:2] == pytest.approx((slow.speed, 0.0), abs=1e-6)


def test_a_strike_is_retargeted_to_a_better_angle_at_the_same_time(arm: Strokes) -> None:
    before = find(arm, 0.1, (-0.5, 0.0))
    assert before is not None
    contexts = {angle: StrikeContext(MODES, arm, Fixed(angle)) for angle in (0.1, -0.3)}
    found = {
        angle: strike_plan.retargeted(
            each, puck((-0.5, 0.0)), before, offset=np.zeros(2), later=np.zeros(1)
        )
        for angle, each in contexts.items()
    }
    assert found[0.1] is None
    turned = found[-0.3]
    assert turned is not None
    assert (turned.angle, turned.left, turned.put_off) == (-0.3, before.left, before.put_off)


def test_a_strike_that_is_better_later_is_put_off(arm: Strokes) -> None:
    before = find(arm, 0.1, (-0.5, 0.0))
    assert before is not None
    context, later = StrikeContext(MODES, arm, Fixed(-0.3)), np.array((0.0, 0.1, 0.2))
    place = puck((-0.5, 0.0))
    found = strike_plan.retargeted(context, place, before, offset=np.zeros(2), later=later)
    assert found is not None
    assert found.left == pytest.approx(before.left + 0.2)
    assert found.put_off == pytest.approx(before.put_off + 0.2)


def test_times_are_worth_what_their_best_shots_are_and_the_earlier_of_equal_ones_more(
    arm: Strokes,
) -> None:
    """A puck that rolls to the right is worth more the later; one at rest as much at any time.

    What a stroke from home has no time for is worth nothing.
    """
    context, times = StrikeContext(MODES, arm, Fixed(0.0)), np.arange(0.4, 2.6, 0.2)
    needs = float(arm.duration(np.array((0.93, 0.0)), np.array(0.0)))
    rests, rolls = puck((-0.5, 0.0)), puck((-0.5, 0.05))
    rolls = replace(rolls, mean=np.array((-0.5, 0.05, 0.0, -0.05, 0.0, 0.0)))
    worth = strike_plan.rank_times(context, rests, times=times)
    assert times[worth.argmax()] == pytest.approx(times[times >= needs][0])
    assert (worth[times < needs] == -np.inf).all() and np.isfinite(worth[times >= needs]).all()
    np.testing.assert_allclose(np.diff(worth[times >= needs]), -0.2 * strike_plan.WAITING)
    assert strike_plan.rank_times(context, rolls, times=times).argmax() == len(times) - 1
    nothing = StrikeContext(MODES, arm, Fixed(None))
    assert (strike_plan.rank_times(nothing, rests, times=times) == -np.inf).all()


def test_states_at_several_times_are_those_predicted_from_now() -> None:
    """Each goes on from the one before, over banks."""
    rolls = replace(puck((-0.5, 0.3)), mean=np.array((-0.5, 0.3, -0.2, 0.4, 0.05, 0.1)))
    times = np.array((0.1, 0.5, 0.52, 1.7, 2.5))
    expected = [piecewise_filter.predict(rolls, time)[0] for time in times]
    assert min(state[3] for state in expected) < 0.0
    np.testing.assert_allclose(strike_plan.states_ahead(rolls, times), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("mallet", "angle", "speed", "share"),
    [
        ((-0.5, 0.0), 0.0, -0.6, 1.0),  # far from all bounds
        ((-0.90085, 0.0), 0.0, -0.6, 0.02 / (0.095 * 0.6)),  # 2 cm before the own wall's bound
        ((-0.90085, 0.0), 0.0, 0.6, 1.0),  # and off it
        ((-0.5, 0.44585), 0.5 * np.pi, 0.5, 0.02 / (0.095 * 0.5)),  # 2 cm before a rim's
        ((-0.5, -0.44585), 0.5 * np.pi, -0.5, 0.02 / (0.095 * 0.5)),
        ((-0.93, 0.0), 0.0, -0.6, (-0.93 + 0.92085) / (0.095 * 0.6)),  # beyond
        ((-0.5, 0.0), 0.0, 0.0, 1.0),  # it stands
    ],
)
def test_a_mallet_comes_to_rest_within_its_bounds(
    mallet: tuple[float, float], angle: float, speed: float, share: float
) -> None:
    """After the contact it goes on for 30 ms and brakes over 130 ms: 95 ms at its speed."""
    found = strike_plan.share_with_room(np.array(mallet), angle, speed, Table())
    assert found == pytest.approx(share, abs=1e-6)
