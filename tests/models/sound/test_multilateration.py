import numpy as np
import pytest

from ricochet.models.sound import multilateration
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.multilateration import Region

THREE = Microphones(
    np.array([[-0.30, -0.25, 0.0762], [0.30, -0.25, 0.0762], [0.0, 0.32, 0.0762]]), 44100.0
)
FIVE = Microphones(
    np.array(
        [
            [-0.3, -0.2, 0.08],
            [0.3, -0.25, 0.3],
            [0.0, 0.32, 0.15],
            [0.4, 0.4, 0.5],
            [-0.4, 0.3, 0.0],
        ]
    ),
    44100.0,
)
TABLE = Region((-0.3, -0.3), (0.3, 0.35))


def arrivals(place, microphones, emission=0.7):
    distances = np.linalg.norm(np.array([*place, 0.0]) - microphones.positions, axis=1)
    return emission + distances / microphones.speed_of_sound


def solve(times, microphones=THREE, *, sd=1e-6, **more):
    deviation = np.full(len(times), sd)
    return multilateration.solve(times, deviation, microphones=microphones, region=TABLE, **more)


@pytest.mark.parametrize("microphones", [THREE, FIVE])
def test_exact_arrivals_give_the_place_and_the_time_back(microphones):
    for place in np.random.default_rng(0).uniform(-0.27, 0.27, (50, 2)):
        fixes = solve(arrivals(place, microphones), microphones)
        closest = min(fixes, key=lambda fix: np.linalg.norm(fix.position - place))
        assert np.linalg.norm(closest.position - place) < 1e-8
        assert closest.emission == pytest.approx(0.7, abs=1e-10)
        assert closest.residual < 1e-6


def test_solution_is_the_crossing_of_the_hyperbolas():
    """Oracle: the least of Eq. 10's misfit over a grid fine enough to see it."""
    times = arrivals((0.11, -0.07), THREE) + np.array([2e-6, -1e-6, 3e-6])
    fix = solve(times)[0]
    axes = [fix.position[axis] + np.linspace(-2e-3, 2e-3, 201) for axis in (0, 1)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    travel, _ = multilateration.gradients(grid, microphones=THREE)
    delays = (travel - travel[..., :1]) - (times - times[0])
    best = grid[np.unravel_index(np.sum(delays**2, axis=-1).argmin(), grid.shape[:2])]
    assert np.abs(best - fix.position).max() <= 2.1e-5  # one step of the grid


def test_moving_array_and_impact_together_moves_the_solution():
    shift = np.array([0.05, -0.02, 0.0])
    moved = Microphones(THREE.positions + shift, 44100.0)
    times = arrivals((0.1, 0.05), THREE) + np.array([1e-6, 0.0, -1e-6])
    here = solve(times)[0]
    there = solve(times, moved)[0]
    np.testing.assert_allclose(there.position, here.position + shift[:2], atol=1e-8)
    np.testing.assert_allclose(there.covariance, here.covariance, rtol=1e-5)


def test_one_channel_more_never_makes_the_bound_worse():
    place = np.array([0.1, 0.05])
    full = multilateration.bound(place, np.full(5, 1e-6), microphones=FIVE)
    fewer = Microphones(FIVE.positions[:4], 44100.0)
    part = multilateration.bound(place, np.full(4, 1e-6), microphones=fewer)
    assert np.linalg.eigvalsh((part - full)[:2, :2]).min() >= -1e-15


@pytest.mark.parametrize("microphones", [THREE, FIVE])
def test_errors_have_the_stated_covariance(microphones):
    draw, squares, residuals = np.random.default_rng(1), [], []
    for _ in range(400):
        place = draw.uniform(-0.2, 0.2, 2)
        count = len(microphones.positions)
        times = arrivals(place, microphones) + 1e-6 * draw.standard_normal(count)
        fix = solve(times, microphones, start=place)[0]
        error = np.append(fix.position - place, fix.emission - 0.7)
        scale = np.array([1.0, 1.0, 343.0])
        squares.append(
            (error * scale)
            @ np.linalg.solve(fix.covariance * scale[:, None] * scale, error * scale)
        )
        residuals.append(fix.residual)
    # chi-square with 3 degrees: mean 3, sd of the mean of 400 sqrt(6/400) = 0.12; three of them
    assert np.mean(squares) == pytest.approx(3.0, abs=0.37)
    freedom = len(microphones.positions) - 3
    assert np.mean(residuals) == pytest.approx(freedom, abs=3 * np.sqrt(2 * freedom / 400) + 1e-6)


def test_doubt_about_places_widens_the_covariance():
    times = arrivals((0.1, 0.05), THREE)
    sure, doubtful = solve(times)[0], solve(times, place_sd=1e-3)[0]
    ratio = np.trace(doubtful.covariance[:2, :2]) / np.trace(sure.covariance[:2, :2])
    assert ratio == pytest.approx(1 + (1e-3 / THREE.speed_of_sound / 1e-6) ** 2, rel=1e-6)


def test_delays_longer_than_sound_needs_are_implausible():
    times = arrivals((0.1, 0.05), THREE)
    late = times + np.array([0.0, 2e-3, 0.0])
    both = multilateration.plausible(np.stack([times, late]), microphones=THREE, slack=1e-6)
    assert both.tolist() == [True, False]


def test_a_solution_outside_the_region_is_none():
    assert solve(arrivals((0.9, 0.8), THREE)) == ()


def test_surroundings_hold_the_microphones():
    region = multilateration.surroundings(THREE)
    assert region.holds(THREE.positions[:, :2]).all()
    assert not region.holds(np.array([0.55, 0.0]))
