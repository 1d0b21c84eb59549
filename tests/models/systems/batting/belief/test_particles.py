"""The particle filter: evidence by hand, order, missing readings, resampling and kernels."""

import inspect

import numpy as np
import pytest

from ricochet.models.systems.batting import clouds
from ricochet.models.systems.batting.belief import localiser, particles
from ricochet.models.systems.batting.belief.particles import Cloud, Turn
from tests.models.systems.batting import scenes

TURN = Turn(0.1, -0.3, 0.05)
READING = np.array([-0.1, 0.05])


def stepped(cloud: Cloud, reading: np.ndarray) -> tuple[Cloud, float]:
    """One step without noise of impacts, so that order and places do not matter."""
    copy = Cloud(cloud.states.copy(), cloud.kinds.copy(), cloud.log_weights.copy())
    return particles.step(copy, TURN, reading, scenes.quiet(), np.random.default_rng(0))


def weighted(count: int, seed: int) -> Cloud:
    cloud = scenes.objects(count, seed)
    return Cloud(cloud.states, cloud.kinds, np.random.default_rng(seed).normal(size=count))


def test_weights_and_evidence_are_those_of_equation_9_by_hand() -> None:
    cloud = weighted(6, 1)
    after, evidence = stepped(cloud, READING)
    states, world = cloud.states.copy(), scenes.quiet()
    clouds.move(states, cloud.kinds, (0.1, -0.3), 0.05, world, scenes.counts(6))
    ends = clouds.readings(states, cloud.kinds, world)
    sigma = world.table.screen_noise
    log_likelihood = -0.5 * (((READING - ends) / sigma) ** 2).sum(1)
    prior = np.exp(cloud.log_weights) / np.exp(cloud.log_weights).sum()
    top = log_likelihood.max()
    products = prior * np.exp(log_likelihood - top)
    assert evidence == pytest.approx(np.log(products.sum()) + top, rel=1e-12)
    np.testing.assert_array_equal(after.states, states)
    np.testing.assert_allclose(after.log_weights, cloud.log_weights + log_likelihood, rtol=1e-12)
    np.testing.assert_allclose(after.weights, products / products.sum(), rtol=1e-9, atol=1e-300)


def test_order_of_particles_does_not_matter() -> None:
    cloud = weighted(200, 2)
    order = np.random.default_rng(3).permutation(200)
    shuffled = Cloud(cloud.states[order], cloud.kinds[order], cloud.log_weights[order])
    one, evidence = stepped(cloud, READING)
    two, same = stepped(shuffled, READING)
    np.testing.assert_array_equal(two.log_weights, one.log_weights[order])
    assert same == pytest.approx(evidence, rel=1e-12)


