"""Bats for information: Eq. 11 by hand, and the look-ahead as separate motions."""

import numpy as np
import pytest

from ricochet.models.systems.batting import clouds
from ricochet.models.systems.batting.bat import cyclic
from ricochet.models.systems.batting.planning import looking
from ricochet.models.systems.batting.planning.swings import Scenarios
from ricochet.models.systems.batting.table import CAMERA_PERIOD
from tests.models.systems.batting import scenes


def particles() -> Scenarios:
    cloud = scenes.objects(40, 71)
    return Scenarios(cloud.states, cloud.kinds, np.arange(40))


def test_entropy_is_that_of_equation_11() -> None:
    """Four corners of a rectangle have the covariance diag(a^2, b^2) 4 / 3."""
    a, b = 0.3, 2.0
    corners = np.array([[a, b], [a, -b], [-a, b], [-a, -b]])
    expected = 0.5 * (1.0 + np.log(2.0 * np.pi) + np.log((4.0 / 3.0) ** 2 * a**2 * b**2))
    assert looking.entropy(np.cov(corners.T)) == pytest.approx(expected, rel=1e-12)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    turned = np.cov((corners @ turn + 5.0).T)
    assert looking.entropy(turned) == pytest.approx(expected, rel=1e-12)
    larger = looking.entropy(9.0 * np.cov(corners.T))
    assert larger == pytest.approx(expected + 2.0 * np.log(3.0))
    assert looking.entropy(np.zeros((2, 2))) == -np.inf


def test_entropies_are_those_of_particles_moved_under_equation_10() -> None:
    path, world = cyclic(0.1, 0.6, 2.0), scenes.noisy()
    given = particles()
    found, struck = looking.predicted_entropies(given, path, 40, world)
    states, counts = given.states.copy(), scenes.counts(40, np.arange(40))
    angles = np.pi / 6 * np.sin(0.6 * CAMERA_PERIOD * np.arange(41) + np.arcsin(0.1 * 6 / np.pi))
    for step in range(40):
        bat = (float(angles[step]), float(np.diff(angles)[step] / CAMERA_PERIOD))
        clouds.move(states, given.kinds, bat, CAMERA_PERIOD, world, counts)
        sign, log_determinant = np.linalg.slogdet(np.cov(states[:, 0], states[:, 1]))
        assert sign == 1
        expected = 0.5 * (1.0 + np.log(2.0 * np.pi) + log_determinant)
        assert found[step] == pytest.approx(expected, abs=1e-6)
        assert struck[step] == (counts[:, 2] > 0).mean()


def test_the_look_is_the_least_entropy_once_half_the_particles_were_struck() -> None:
    given = particles()
    look = looking.best_look(given, 0.1, 100, scenes.noisy())
    assert look.entropies.shape == (len(looking.FREQUENCIES), 100)
    row = looking.FREQUENCIES.index(look.frequency)
    step = round(look.time / CAMERA_PERIOD) - 1
    path = cyclic(0.1, look.frequency, 5.0)
    np.testing.assert_array_equal(look.path.angles, path.angles)
    alone, _ = looking.predicted_entropies(given, path, 100, scenes.noisy())
    np.testing.assert_array_equal(look.entropies[row], alone)
    struck = np.stack(
        [
            looking.predicted_entropies(given, cyclic(0.1, omega, 5.0), 100, scenes.noisy())[1]
            for omega in looking.FREQUENCIES
        ]
    )
    assert (struck >= 0.5).any() and struck[row, step] >= 0.5
    assert look.entropies[row, step] == look.entropies[struck >= 0.5].min()
