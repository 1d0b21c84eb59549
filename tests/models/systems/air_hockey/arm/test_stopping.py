"""Stopping paths begin as the arm moves and end at rest; a quick one within limits is chosen."""

import numpy as np

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm import stopping
from ricochet.models.systems.air_hockey.arm.stroke_path import LimitUsage

SPEEDS = np.array((0.5, -0.3, 0.2, 0.1, 0.0, -0.4, 0.0))


def test_stopping_paths_begin_as_the_arm_moves_and_end_at_rest_the_quickest_first() -> None:
    target = splines.level(iiwa.HOME + 0.1)
    paths = stopping.stopping_paths(iiwa.HOME, SPEEDS, target)
    assert (np.diff(paths.times, axis=1) > 0).all() and (np.diff(paths.times[:, -1]) >= 0).all()
    np.testing.assert_allclose(paths.points[:, 0] - iiwa.HOME, 0.0, atol=1e-12)
    np.testing.assert_allclose(paths.speeds[:, 0] - SPEEDS, 0.0, atol=1e-12)
    np.testing.assert_allclose(paths.points[:, -1] - target, 0.0, atol=1e-12)
    assert not paths.speeds[:, -1].any()


def used(moves: list[float], clearance: list[float]) -> LimitUsage:
    values = np.array(moves)
    return LimitUsage(values, 0.5 * values, np.array(clearance), 0.0 * values)


def test_the_quickest_path_within_the_limits_is_chosen() -> None:
    assert stopping.choose_path(used([1.4, 1.1, 0.9, 0.5], [0.0, 0.0, 0.0, 0.0])) == 2
    assert stopping.choose_path(used([1.4, 1.1, 0.9, 0.5], [0.0, 0.0, 2.0, 0.0])) == 3
    assert stopping.choose_path(used([1.4, 1.1, 0.9, 0.5], [0.0, 0.0, 1.03, 0.0])) == 2


def test_where_no_path_keeps_to_the_limits_the_least_is_chosen() -> None:
    assert stopping.choose_path(used([1.4, 1.2, 1.1], [0.0, 0.0, 3.0])) == 2
