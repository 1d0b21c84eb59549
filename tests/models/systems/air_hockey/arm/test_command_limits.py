"""The last look at a command: what it lets pass, and how it brakes."""

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.arm import command_limits
from ricochet.models.systems.air_hockey.interface import PERIOD

REST = np.stack((iiwa.HOME, np.zeros(7)))


def test_what_the_limits_allow_passes_and_what_they_do_not_is_told() -> None:
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
def test_what_is_not_finite_asks_for_infinitely_much(bad: float) -> None:
    after = REST.copy()
    after[0, 2] = bad
    assert command_limits.excess(REST, after, period=PERIOD) == np.inf


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