def test_past_the_bound_of_events_particles_that_meet_something_are_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that fly are moved and weighed as ever; where all are lost nothing explains a reading.

    A bound of none takes the motion as plain Python: machine code holds the bound it was made with.
    """
    cloud = weighted(6, 1)
    cloud.states[:3, 1] = 5.0
    cloud.states[:3, 0] = 5.0
    cloud.states[3:, 1] = 0.5
    plain, as_ever = Cloud(*map(np.copy, vars(cloud).values())), stepped(cloud, READING)[0]
    monkeypatch.setattr(particles, "EVENTS", 0)
    move = inspect.unwrap(getattr(particles._move_and_weigh, "py_func", particles._move_and_weigh))
    places = np.zeros(6, np.int64)
    move(plain.states, plain.kinds, plain.log_weights, (TURN, READING), scenes.quiet(), places)
    np.testing.assert_allclose(plain.log_weights[:3], as_ever.log_weights[:3], rtol=1e-12)
    np.testing.assert_array_equal(plain.states[:3], as_ever.states[:3])
    assert (plain.log_weights[3:] == particles.LOST).all()
    assert (plain.weights[3:] == 0.0).all() and np.isfinite(plain.weights).all()
    lost = Cloud(plain.states[3:], plain.kinds[3:], plain.log_weights[3:])
    assert particles.effective_number(lost) == pytest.approx(3.0)


@pytest.mark.parametrize("missing", [[np.nan, np.nan], [0.1, np.nan], [np.nan, 0.1]])
def test_a_reading_that_is_missing_leaves_weights_as_they_were(missing: list[float]) -> None:
    cloud = weighted(50, 4)
    after, evidence = stepped(cloud, np.array(missing))
    np.testing.assert_array_equal(after.log_weights, cloud.log_weights)
    assert evidence == pytest.approx(0.0, abs=1e-12)
    assert (after.states[:, :2] != cloud.states[:, :2]).all()


def test_a_factor_of_all_weights_changes_nothing() -> None:
    cloud = weighted(50, 5)
    other = Cloud(cloud.states, cloud.kinds, cloud.log_weights + 700.0)
    np.testing.assert_allclose(other.weights, cloud.weights, rtol=1e-11)
    assert stepped(other, READING)[1] == pytest.approx(stepped(cloud, READING)[1], abs=1e-9)


def test_the_effective_number_is_that_of_equal_weights() -> None:
    cloud = scenes.objects(40, 6)
    assert particles.effective_number(cloud) == pytest.approx(40.0)
    some = np.where(np.arange(40) < 7, 0.0, -np.inf)
    few = Cloud(cloud.states, cloud.kinds, some)
    assert particles.effective_number(few) == pytest.approx(7.0)


def test_resampling_takes_each_particle_as_often_as_it_weighs() -> None:
    """Systematic: n w rounded down or up. The mean is within three standard errors."""
    cloud = weighted(60, 7)
    found = particles.resample(cloud, 500, 0.0, np.random.default_rng(1))
    taken = (found.states[:, None, 0] == cloud.states[:, 0]).sum(0)
    assert (np.abs(taken - 500 * cloud.weights) < 1.0).all()
    mean = cloud.weights @ cloud.states
    error = np.sqrt(cloud.weights @ (cloud.states - mean) ** 2 / 500)
    assert (np.abs(found.states.mean(0) - mean) < 3.0 * error).all()
    np.testing.assert_array_equal(found.log_weights, 0.0)


def test_kernels_have_the_covariance_of_each_shape() -> None:
    """Of 40 000 numbers a covariance errs by sqrt(2 / 20 000) = 1 % of variances: 5 % is 5 s.e."""
    draw = np.random.default_rng(8)
    kinds = np.repeat([2, 5], 20_000)
    factors = draw.standard_normal((2, 6, 6))
    states = draw.standard_normal((40_000, 6))
    states[:20_000] = states[:20_000] @ factors[0] + 3.0
    states[20_000:] = states[20_000:] @ factors[1] - 1.0
    found = particles.spread(states, kinds, draw)
    for kind in (2, 5):
        expected = np.cov(states[kinds == kind].T)
        scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        np.testing.assert_allclose(
            np.cov(found[kinds == kind].T) / scale, expected / scale, atol=0.05
        )
        error = np.sqrt(np.diag(expected) / 20_000)
        assert (np.abs(found[kinds == kind].mean(0)) < 4.0 * error).all()


def test_a_bandwidth_spreads_copies_by_its_share() -> None:
    cloud = scenes.objects(5000, 9)
    plain = particles.resample(cloud, 5000, 0.0, np.random.default_rng(2))
    spread = particles.resample(cloud, 5000, 0.1, np.random.default_rng(2))
    ratio = (spread.states - plain.states).std(0) / cloud.states.std(0)
    np.testing.assert_allclose(ratio, 0.1, rtol=0.05)


def test_the_papers_filter_has_200_particles_resampled_at_each_reading() -> None:
    draw, world = np.random.default_rng(3), scenes.noisy()
    belief = localiser.begin(READING, 0.0, localiser.PAPER, world, draw)
    for _ in range(3):
        assert belief.cloud.states.shape == (200, 6) and belief.waiting is None
        np.testing.assert_array_equal(belief.cloud.log_weights, 0.0)
        belief = localiser.update(belief, TURN, READING, localiser.PAPER, world, draw)
    assert belief.readings == 4
