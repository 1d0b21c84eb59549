"""One period of the modes: against many small steps, many samples, and a mirror."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import dynamics
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_modes

TABLE = Table()
MODES = hockey_modes.made(floating=1e-3, wall=(0.03, 0.02), mallet=(0.05, 0.03), delay=0.009)
SPREAD = np.diag([0.002, 0.003, 0.02, 0.03, 0.07, 0.07]) ** 2


def states(count: int, seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    place = draw.uniform(-1.0, 1.0, (count, 2)) * (TABLE.wall_x, TABLE.wall_y)
    return np.hstack((place, draw.normal(0.0, 2.0, (count, 2)), draw.normal(0.0, 0.1, (count, 2))))


def noiseless(state: np.ndarray) -> np.ndarray:
    """The mean's map alone, s -> s after a period."""
    return dynamics.step(MODES, state, np.zeros((*state.shape, 6)), TABLE)[0]


def test_floating_follows_the_drag_in_closed_form():
    """v' = a - d v with d = -log(0.99) / h: after a second, and 50 periods, to 1e-5."""
    start = np.array([-0.5, 0.1, 0.4, -0.1, 0.1, 0.05])
    drag = -np.log(0.99) / PERIOD
    mean, spread = start, np.zeros((6, 6))
    for _ in range(50):
        mean, spread = dynamics.step(MODES, mean, spread, TABLE)
    decay = np.exp(-drag)
    still = start[4:] / drag
    np.testing.assert_allclose(mean[2:4], still + (start[2:4] - still) * decay, atol=1e-5)
    path = start[:2] + still + (start[2:4] - still) * (1.0 - decay) / drag
    np.testing.assert_allclose(mean[:2], path, atol=1e-5)


def test_a_bank_is_at_its_instant_within_the_period():
    """From 10 mm before the rim at 1 m/s: 10 ms to it, 10 ms back at 0.74 of the speed."""
    start = np.array([0.0, TABLE.wall_y - 0.01, 0.5, 1.0, 0.0, 0.0])
    mean = noiseless(start)
    np.testing.assert_allclose(mean[2:4], [0.5 * 0.84, -0.74], rtol=0.011)
    np.testing.assert_allclose(mean[1], TABLE.wall_y - 0.0074, atol=1.5e-4)
    np.testing.assert_allclose(mean[0], 0.005 + 0.0042, atol=1.5e-4)


def test_covariance_is_the_jacobian_of_the_mean():
    """Central differences, where mode and wall are the same on both sides."""
    mean = states(1500)
    after, spread = dynamics.step(MODES, mean, np.broadcast_to(SPREAD, (1500, 6, 6)), TABLE)
    noise = dynamics.step(MODES, mean, np.zeros((1500, 6, 6)), TABLE)[1]
    small = 1e-7 * np.eye(6)
    moved = np.stack([noiseless(mean + d) - noiseless(mean - d) for d in small], -1) / 2e-7
    calm = np.abs(moved).max((1, 2)) < 10.0  # no other mode within the difference
    banked = (after[:, 2:4] * mean[:, 2:4]).min(-1) < 0.0
    assert (calm & banked).sum() > 20
    expected = moved @ SPREAD @ moved.swapaxes(1, 2) + noise
    np.testing.assert_allclose(spread[calm], expected[calm], atol=1e-8)


@pytest.mark.parametrize("speed", [1e-12, 1e-6, 1e-3, 0.02])
def test_a_puck_that_leans_at_a_rim_is_known_as_well_as_before(speed: float):
    """The instant of its bank is not known at all; it was within the period for all that."""
    leaning = np.array([[0.1, TABLE.wall_y + 1e-9, 0.1, speed, 0.0, 0.05]])
    spread = SPREAD[None].copy()
    dynamics.bank(MODES.wall, leaning, spread, TABLE)
    assert leaning[0, 3] < 0.0
    assert (np.sqrt(np.diag(spread[0])[:2]) < 0.01).all()
    assert np.linalg.eigvalsh(spread[0])[0] >= -1e-12


