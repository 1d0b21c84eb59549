"""The board as a controller meets it: its camera, its bat, its clock and its count of passes."""

import numpy as np
import pytest

from ricochet.hardware.twins.batting.rig import BattingRig
from ricochet.models.systems.batting import clouds, trial
from ricochet.models.systems.batting.table import DISTANCES, LARGEST_ANGLE, LARGEST_RATE, Table
from ricochet.models.systems.batting.world import paper_world

DISC, EGG = 0, 5
SHARP = Table(screen_noise=1e-9)


def rig(start: tuple, kind: int = DISC, table: Table | None = None, seed: int = 0) -> BattingRig:
    return BattingRig(kind, np.array(start, float), np.random.default_rng(seed), table=table)


def test_readings_are_those_of_the_cameras_model_with_its_noise() -> None:
    start = (5.0, 6.0, 0.7, 1.0, 0.5, 0.3)
    world = paper_world(np.random.default_rng(0), 4)
    exact = clouds.readings(np.array([start]), np.array([EGG]), world)[0]
    np.testing.assert_allclose(rig(start, EGG, SHARP).reading(), exact, atol=1e-7)
    noisy = rig(start, EGG)
    seen = np.array([noisy.reading() for _ in range(2000)])
    error = world.table.screen_noise
    np.testing.assert_allclose(seen.mean(0), exact, atol=4.0 * error / np.sqrt(2000))
    np.testing.assert_allclose(seen.std(0), error, rtol=4.0 / np.sqrt(4000))


def test_flight_is_a_parabola_and_time_goes_on() -> None:
    made = rig((5.0, 6.0, 0.0, 1.0, 0.5, 2.0))
    for _ in range(30):
        made.advance(0.01)
    x, y, angle, *_ = made.true_state()
    assert made.time == pytest.approx(0.3)
    assert (x, angle) == (pytest.approx(5.3), pytest.approx(0.6))
    assert y == pytest.approx(6.0 + 0.15 - 0.5 * 0.09, abs=1e-4)


def test_the_bat_goes_evenly_no_faster_than_it_can_and_within_its_range() -> None:
    made = rig((5.0, 9.0, 0.0, 0.0, 0.0, 0.0))
    made.command(0.01, 0.02)
    made.advance(0.01)
    assert made.angle == pytest.approx(0.005)
    made.command(3.0, 0.02)
    made.advance(0.02)
    assert made.angle == pytest.approx(0.005 + 0.02 * LARGEST_RATE)
    for _ in range(40):
        made.command(3.0, 0.02)
        made.advance(0.02)
    assert made.angle == pytest.approx(LARGEST_ANGLE)
    made.command(float("nan"), 0.02)
    made.advance(0.02)
    assert made.angle == pytest.approx(LARGEST_ANGLE)


def test_passes_are_counted_as_in_a_trial_of_the_law() -> None:
    """Thrown up past the goal and down again, 0.085 m beside it: two passes from 0.09 m on."""
    goal = Table()
    made = rig((goal.goal_x + 0.085, goal.goal_y - 1.0, 0.0, 0.0, 1.9, 0.0))
    for _ in range(350):
        made.advance(0.01)
    expected = np.where(DISTANCES > 0.085, 2, 0)
    np.testing.assert_array_equal(made.passes.counts, expected)
    assert made.true_bats() == 0


def test_bats_are_counted() -> None:
    made = rig((5.0, 1.0, 0.0, 0.0, 0.0, 0.0))
    for _ in range(200):
        made.advance(0.01)
    assert made.true_bats() >= 1
    assert made.true_kind() == DISC


def test_the_same_start_and_errors_give_the_same_play() -> None:
    start = trial.random_start(0, 3, 1.0, 0.02)
    one, other = (rig(tuple(start.state), start.kind, seed=5) for _ in range(2))
    for made in (one, other):
        made.advance(0.5)
    np.testing.assert_array_equal(one.reading(), other.reading())
