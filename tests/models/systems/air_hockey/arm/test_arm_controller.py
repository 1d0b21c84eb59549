"""Control of the arm: from the last command, within its limits."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.arms import iiwa, splines
from ricochet.models.arms.splines import Path
from ricochet.models.systems.air_hockey.arm import command_limits
from ricochet.models.systems.air_hockey.arm.arm_controller import ArmController
from ricochet.models.systems.air_hockey.arm.payload_estimator import PRIOR
from ricochet.models.systems.air_hockey.interface import PERIOD

AWAY = np.array((0.3, 0.0, 0.2, 0.1, -0.1, 0.2, 0.0))


@pytest.fixture
def arm() -> ArmController:
    return ArmController(seed=0)


@pytest.mark.slow
def test_a_rest_elsewhere_is_reached_within_the_limits_and_home_again(arm: ArmController) -> None:
    arm.start(iiwa.HOME, np.zeros(7))
    away = splines.level(iiwa.HOME + AWAY)
    for target in (away, arm.home):
        commands = [arm.command]
        for _ in range(150):
            assert arm.follow(arm.plan(target)) <= 1.0
            commands.append(arm.command)
        np.testing.assert_allclose(arm.command, np.stack((target, np.zeros(7))), atol=1e-4)
        moved = np.abs(np.diff([c[0] for c in commands], axis=0)).max(0) / PERIOD
        assert (moved <= iiwa.USABLE * iiwa.SPEED_LIMIT).all()
    assert arm.is_home


def test_a_plan_that_asks_too_much_is_braked_and_forgotten(arm: ArmController) -> None:
    arm.start(iiwa.HOME, np.zeros(7))
    plan = arm.plan(arm.home)
    far = replace(plan.path, points=plan.path.points + 1.0)
    assert arm.follow(replace(plan, path=far)) > 1.0
    np.testing.assert_array_equal(arm.command, np.stack((iiwa.HOME, np.zeros(7))))
    assert arm.memory.plan is None


@pytest.mark.parametrize("joints", [np.full(7, np.nan), np.zeros(7)])
def test_an_impossible_start_is_refused(arm: ArmController, joints: np.ndarray) -> None:
    with pytest.raises(ValueError, match="at the start"):
        arm.start(joints, np.zeros(7))


@pytest.mark.parametrize("share", [0.5, 0.95, 1.9, 2.1, 1e3])
def test_commands_keep_to_the_limits_however_fast_the_arm_is_observed_to_be(
    arm: ArmController, share: float
) -> None:
    speeds = share * iiwa.SPEED_LIMIT * np.array((0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0))
    arm.start(iiwa.HOME, speeds)
    if share <= iiwa.USABLE:
        np.testing.assert_array_equal(arm.command[1], speeds)
    for _ in range(20):
        arm.follow(arm.plan(arm.home))
        assert (np.abs(arm.command[1]) / iiwa.SPEED_LIMIT).max() < 1.001 * iiwa.USABLE


def test_the_correction_gives_way_where_a_stroke_begins_sharply(arm: ArmController) -> None:
    """The base turns at 0.98 of its acceleration, while half a kilogram is corrected for."""
    arm.start(iiwa.HOME, np.zeros(7))
    arm.payload = replace(arm.payload, match=0.5 * PRIOR, corrected=0.5)
    plan, time = arm.plan(arm.home), 0.4
    away = np.eye(7)[0] * 0.98 * iiwa.ACCELERATION_LIMIT[0] * time**2 / 6.0
    path = Path(np.array((0.0, time)), np.stack((iiwa.HOME, iiwa.HOME + away)), np.zeros((2, 7)))
    sharp = replace(plan, path=path, passed=0.0)
    planned, before = np.stack(sharp.next), arm.command
    assert arm.follow(sharp) <= 1.0
    corrected = planned + arm.payload.correction
    assert command_limits.excess(before, corrected, period=PERIOD) > 1.0
    np.testing.assert_array_equal(arm.command[0], corrected[0])
    assert arm.command[1, 0] > 0.95 * planned[1, 0]
    np.testing.assert_array_equal(arm.planned, planned)
