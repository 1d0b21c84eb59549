"""Algorithm 1 on energies whose least value is known."""

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.shots import energy_network, energy_search
from ricochet.models.systems.air_hockey.shots.energy_network import Energy
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE

STATE = np.array([-0.4, 0.2, 0.0, 0.0, 0.0, 0.0])


def valleys(*, second_depth: float = 3.0) -> Energy:
    """E = 30 |u - y| - 6, but not above 0, and a second valley about u = y - 1.

    Each valley is a tent of three bends in u - y; the second layer hands them on.
    """
    bends = [(-0.2, 1.0), (0.0, -2.0), (0.2, 1.0)]
    first = np.zeros((7, 6), np.float32)
    first[1], first[6] = -1.0, 1.0
    offsets = [-b for b, _ in bends] + [1.0 - b for b, _ in bends]
    tent = np.array([[w for _, w in bends]]).T
    second = np.zeros((6, 6))
    second[:3, :1], second[3:, 1:2] = tent, tent
    last = np.array([-30.0, -5.0 * second_depth, 0.0, 0.0, 0.0, 0.0])
    numbers = (np.zeros(7), np.ones(7), first, offsets, second, np.zeros(6), last)
    return Energy(*(np.asarray(n, np.float32) for n in numbers))


def test_the_valleys_are_where_the_test_says():
    angles = np.array([0.2, -0.8, 0.5, 1.3])
    found = energy_network.landscape(valleys(), STATE, angles)
    np.testing.assert_allclose(found, [-6.0, -3.0, 0.0, 0.0], atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_deeper_of_two_valleys_is_found(seed: int):
    """With 256 samples of the last sigma, 0.01 rad, about the minimum: to 1 mrad."""
    found = energy_search.search(valleys(), STATE, draw=np.random.default_rng(seed))
    assert abs(found - STATE[1]) < 1e-3


def test_the_angle_is_the_least_of_the_samples_and_shares_follow_the_energy():
    draw = np.random.default_rng(0)
    samples, angle = energy_search.step(valleys(), STATE, energy_search.init(), draw=draw)
    found = energy_network.landscape(valleys(), STATE, samples.angles).astype(float)
    assert angle == samples.angles[found.argmin()]
    np.testing.assert_allclose(samples.shares, np.exp(-found) / np.exp(-found).sum(), rtol=1e-5)
    assert (np.abs(samples.angles) <= LARGEST_ANGLE).all()
    assert samples.sigma == pytest.approx(0.8 * energy_search.WIDEST)


def test_resampling_keeps_to_the_shares():
    """With no width, 4000 samples of two angles: 0.9 of them within three standard errors."""
    count, angles = 4000, np.repeat((-0.5, 0.5), 2000)
    shares = np.repeat((0.9, 0.1), 2000) / 2000
    before = energy_search.Samples(angles, shares, 0.0)
    draw = np.random.default_rng(1)
    after, _ = energy_search.step(valleys(), STATE, before, draw=draw)
    assert abs((after.angles < 0.0).mean() - 0.9) < 3.0 * np.sqrt(0.09 / count)


def test_a_warm_start_follows_a_puck_that_moves():
    draw, samples = np.random.default_rng(2), energy_search.init()
    state = STATE.copy()
    for _ in range(60):
        state[1] -= 0.003
        samples, angle = energy_search.step(valleys(), state, samples, draw=draw)
    assert abs(angle - state[1]) < 0.005


def test_the_same_draw_finds_the_same_angle():
    one, other = (
        energy_search.search(valleys(), STATE, draw=np.random.default_rng(3)) for _ in range(2)
    )
    assert one == other
