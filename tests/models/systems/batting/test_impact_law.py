"""The law of impact against matrices in the world's axes, and what no impact may do."""

import numpy as np
import pytest

from ricochet.models.systems.batting.impact_law import Contact, Law, impulse, noisy_impulse
from ricochet.models.systems.batting.impacts import recorded
from ricochet.models.systems.batting.impacts.recorded import Impacts
from tests.models.systems.batting.tables import mirrored, table, turned
from tests.oracles import world_impacts


def laws(seed: int, count: int) -> list[Law]:
    draw = np.random.default_rng(seed)
    rows = draw.uniform((0.0, 0.0, 0.05), (1.0, 1.0, 1.2), (count, 3))
    return [Law(*map(float, row), 0.0) for row in rows]


def in_world(impacts: Impacts, found: np.ndarray) -> np.ndarray:
    n = impacts.normal
    t = np.stack([-n[:, 1], n[:, 0]], axis=1)
    return found[:, :1] * n + found[:, 1:] * t


def compared(impacts_each: int, count: int) -> float:
    """Compare impulses of all laws with the oracle; return the share that sticks."""
    stuck = []
    for number, law in enumerate(laws(0, count)):
        impacts = table(number, impacts_each, law, noise=False)
        oracle, sticks = world_impacts.impulses(law, impacts)
        scale = np.hypot(*oracle.T)[:, None]
        np.testing.assert_allclose(
            in_world(impacts, impacts.impulse) / scale, oracle / scale, atol=1e-9
        )
        before, after = (
            (world_impacts.velocities(impacts, each) * impacts.normal).sum(1)
            for each in (impacts.before, impacts.after)
        )
        np.testing.assert_allclose(after, -law.restitution * before, atol=1e-9)
        first, last = (
            world_impacts.energy(impacts, each) for each in (impacts.before, impacts.after)
        )
        assert (last <= first * (1.0 + 1e-9)).all()
        stuck.append(sticks.mean())
    return float(np.mean(stuck))


def test_impulses_are_those_of_matrices_in_the_worlds_axes_and_no_energy_is_gained() -> None:
    assert 0.2 < compared(200, 20) < 0.8  # both branches


@pytest.mark.proof
def test_a_hundred_thousand_impacts_are_those_of_matrices_in_the_worlds_axes() -> None:
    assert 0.2 < compared(1000, 100) < 0.8


def test_a_world_that_is_turned_or_mirrored_has_the_same_impacts() -> None:
    impacts = table(3, noise=False)
    for other in (turned(impacts, 1.1), mirrored(impacts)):
        law = Law(0.8, 0.5, 0.4, 0.0)
        found = recorded.impulses(law, other.contacts, np.zeros((len(other), 2)))
        struck = recorded.struck(other, found)
        np.testing.assert_allclose(struck.after, other.after, atol=1e-10)


def test_twice_the_mass_and_inertia_has_twice_the_impulse() -> None:
    law, contact = Law(0.7, 0.3, 0.5, 0.0), Contact(0.2, 0.01, -0.3, 0.1, -1.0, 0.4)
    heavy = contact._replace(mass=0.4, inertia=0.02)
    np.testing.assert_allclose(impulse(law, heavy), 2.0 * np.array(impulse(law, contact)))


def test_with_noise_a_body_always_leaves() -> None:
    draw = np.random.default_rng(0)
    law = Law(0.1, 0.0, 0.5, 0.0, 0.5, 0.5)
    impacts = table(4, 2000, law)
    assert (impacts.closing(impacts.after)[:, 0] >= -1e-9).all()
    contact = Contact(1.0, 0.1, -0.2, 0.0, -1.0, 0.0)  # leaves at P_n - 1, P_n = 1.1 (1 + 0.5 z)
    leaving = [noisy_impulse(law, contact, float(z), 0.0)[0] - 1.0 for z in draw.normal(size=500)]
    # |0.1 + 0.55 z|, whose mean is 0.446 and deviation 0.34: three errors of 500 draws are 0.046
    assert abs(np.mean(leaving) - 0.446) < 0.046