def test_a_batch_equals_its_members():
    mean = states(60).reshape(3, 20, 6)
    spread = np.broadcast_to(SPREAD, (3, 20, 6, 6))
    after, wide = dynamics.step(MODES, mean, spread, TABLE)
    for i in np.ndindex(3, 20):
        one, narrow = dynamics.step(MODES, mean[i], spread[i], TABLE)
        np.testing.assert_allclose(after[i], one, atol=1e-14)
        np.testing.assert_allclose(wide[i], narrow, atol=1e-14)


def test_the_mirrored_table_plays_the_mirrored_game():
    mean, mirror = states(200), np.diag([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    spread = np.broadcast_to(SPREAD, (200, 6, 6))
    after, wide = dynamics.step(MODES, mean, spread, TABLE)
    other, mirrored = dynamics.step(MODES, mean @ mirror, mirror @ spread @ mirror, TABLE)
    np.testing.assert_allclose(other, after @ mirror, atol=1e-13)
    np.testing.assert_allclose(mirrored, mirror @ wide @ mirror, atol=1e-13)


def test_the_goal_is_open_and_the_end_wall_is_not():
    towards = np.array([0.93, 0.05, 2.0, 0.0, 0.0, 0.0])
    assert noiseless(towards)[0] > TABLE.wall_x
    towards[1] = 0.2
    assert noiseless(towards)[2] < 0.0


@pytest.mark.parametrize("seed", range(5))
def test_a_leap_equals_its_steps(seed):
    mean, spread = states(1, seed)[0], SPREAD
    for steps in (1, 7, 60, 130):
        one, wide = mean, spread
        for _ in range(steps):
            one, wide = dynamics.step(MODES, one, wide, TABLE)
        leapt, leapt_wide = dynamics.leap(MODES, mean, spread, steps=steps, table=TABLE)
        np.testing.assert_allclose(leapt, one, atol=1e-10)
        np.testing.assert_allclose(leapt_wide, wide, atol=1e-9)


@pytest.mark.parametrize("gain", [3.0, -3.0, 1.5])
def test_a_puck_that_is_thrown_from_wall_to_wall_is_not_followed(gain: float):
    """A law of floating by which each period ends beyond another wall."""
    wild = replace(MODES, floating=replace(MODES.floating, matrix=gain * np.eye(2)))
    with pytest.raises(ValueError, match="more than 32 banks in 300"):
        dynamics.leap(wild, states(1)[0], SPREAD, steps=300, table=TABLE)


def test_the_fastest_puck_from_rim_to_rim_is_followed():
    """At 20 m/s for six seconds."""
    start = np.array([0.3, 0.1, 0.0, 20.0, 0.0, 0.0])
    mean, _ = dynamics.leap(MODES, start, SPREAD, steps=300, table=TABLE)
    assert abs(mean[1]) < TABLE.half_width and abs(mean[3]) < 1.0


@pytest.mark.parametrize("modes", [MODES, hockey_modes.TWO_WAYS])
def test_arrays_hold_the_modes(modes):
    again = dynamics.from_arrays(dynamics.to_arrays(modes))
    assert len(again.first_bank) == len(modes.first_bank)
    for name, array in dynamics.to_arrays(modes).items():
        np.testing.assert_array_equal(dynamics.to_arrays(again)[name], array)


def test_modes_without_rebounds_use_the_law_of_any_bank():
    (only,) = MODES.first_bank
    assert only.share == 1.0
    assert only.law is MODES.wall


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("wall.matrix", np.eye(3)),
        ("mallet.offset", np.array([np.nan, 0.0])),
        ("floating.covariance", -np.eye(2)),
        ("airflow", np.array([-1.0])),
        ("rebounds.share", np.array([0.6, 0.2])),
        ("rebounds.share", np.array([1.2, -0.2])),
        ("rebounds.1.matrix", np.eye(3)),
    ],
)
def test_arrays_that_hold_no_modes_are_refused(name, array):
    arrays = dynamics.to_arrays(hockey_modes.TWO_WAYS) | {name: array}
    with pytest.raises(ValueError, match=name):
        dynamics.from_arrays(arrays)
    del arrays[name]
    with pytest.raises(ValueError, match=f"{name}: is missing"):
        dynamics.from_arrays(arrays)
