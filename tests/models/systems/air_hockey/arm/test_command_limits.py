"""The last check of a command: its excess over the limits, and how it brakes."""

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.arm import command_limits
from ricochet.models.systems.air_hockey.interface import PERIOD
from tests.models.systems.air_hockey.simple_episodes import AT_REST


def test_excess_is_the_largest_ratio_to_the_limits() -> None:
    speed = 0.2 * iiwa.SPEED_LIMIT
    before = np.stack((iiwa.HOME, speed))
    after = np.stack((iiwa.HOME + PERIOD * speed, speed))
    assert command_limits.excess(before, after, period=PERIOD) < 1.0
    far = after.copy()
    far[0, 3] += 3.0 * iiwa.SPEED_LIMIT[3] * PERIOD
    assert command_limits.excess(before, far, period=PERIOD) == pytest.approx(3.2 / 0.95, rel=2e-3)
    jerked = after.copy()
    jerked[1, 2] = 0.9 * iiwa.SPEED_LIMIT[2]
    assert command_limits.excess(before, jerked, period=PERIOD) == pytest.approx(
        0.7 / 0.2, rel=1e-6
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_command_that_is_not_finite_has_infinite_excess(bad: float) -> None:
    after = AT_REST.copy()
    after[0, 2] = bad
    assert command_limits.excess(AT_REST, after, period=PERIOD) == np.inf


def test_an_eased_command_keeps_its_places_and_changes_no_other_speeds() -> None:
    after = np.stack((iiwa.HOME + 0.01, np.zeros(7)))
    after[1, 2:4] = np.array((1.5, -0.5)) * PERIOD * iiwa.ACCELERATION_LIMIT[2:4]
    eased = command_limits.eased(AT_REST, after, period=PERIOD)
    np.testing.assert_array_equal(eased[0], after[0])
    np.testing.assert_allclose(eased[1, 2], PERIOD * iiwa.ACCELERATION_LIMIT[2])
    np.testing.assert_array_equal(np.delete(eased[1], 2), np.delete(after[1], 2))


def test_braking_ends_at_rest_within_all_limits_on_the_way_it_went() -> None:
    speed = 0.9 * iiwa.SPEED_LIMIT * np.array((1, -1, 1, -1, 1, -1, 1))
    commands = [np.stack((iiwa.HOME, speed))]
    while np.abs(commands[-1][1]).max() > 0.0:
        commands.append(command_limits.braked(commands[-1], period=PERIOD))
        assert command_limits.excess(commands[-2], commands[-1], period=PERIOD) <= 1.0
    assert len(commands) <= 8
    way = (commands[-1][0] - iiwa.HOME) * np.sign(speed)
    stopping = speed**2 / (2.0 * command_limits.BRAKING * iiwa.ACCELERATION_LIMIT)
    np.testing.assert_allclose(way, stopping, rtol=0.05)
