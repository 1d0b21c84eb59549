"""What is taken from observations, and what is not."""

import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.fault_log import FaultLog
from ricochet.models.systems.air_hockey.observer import FASTEST, LAGGING, TableObserver
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles.hockey_modes import MODES

HOME = np.stack((iiwa.HOME, np.zeros(7)))
BASE = np.array(Table().robot_base[:2])


@pytest.fixture
def watch() -> TableObserver:
    return TableObserver(MODES, Table(), noise=2e-3, faults=FaultLog())


def seen(place: ndarray, joints: ndarray = iiwa.HOME) -> ndarray:
    return np.concatenate((place - BASE, np.zeros(4), joints, np.zeros(7), (2.37, 0.0, 0.1645)))


def look(watch: TableObserver, place: ndarray, joints: ndarray = iiwa.HOME) -> bool:
    return watch.see(seen(place, joints), command=HOME, hanging=np.zeros(2))


def test_the_puck_is_known_better_the_longer_it_is_seen(watch: TableObserver) -> None:
    draw, truth, sd = np.random.default_rng(0), np.array((-0.4, 0.1)), []
    for _ in range(20):
        assert look(watch, truth + 2e-3 * draw.standard_normal(2))
        assert watch.puck is not None
        sd.append(watch.puck.covariance[0, 0] ** 0.5)
    assert sd[-1] < 0.8 * sd[0]
    assert np.abs(watch.puck.mean[:2] - truth).max() < 5.0 * sd[-1]


@pytest.mark.parametrize("place", [(3.0, 0.0), (-0.4, 0.9)])
def test_a_place_off_the_table_is_no_place(
    watch: TableObserver, place: tuple[float, float]
) -> None:
    assert not look(watch, np.array(place))
    assert watch.puck is None


def test_a_puck_in_the_goal_is_no_mistake(watch: TableObserver) -> None:
    look(watch, np.array((0.5, 0.0)))
    assert look(watch, np.array((1.05, 0.05)))
    assert watch.puck is not None and watch.puck.mean[0] < 0.6


def test_a_puck_is_lost_after_a_while(watch: TableObserver) -> None:
    look(watch, np.array((-0.4, 0.1)))
    sound = [look(watch, np.full(2, np.nan)) for _ in range(piecewise_filter.LOST_AFTER)]
    assert sound == [True] * (piecewise_filter.LOST_AFTER - 1) + [False]


@pytest.mark.parametrize("joints", [np.full(7, np.nan), iiwa.HOME + 1.1 * LAGGING])
def test_joints_that_are_not_to_be_had_are_no_ground_for_a_stroke(
    watch: TableObserver, joints: ndarray
) -> None:
    assert not look(watch, np.array((-0.4, 0.1)), joints)
    assert look(watch, np.array((-0.4, 0.1)))


@pytest.mark.parametrize(("share", "sound"), [(0.95, True), (1.05, False), (1e3, False)])
def test_joints_faster_than_an_arm_are_no_ground_for_a_stroke(share: float, sound: bool) -> None:
    faults = FaultLog()
    watch = TableObserver(MODES, Table(), noise=2e-3, faults=faults)
    observed = seen(np.array((-0.4, 0.1)))
    observed[14] = -share * FASTEST[1]
    assert watch.see(observed, command=HOME, hanging=np.zeros(2)) is sound
    expected = [f"joints: {share * FASTEST[1]:.3g} rad/s, expected at most {FASTEST[1]:.3g}"]
    assert faults.lines == ([] if sound else expected)
    assert look(watch, np.array((-0.4, 0.1)))


def test_of_a_puck_that_flies_on_behind_a_goal_nothing_is_said_until_it_is_back() -> None:
    faults = FaultLog()
    watch = TableObserver(MODES, Table(), noise=2e-3, faults=faults)
    for place in ((0.5, 0.05), (1.02, 0.1)):
        assert look(watch, np.array(place))
    for _ in range(piecewise_filter.LOST_AFTER):
        assert not look(watch, np.array((1.19, 0.14)))
    assert not look(watch, np.full(2, np.nan)) and faults.lines == []
    look(watch, np.array((0.0, 0.0)))
    assert not look(watch, np.array((1.19, 0.14)))
    assert faults.lines == ["puck: at (1.19, 0.14) m, expected on the table"]
