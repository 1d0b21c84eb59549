"""The benchmark of particles compares like with like."""

import numpy as np
import pytest

from benchmarks.batting import particles
from ricochet.models.systems.batting import clouds
from ricochet.models.systems.batting.belief import first_flight
from ricochet.models.systems.batting.belief.particles import Cloud
from ricochet.models.systems.batting.world import paper_world, without_noise


@pytest.mark.proof
def test_fixed_steps_move_particles_as_ours_do_until_impacts_part_them() -> None:
    """Steps of 5 ms place an impact within 5 ms x 3 m/s = 15 mm."""
    draw = np.random.default_rng(1)
    world = without_noise(paper_world(draw, 16))
    cloud = first_flight.uniform(2000, particles.TURN[0], world, draw)
    other = Cloud(cloud.states.copy(), cloud.kinds, cloud.log_weights)
    begun = cloud.states.copy()
    ours, theirs = particles.moving(cloud, world), particles.fixed_steps(other, world)
    for _ in range(10):
        ours()
        theirs()
    away = np.abs(cloud.states[:, :2] - other.states[:, :2]).max(1)
    struck = (
        np.abs(cloud.states[:, 4] - begun[:, 4] + 0.5) + np.abs(cloud.states[:, 3] - begun[:, 3])
        > 1e-9
    )
    assert struck.sum() > 100
    assert away[~struck].max() < 1e-9
    assert np.quantile(away[struck], 0.95) < 0.03


def test_the_camera_in_numpy_sees_what_ours_sees() -> None:
    draw = np.random.default_rng(2)
    world = paper_world(draw, 16)
    cloud = first_flight.uniform(500, 0.0, world, draw)
    found = particles.numpy_readings(cloud.states, cloud.kinds, world)
    expected = clouds.readings(cloud.states, cloud.kinds, world)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_all_methods_have_a_rate() -> None:
    rates = particles.measured(50, 0.01)
    assert [each.name for each in rates] == list(particles.METHODS)
    assert all(min(each.ours, each.numpy) > 0.0 for each in rates)
