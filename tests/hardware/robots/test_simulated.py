"""The simulated arm behind the interface: refusals, faults, pacing."""

import math

import pytest

from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace


def test_it_starts_at_home_and_goes_where_it_is_sent():
    arm = SimulatedArm()
    assert arm.state().paddle == pytest.approx((0.3, 0.0, 0.06), abs=1e-9)
    assert arm.move((0.3, -0.2, 0.35), 0.6) is None
    assert arm.advance(0.8) is None
    state = arm.state()
    assert state.paddle == pytest.approx((0.3, -0.2, 0.35), abs=1e-4)
    assert state.time == pytest.approx(0.8) and state.energy > 0.05
    arm.reset()
    assert arm.state().energy == 0.0 and arm.state().time == 0.0


@pytest.mark.parametrize(
    "point", [(0.3, 0.351, 0.2), (0.3, 0.0, -0.001), (0.4, 0.0, 0.2), (0.3, math.nan, 0.2)]
)
def test_a_refused_target_leaves_the_motion_under_way_as_it_was(point):
    asked, left = SimulatedArm(), SimulatedArm()
    for arm in (asked, left):
        arm.move((0.3, 0.2, 0.3), 0.5)
        arm.advance(0.2)
    refusal = asked.move(point, 0.3)
    assert refusal is not None and "\n" not in str(refusal) and ", expected " in str(refusal)
    for arm in (asked, left):
        arm.advance(0.2)
    assert asked.state() == left.state()


def test_limits_reject_and_never_clamp():
    arm = SimulatedArm(Workspace(y=(-0.1, 0.1)))
    assert "y in [-0.1, 0.1] m" in str(arm.move((0.3, 0.2, 0.2), 0.5))
    arm.advance(0.5)
    assert arm.state().paddle == pytest.approx((0.3, 0.0, 0.06), abs=1e-5)


def test_an_arm_that_seizes_says_so_and_stays_stopped():
    arm = SimulatedArm(seized_at=0.2)
    arm.move((0.3, 0.3, 0.2), 0.6)
    assert arm.advance(0.15) is None
    refusal = arm.advance(0.6)
    assert "arm does not follow" in str(refusal) and "the arm is stopped" in str(refusal)
    stuck = arm.state()
    assert arm.move((0.3, 0.0, 0.2), 0.5) == refusal == arm.advance(0.3)
    assert arm.state().joints == stuck.joints and arm.state().joint_speeds == (0.0,) * 6


def test_stopping_brakes_within_a_few_tenths_of_a_second():
    arm = SimulatedArm()
    arm.move((0.3, 0.3, 0.2), 0.5)
    arm.advance(0.25)
    arm.stop()
    arm.advance(0.5)
    assert max(map(abs, arm.state().paddle_velocity)) < 1e-3
    assert arm.state().paddle[1] < 0.3
    arm.close()


def test_paced_it_sleeps_until_the_wall_has_caught_up():
    wall, slept = [100.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        wall[0] += seconds

    arm = SimulatedArm(paced=True, sleep=sleep, clock=lambda: wall[0])
    for _ in range(10):
        wall[0] += 0.004  # what the caller takes
        arm.advance(0.011)
    assert sum(slept) == pytest.approx(0.11 - 0.04) and wall[0] == pytest.approx(100.11)
