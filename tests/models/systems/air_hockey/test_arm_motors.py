"""The motors of the simulated arm: paths between commands, and set-points within the limits."""

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import arm_motors
from ricochet.models.systems.air_hockey.arm_motors import Reference


@pytest.mark.parametrize("seed", range(3))
def test_set_points_follow_any_path_within_the_limits(seed: int) -> None:
    """Against the rule joint by joint; what is within the limits is not changed at all."""
    draw = np.random.default_rng(seed)
    reached = draw.uniform(-1.0, 1.0, 7) * iiwa.JOINT_LIMIT
    path = reached + np.cumsum(draw.normal(size=(20, 7)) * 2e-3, axis=0)
    speed, acceleration = draw.normal(size=(20, 7)), np.ones((20, 7))
    found = arm_motors.limited(reached, Reference(path, speed, acceleration))
    kept, rates = found.position, found.speed
    for j in range(7):
        at, limit, fastest = reached[j], iiwa.JOINT_LIMIT[j], iiwa.SPEED_LIMIT[j]
        for k in range(20):
            most = max(-fastest, min(fastest, 20.0 * (limit - at)))
            least = max(-fastest, min(fastest, -20.0 * (limit + at)))
            assert rates[k, j] == pytest.approx(max(least, min(most, speed[k, j])))
            at = max(at + 1e-3 * least, min(at + 1e-3 * most, path[k, j]))
            assert kept[k, j] == pytest.approx(at)
    again = arm_motors.limited(reached, Reference(kept, rates, acceleration))
    np.testing.assert_allclose(again.position, kept, atol=1e-12)
    np.testing.assert_array_equal((again.speed, again.acceleration), (rates, acceleration))


def test_the_path_between_commands_is_the_cubic() -> None:
    """A cubic in time is met exactly, with both of its derivatives."""
    draw, times = np.random.default_rng(0), np.arange(21)[:, None] * 1e-3
    a, b, c, d = draw.normal(size=(4, 7))
    path = a + b * times + c * times**2 + d * times**3
    rate = b + 2.0 * c * times + 3.0 * d * times**2
    before, after = np.stack((path[0], rate[0])), np.stack((path[-1], rate[-1]))
    found = arm_motors.interpolated(before, after)
    np.testing.assert_allclose(found.position, path[1:], atol=1e-12)
    np.testing.assert_allclose(found.speed, rate[1:], atol=1e-12)
    np.testing.assert_allclose(found.acceleration, 2.0 * c + 6.0 * d * times[1:], atol=1e-9)
