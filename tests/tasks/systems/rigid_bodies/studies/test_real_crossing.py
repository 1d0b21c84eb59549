"""Crossings of recordings: counted as by hand, and by frames up to the decision alone."""

import numpy as np
import pytest

from ricochet.models.systems.rigid_bodies import marked_motion, pendulum_tracking
from ricochet.models.systems.rigid_bodies.disc_crossing import Crossing, Disc
from ricochet.tasks.systems.rigid_bodies.studies import real_crossing
from ricochet.tasks.systems.rigid_bodies.studies.real_crossing import Judged
from tests.models.systems.rigid_bodies import rods


@pytest.fixture(scope="module")
def recording() -> np.ndarray:
    generator = np.random.default_rng(0)
    own = rods.draws(1, 0.0)
    return rods.swung(own, rods.starts(1, generator), 1200, generator)[:, 0]


def decided(recording: np.ndarray, disc: Disc = Disc()) -> dict:  # noqa: B008
    draws, best = rods.draws(30), rods.draws(1, 0.0)
    return real_crossing.evaluate(draws, best, [recording], np.random.default_rng(0), disc=disc)


def test_passes_and_contacts_are_counted() -> None:
    touched = np.array([True, False, False, True, False])
    chance = np.array([0.02, 0.0, 0.3, 0.9, 0.05])
    found = Judged({"posterior": chance}, touched, 0.05).to_json()
    assert found["posterior"] == {
        "passes": 3,
        "contacts": 1,
        "contacts_a_pass": pytest.approx(1 / 3),
        "of_oracle": pytest.approx(2 / 3),
    }
    assert found["oracle"] == {
        "passes": 3, "contacts": 0, "contacts_a_pass": 0.0, "of_oracle": 1.0
    }  # fmt: skip
    assert [each["decisions"] for each in found["calibration"]] == [1, 2, 1, 1]
    assert found["calibration"][1]["contacts"] == 0.5


@pytest.mark.proof
def test_a_controller_that_knows_the_pendulum_passes_nearly_when_the_oracle_does(
    recording: np.ndarray,
) -> None:
    found = decided(recording)
    assert found["short"]["decisions"] == 13
    for rule in ("posterior", "best"):
        assert found["short"][rule]["of_oracle"] >= 0.75
        assert found["short"][rule]["contacts"] <= 1


def test_no_frame_after_the_decision_is_looked_at(recording: np.ndarray) -> None:
    now, seen = 41, []

    def note(crossing: Crossing, frames: np.ndarray, generator: np.random.Generator) -> float:
        seen.append(frames)
        return 0.0

    controllers = {"posterior": (note, Crossing(rods.draws(2)))}
    angles = recording[:, :2].copy()
    for by in (0.0, 5.0):
        angles[now:] += by
        states = marked_motion.states(angles, rods.RATE)
        real_crossing._judged(controllers, states[: now + 140], np.random.default_rng(0))
    assert len(seen) == 2
    np.testing.assert_array_equal(*seen)
    expected = pendulum_tracking.states(recording[:now, :2], rods.RATE)
    np.testing.assert_allclose(seen[0], expected, atol=1e-9)
