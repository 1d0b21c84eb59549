"""Which observations update the state, and which are faults."""

import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.fault_log import FaultLog
from ricochet.models.systems.air_hockey.interface import OPPONENT
from ricochet.models.systems.air_hockey.observer import FASTEST, LAGGING, TableObserver
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.table import Table
from tests.models.systems.air_hockey.simple_episodes import AT_REST, observation
from tests.oracles.hockey_modes import MODES

BASE = np.array(Table().robot_base[:2])


@pytest.fixture
def observer() -> TableObserver:
    return TableObserver(MODES, Table(), noise=2e-3, faults=FaultLog())


def look(observer: TableObserver, place: ndarray, joints: ndarray = iiwa.HOME) -> bool:
    return observer.update(observation(place - BASE, joints), command=AT_REST, offset=np.zeros(2))


def test_the_puck_is_known_better_the_longer_it_is_observed(observer: TableObserver) -> None:
    draw, truth, sd = np.random.default_rng(0), np.array((-0.4, 0.1)), []
    for _ in range(20):
        assert look(observer, truth + 2e-3 * draw.standard_normal(2))
        assert observer.puck is not None
        sd.append(observer.puck.covariance[0, 0] ** 0.5)
    assert sd[-1] < 0.8 * sd[0]
    assert np.abs(observer.puck.mean[:2] - truth).max() < 5.0 * sd[-1]


@pytest.mark.parametrize("place", [(3.0, 0.0), (-0.4, 0.9)])
def test_a_place_off_the_table_is_not_used(
    observer: TableObserver, place: tuple[float, float]
) -> None:
    assert not look(observer, np.array(place))
    assert observer.puck is None


def test_a_puck_in_the_goal_is_no_fault(observer: TableObserver) -> None:
    look(observer, np.array((0.5, 0.0)))
    assert look(observer, np.array((1.05, 0.05)))
    assert observer.puck is not None and observer.puck.mean[0] < 0.6


def test_a_puck_is_lost_after_a_while(observer: TableObserver) -> None:
    look(observer, np.array((-0.4, 0.1)))
    sound = [look(observer, np.full(2, np.nan)) for _ in range(piecewise_filter.LOST_AFTER)]
    assert sound == [True] * (piecewise_filter.LOST_AFTER - 1) + [False]


@pytest.mark.parametrize("joints", [np.full(7, np.nan), iiwa.HOME + 1.1 * LAGGING])
def test_faulty_joints_are_no_basis_for_a_stroke(observer: TableObserver, joints: ndarray) -> None:
    assert not look(observer, np.array((-0.4, 0.1)), joints)
    assert look(observer, np.array((-0.4, 0.1)))


@pytest.mark.parametrize(("share", "sound"), [(0.95, True), (1.05, False), (1e3, False)])
def test_joints_faster_than_an_arm_are_no_basis_for_a_stroke(share: float, sound: bool) -> None:
    faults = FaultLog()
    observer = TableObserver(MODES, Table(), noise=2e-3, faults=faults)
    observed = observation(np.array((-0.4, 0.1)) - BASE)
    observed[14] = -share * FASTEST[1]
    assert observer.update(observed, command=AT_REST, offset=np.zeros(2)) is sound
    expected = [f"joints: {share * FASTEST[1]:.3g} rad/s, expected at most {FASTEST[1]:.3g}"]
    assert faults.lines == ([] if sound else expected)
    assert look(observer, np.array((-0.4, 0.1)))


def test_a_puck_behind_a_goal_is_no_fault_until_it_was_back() -> None:
    faults = FaultLog()
    observer = TableObserver(MODES, Table(), noise=2e-3, faults=faults)
    for place in ((0.5, 0.05), (1.02, 0.1)):
        assert look(observer, np.array(place))
    for _ in range(piecewise_filter.LOST_AFTER):
        assert not look(observer, np.array((1.19, 0.14)))
    assert not look(observer, np.full(2, np.nan)) and faults.lines == []
    look(observer, np.array((0.0, 0.0)))
    assert not look(observer, np.array((1.19, 0.14)))
    assert faults.lines == ["puck: at (1.19, 0.14) m, expected on the table"]


def test_an_opponent_that_flickers_is_reported_once(observer: TableObserver) -> None:
    seen = observation(np.array((-0.4, 0.1)) - BASE, iiwa.HOME)
    for period in range(60):
        seen[OPPONENT] = (0.8, 0.1) - BASE if period % 2 == 0 else np.nan
        observer.update(seen, command=AT_REST, offset=np.zeros(2))
    assert [line for line in observer._faults.lines if line.startswith("opponent")] == [
        "opponent: not observed, taken to stand at (0.80, 0.10) m"
    ]
