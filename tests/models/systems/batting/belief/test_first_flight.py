"""The first flight: a uniform start, and its posterior beside plain importance sampling."""

import numpy as np
import pytest
from scipy import stats

from ricochet.models.systems.batting import clouds
from ricochet.models.systems.batting.belief import first_flight, localiser, particles
from ricochet.models.systems.batting.belief.first_flight import FASTEST, READINGS, FirstReadings
from ricochet.models.systems.batting.belief.localiser import FilterSettings
from ricochet.models.systems.batting.belief.particles import Cloud, Turn
from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.table import CAMERA_PERIOD
from ricochet.models.systems.batting.world import World, paper_world
from tests.models.systems.batting import scenes

REST = Turn(0.0, 0.0, CAMERA_PERIOD)
NOISE = 0.1  # m on the screen, as the paper has it: plain importance sampling can do it


def seen(state: np.ndarray, kind: int, count: int, noise: float, seed: int) -> np.ndarray:
    """Readings of an object under a bat at rest."""
    states, kinds, found = state[None].copy(), np.array([kind]), []
    counts, draw = scenes.counts(1), np.random.default_rng(seed)
    for _ in range(count):
        ends = clouds.readings(states, kinds, scenes.quiet())[0]
        found.append(ends + noise * draw.standard_normal(2))
        clouds.move(states, kinds, (0.0, 0.0), CAMERA_PERIOD, scenes.quiet(), counts)
    return np.array(found)


def test_uniform_particles_touch_nothing_and_fill_the_start() -> None:
    cloud = first_flight.uniform(4000, 0.3, scenes.quiet(), np.random.default_rng(1))
    least = scenes.gaps(cloud.states, cloud.kinds, 0.3, scenes.quiet()).min(1)
    assert (least > 0.0).all()
    found = first_flight.least_gaps(cloud.states, cloud.kinds, 0.3, scenes.quiet())
    np.testing.assert_allclose(found, least, atol=1e-12)
    # Uniform velocities: a mean of 4000 errs by 1.5 / sqrt(3 x 4000) = 0.0137, thrice that 0.041.
    assert np.abs(cloud.states[:, 3:]).max() <= FASTEST
    assert np.abs(cloud.states[:, 3:].mean(0)).max() < 0.041
    assert (np.bincount(cloud.kinds, minlength=7) > 400).all()


@pytest.mark.proof
@pytest.mark.parametrize(
    "state", [(4.0, 6.0, 0.5, 0.6, 0.8, 0.3), (1.3, 5.0, -1.0, -1.2, 0.4, 0.5)]
)
def test_the_posterior_of_the_first_flight_is_that_of_plain_importance_sampling(
    state: tuple[float, ...],
) -> None:
    """The second object meets the left wall on its way.

    Means of plain sampling err by sd / sqrt(its effective number), those of 4000 particles by at
    most sd / sqrt(4000 / 8) (they come of about 1000 distinct ones and moves): four of both.
    """
    world = scenes.quiet()
    world = world._replace(table=world.table._replace(screen_noise=NOISE))
    draw = np.random.default_rng(2)
    readings = seen(np.array(state), 1, READINGS, NOISE, 3)
    plain = first_flight.uniform(400_000, 0.0, world, draw)
    begun = plain.states.copy()
    for i, reading in enumerate(readings):
        turn = REST if i else Turn(0.0, 0.0, 0.0)
        plain, _ = particles.step(plain, turn, reading, world, draw)
    effective = particles.effective_number(plain)
    assert effective > 150.0
    first = FirstReadings(readings, (REST,) * (READINGS - 1))
    found = first_flight.start(first, (40_000, 4000), world, draw)
    assert found is not None
    mean = plain.weights @ plain.states
    sd = np.sqrt(plain.weights @ (plain.states - mean) ** 2)
    error = sd * np.sqrt(1.0 / effective + 8.0 / 4000)
    for axis in (0, 1, 3, 4):  # x, y and their rates
        assert abs(found.states[:, axis].mean() - mean[axis]) < 4.0 * error[axis]
        # A deviation errs by about sd / sqrt(2 n).
        assert abs(found.states[:, axis].std() - sd[axis]) < 4.0 * error[axis]
    assert (sd[[1, 4]] < begun[:, [1, 4]].std(0)).all()
    share = plain.weights @ (plain.kinds[:, None] == np.arange(7))
    found_share = np.bincount(found.kinds, minlength=7) / 4000
    tolerance = 4.0 * np.sqrt(share * (1.0 - share) * (1.0 / effective + 8.0 / 4000)) + 0.01
    assert (np.abs(found_share - share) < tolerance).all()


