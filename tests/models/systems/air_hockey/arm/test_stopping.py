"""Ways to a rest begin as the arm moves and end at rest; a quick one within the limits is taken."""

import numpy as np

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm import stopping
from ricochet.models.systems.air_hockey.arm.stroke_path import LimitUsage

SPEEDS = np.array((0.5, -0.3, 0.2, 0.1, 0.0, -0.4, 0.0))


def test_ways_begin_as_the_arm_moves_and_end_at_rest_the_quickest_first() -> None:
    target = splines.level(iiwa.HOME + 0.1)
    ways = stopping.stopping_paths(iiwa.HOME, SPEEDS, target)
    assert (np.diff(ways.times, axis=1) > 0).all() and (np.diff(ways.times[:, -1]) >= 0).all()
    np.testing.assert_allclose(ways.points[:, 0] - iiwa.HOME, 0.0, atol=1e-12)
    np.testing.assert_allclose(ways.speeds[:, 0] - SPEEDS, 0.0, atol=1e-12)
    np.testing.assert_allclose(ways.points[:, -1] - target, 0.0, atol=1e-12)
    assert not ways.speeds[:, -1].any()


def used(moves: list[float], room: list[float]) -> LimitUsage:
    values = np.array(moves)
    return LimitUsage(values, 0.5 * values, np.array(room), 0.0 * values)


def test_the_quickest_way_within_the_limits_is_taken() -> None:
    assert stopping.choose_path(used([1.4, 1.1, 0.9, 0.5], [0.0, 0.0, 0.0, 0.0])) == 2
    assert stopping.choose_path(used([1.4, 1.1, 0.9, 0.5], [0.0, 0.0, 2.0, 0.0])) == 3
    assert stopping.choose_path(used([1.4, 1.1, 0.9, 0.5], [0.0, 0.0, 1.03, 0.0])) == 2


def test_where_no_way_keeps_to_the_limits_the_least_is_taken() -> None:
    assert stopping.choose_path(used([1.4, 1.2, 1.1], [0.0, 0.0, 3.0])) == 2
