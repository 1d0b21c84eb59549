"""Filter and smoother of places against the joint Gaussian, and what cannot change them."""

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.puck import place_smoothing
from ricochet.models.systems.air_hockey.puck.flights import FlightLaw
from ricochet.models.systems.air_hockey.puck.place_smoothing import Motion

MOTION = FlightLaw(drag=0.5, noise=2e-3, airflow_sd=0.1, scatter=1e-3).motion
BEGINS = np.array([[False, False, False, True, False, False]])


def joint(motion: Motion, begins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Prior covariance of all states of an axis, and what of them is seen."""
    count = len(begins)
    forward, spread = [np.eye(3)], [np.diag(np.square(motion.sd))]
    for new in begins[1:]:
        anew = np.diag((*np.square(motion.sd[:2]), 0.0))
        forward.append(np.diag((0.0, 0.0, 1.0)) if new else motion.transition)
        spread.append(anew if new else motion.scatter)
    into = np.zeros((count, 3, count, 3))  # of each noise into each state
    for k in range(count):
        into[k, :, k] = np.eye(3)
        for later in range(k + 1, count):
            into[later, :, k] = forward[later] @ into[later - 1, :, k]
    covariance = np.einsum("aikb,kbc,djkc->aidj", into, np.array(spread), into)
    return covariance.reshape(3 * count, -1), np.kron(np.eye(count), (1.0, 0.0, 0.0))


@pytest.fixture
def places() -> np.ndarray:
    found = np.cumsum(0.02 * np.random.default_rng(1).standard_normal((1, 6, 2)), axis=1)
    found[0, 2] = np.nan
    return found


def test_states_and_evidence_are_those_of_the_joint_gaussian(places):
    covariance, seen = joint(MOTION, BEGINS[0])
    seen = seen[np.isfinite(places[0, :, 0])]
    of_places = seen @ covariance @ seen.T + MOTION.noise**2 * np.eye(len(seen))
    gain = covariance @ seen.T @ np.linalg.inv(of_places)
    y = places[0][np.isfinite(places[0, :, 0])]
    found = place_smoothing.smooth(MOTION, places, BEGINS)
    mean = (gain @ y).reshape(6, 3, 2)
    np.testing.assert_allclose(found.mean[0].swapaxes(-1, -2), mean, atol=1e-7)
    sd = np.sqrt(np.diag(covariance - gain @ seen @ covariance)).reshape(6, 3)
    np.testing.assert_allclose(found.sd[0], sd, rtol=1e-5)
    squared = (y * np.linalg.solve(of_places, y)).sum()
    constant = 2.0 * len(y) * np.log(2.0 * np.pi) / 2.0 + np.linalg.slogdet(of_places)[1]
    expected = -0.5 * squared - constant
    assert place_smoothing.evidence(MOTION, places, BEGINS) == pytest.approx(expected, abs=1e-5)


def test_a_batch_equals_its_members_and_mirrors_are_mirrored(places):
    both = np.concatenate((places, places * (1.0, -1.0)))
    found = place_smoothing.smooth(MOTION, both, np.repeat(BEGINS, 2, 0))
    alone = place_smoothing.smooth(MOTION, places, BEGINS)
    np.testing.assert_allclose(found.mean[0], alone.mean[0], atol=1e-12)
    np.testing.assert_allclose(found.mean[1], alone.mean[0] * ((1.0,), (-1.0,)), atol=1e-12)
    np.testing.assert_allclose(found.sd[0], found.sd[1], atol=1e-15)