def crowded(seed: tuple[int, ...]) -> World:
    """A small table and impulses of which the noise is 1 m/s: half of first flights end early."""
    world = paper_world(np.random.default_rng(seed), 2**14, Law(impulse_noise=5e-3))
    return world._replace(table=world.table._replace(width=3.0, height=3.0, camera_y=1.5))


def rank(number: int) -> tuple[np.ndarray, int]:
    """The share of particles below the truth, in x, y, rates and spin, and impacts with the bat."""
    draw, world = np.random.default_rng((7, number)), crowded((8, number))
    angle, rate = draw.uniform(-0.4, 0.0), draw.uniform(0.5, 1.5)
    truth = first_flight.uniform(1, angle, world, draw)
    turns = tuple(
        Turn(angle + rate * CAMERA_PERIOD * k, rate, CAMERA_PERIOD) for k in range(READINGS - 1)
    )
    counts, readings = scenes.counts(1), []
    for turn in (None, *turns):
        if turn is not None:
            bat = (turn.angle, turn.rate)
            clouds.move(truth.states, truth.kinds, bat, turn.time, world, counts)
        ends = clouds.readings(truth.states, truth.kinds, world)[0]
        readings.append(ends + world.table.screen_noise * draw.standard_normal(2))
    first = FirstReadings(np.array(readings), turns)
    found = first_flight.start(first, (30_000, 2000), crowded((1,)), draw)
    assert found is not None
    return (found.states < truth.states[0]).mean(0)[[0, 1, 3, 4, 5]], int(counts[0, 2])


@pytest.mark.proof
@pytest.mark.slow
def test_regions_of_the_first_flight_hold_the_truth_under_a_bat_that_strikes() -> None:
    """Simulate and recover: starts from the prior, a third of them struck by the turning bat.

    Each of the ten counts is beyond its bounds in one of 1000 runs. With a bat believed to be at
    rest, or impacts without noise, some are.
    """
    found = [rank(number) for number in range(60)]
    ranks, bats = np.array([each for each, _ in found]), np.array([each for _, each in found])
    assert (bats > 0).sum() >= 15
    for share in (0.5, 0.9):
        inside = (np.abs(ranks - 0.5) < 0.5 * share).sum(0)
        low, high = stats.binom(60, share).interval(0.999)
        assert (low <= inside).all() and (inside <= high).all()


@pytest.mark.proof
def test_first_readings_that_are_missing_are_left_out() -> None:
    world, draw = scenes.quiet(), np.random.default_rng(4)
    truth = np.array([4.0, 6.0, 0.5, 0.6, 0.8, 0.3])
    readings = seen(truth, 1, READINGS, 0.02, 5)
    readings[[2, 5, 6]] = np.nan
    first = FirstReadings(readings, (REST,) * (READINGS - 1))
    found = first_flight.start(first, (5000, 500), world, draw)
    assert found is not None
    assert np.isfinite(found.states).all()
    time = (READINGS - 1) * CAMERA_PERIOD
    y = truth[1] + truth[4] * time - 0.5 * time**2
    assert abs(found.states[:, 1].mean() - y) < 4.0 * found.states[:, 1].std() + 0.05


def test_an_object_is_localised_from_nothing() -> None:
    """Simulate and recover: after 3 s of flights and impacts it is within the belief's spread."""
    settings = FilterSettings(draws=6000, early=3000, early_readings=30, particles=2000)
    draw, world = np.random.default_rng(6), scenes.noisy()
    states, kinds = np.array([[3.0, 5.0, 0.2, 0.5, 0.6, 0.4]]), np.array([3])
    counts, belief = scenes.counts(1, 100), None
    for frame in range(60):
        ends = clouds.readings(states, kinds, world)[0] + 0.02 * draw.standard_normal(2)
        if belief is None:
            belief = localiser.begin(ends, 0.0, settings, world, draw)
        else:
            belief = localiser.update(belief, REST, ends, settings, world, draw)
        assert belief.readings == frame + 1
        assert (belief.waiting is not None) == (frame + 1 < READINGS)
        clouds.move(states, kinds, (0.0, 0.0), CAMERA_PERIOD, world, counts)
    cloud: Cloud = belief.cloud
    clouds.move(
        cloud.states, cloud.kinds, (0.0, 0.0), CAMERA_PERIOD, world, scenes.counts(len(cloud.kinds))
    )
    mean = cloud.weights @ cloud.states
    sd = np.sqrt(cloud.weights @ (cloud.states - mean) ** 2)
    assert (np.abs(states[0, :2] - mean[:2]) < 4.0 * sd[:2] + 0.02).all() and (sd[:2] < 0.5).all()
