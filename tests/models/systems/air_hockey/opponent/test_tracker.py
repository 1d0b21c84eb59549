"""Where an opponent will be: known motions are recovered, others are forecast with their error."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.opponent.scripts import Follower, Sweep
from ricochet.models.systems.air_hockey.opponent.tracker import (
    AGAIN,
    AHEAD,
    LEFT_OUT,
    OpponentTracker,
)
from ricochet.models.systems.air_hockey.table import Table

Path = Callable[[float], ndarray]


def swept(phase: float = 0.4) -> Path:
    return lambda time: Sweep(phase).move(time, np.zeros(2))[0]


def wandering(seed: int) -> Path:
    """Sums of swings at rates that no single turn has."""
    draw = np.random.default_rng(seed)
    rates, sizes, phases = draw.uniform(0.5, 7.0, (4, 2)), 0.03, draw.uniform(-np.pi, np.pi, (4, 2))
    return lambda time: (0.8, 0.0) + sizes * np.sin(rates * time + phases).sum(0)


def swing(rate: float) -> Path:
    """A mallet that swings by 0.2 m across the goal."""
    return lambda time: np.array((0.85, 0.2 * np.sin(rate * time)))


def tracked(path: Path, periods: int, *, noise: float = 0.0, seed: int = 0) -> OpponentTracker:
    tracker, draw = OpponentTracker(Table()), np.random.default_rng(seed)
    for k in range(periods):
        tracker.update(path(PERIOD * k) + noise * draw.standard_normal(2))
    return tracker


@pytest.mark.parametrize("phase", [0.0, 1.0, 2.5, -2.0])
def test_a_sweep_is_forecast_a_second_ahead_after_having_been_seen_for_that_long(
    phase: float,
) -> None:
    """A figure of eight is no single turn to the window; 2 cm of its 32."""
    tracker, times = tracked(swept(phase), 75), np.array((0.2, 0.5, 1.0))
    truth = np.array([swept(phase)(PERIOD * 74 + time) for time in times])
    np.testing.assert_allclose(tracker.forecast(times).place, truth, atol=0.02)


def test_a_straight_motion_goes_on() -> None:
    tracker = tracked(lambda time: np.array((0.3 + 0.2 * time, -0.2 + 0.3 * time)), 20)
    found = tracker.forecast(np.array((0.0, 0.4)))
    np.testing.assert_allclose(found.place[1], (0.376 + 0.08, -0.086 + 0.12), atol=1e-6)
    np.testing.assert_allclose(found.velocity, [(0.2, 0.3)] * 2, atol=1e-9)


def test_the_velocity_is_the_change_of_the_place() -> None:
    tracker, times = tracked(swept(), 80), np.arange(0.0, 1.0, 1e-3)
    found = tracker.forecast(times)
    steps = np.diff(found.place, axis=0) / 1e-3
    np.testing.assert_allclose(steps, found.velocity[:-1], atol=5e-3)


@pytest.mark.proof
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_forecasts_of_motions_that_are_no_law_s_are_within_their_deviations(noise: float) -> None:
    """Half a second ahead, 0.9 of 200 errors of 10 wanderers are within 2 deviations: at 0.95
    for a Gaussian, 0.9 is 3 of its standard errors less."""
    within = []
    for seed in range(10):
        path = wandering(seed)
        for periods in range(60, 100, 4):
            tracker = tracked(path, periods, noise=noise, seed=seed)
            found = tracker.forecast(np.array(0.5))
            off = np.abs(found.place - path(PERIOD * (periods - 1) + 0.5))
            within += list(off < 2.0 * found.sd)
    assert np.mean(within) > 0.9


def test_a_mallet_that_stands_is_known_to_stand_once_it_was_seen_to() -> None:
    early, late = (tracked(lambda _: np.array((0.85, 0.05)), k) for k in (5, 90))
    assert early.forecast(np.array(0.5)).sd.min() > 0.1
    assert late.forecast(np.array(0.5)).sd.max() < 0.01


@pytest.mark.parametrize("odd", [(np.nan, np.nan), (0.3, 0.4), (1.51, 0.0), (np.inf, 0.0)])
def test_one_that_vanishes_or_jumps_stands_where_it_was_last_seen(odd: tuple[float, float]) -> None:
    tracker, last = tracked(swept(), 60), swept()(PERIOD * 59)
    tracker.update(np.array(odd))
    found = tracker.forecast(np.array((0.1, 0.8)))
    np.testing.assert_allclose(found.place, (last, last))
    assert not found.velocity.any() and "taken to stand at" in tracker.fault
    for k in range(61, 61 + AGAIN):
        assert tracker.fault
        tracker.update(swept()(PERIOD * k))
        assert tracker.forecast(np.array(0.1)).velocity.any()
    assert not tracker.fault


@pytest.mark.parametrize("gap", [1, 2, 3, 10, 20])
def test_one_that_comes_back_is_forecast_within_its_deviations(gap: int) -> None:
    """Two swings, seen again after a gap: to 3.5 deviations at every period since."""
    for rate in (1.0, 3.0):
        tracker, path = OpponentTracker(Table()), swing(rate)
        for k in range(80):
            tracker.update(path(PERIOD * k))
        for _ in range(gap):
            tracker.update(np.full(2, np.nan))
        for k in range(80 + gap, 120 + gap):
            tracker.update(path(PERIOD * k))
            found = tracker.forecast(np.array((0.2, 0.4)))
            later = np.stack([path(PERIOD * k + ahead) for ahead in (0.2, 0.4)])
            assert (np.abs(found.place - later) < 3.5 * found.sd).all(), (rate, k)


def test_one_that_stays_where_it_jumped_to_is_followed_from_there() -> None:
    tracker = tracked(swept(), 60)
    for k in range(20):
        tracker.update(np.array((0.6 + 0.01 * k, -0.3)))
    found = tracker.forecast(np.array(0.2))
    np.testing.assert_allclose(found.place, (0.6 + 0.19 + 0.1, -0.3), atol=1e-3)
    assert not tracker.fault


def test_one_off_the_table_or_never_seen_is_not_there() -> None:
    for place in ((1.51, 0.0), (np.nan, np.nan)):
        tracker = tracked(lambda _, place=place: np.array(place), 10)
        assert not tracker.is_there and not tracker.fault
        with pytest.raises(ValueError, match="no opponent"):
            tracker.forecast(np.array(0.5))


def test_a_follower_is_forecast_within_its_deviations_while_the_puck_is_struck() -> None:
    """It stands before a puck at rest, then starts: what was learnt of it is that it stands."""
    follower = Follower()
    tracker = tracked(lambda time: follower.move(time, np.array((0.0, 0.1)))[0], 90)
    np.testing.assert_allclose(tracker.forecast(np.array(0.5)).place, (0.80, 0.10), atol=5e-3)
    assert max(AHEAD) * PERIOD <= 0.8


@pytest.mark.parametrize("periods", [50, 77, 100])
def test_a_law_is_compared_with_what_came_after_it_was_fitted(periods: int) -> None:
    """As if it were fitted anew without the last periods, for as long as the window holds all."""
    path = wandering(4)
    late, early = (tracked(path, count) for count in (periods, periods - LEFT_OUT))
    clock = PERIOD * np.arange(1, LEFT_OUT + 1)
    seen = np.array([path(PERIOD * k) for k in range(periods - LEFT_OUT, periods)])
    for axis, laws in enumerate(early._laws):
        for number, law in enumerate(laws):
            off = law.at(clock)[0] - seen[:, axis]
            for row, part in enumerate((off[5:10], off[10:20])):
                found = late._left_out[number, row, axis]
                assert found == pytest.approx(np.sqrt((part**2).mean()), rel=1e-9)


def test_the_first_law_is_the_line_of_least_squares_through_the_last_periods() -> None:
    path, draw = wandering(5), np.random.default_rng(1)
    seen = np.array([path(PERIOD * k) for k in range(25)]) + 0.002 * draw.standard_normal((25, 2))
    tracker = OpponentTracker(Table())
    for place in seen:
        tracker.update(place)
    found = tracker.forecast(np.array((0.0, 0.3)))
    slope, end = np.polyfit(PERIOD * np.arange(-4, 1), seen[-5:], 1)
    np.testing.assert_allclose(found.velocity[0], slope, atol=1e-9)
    np.testing.assert_allclose(found.place, (end, end + 0.3 * slope), atol=1e-9)
