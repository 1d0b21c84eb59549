"""What the gate says of evidence: a sound posterior is accepted, an overconfident one refused."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.tasks.systems.rigid_bodies.validation import gate
from ricochet.tasks.systems.rigid_bodies.validation.gate import PendulumEvidence
from ricochet.tasks.systems.rigid_bodies.validation.results import CrossingResult, Moment
from tests.tasks.systems.rigid_bodies.evidences import evidence, predicted


def refused(found: PendulumEvidence) -> set[str]:
    return {
        check.name.partition(" (")[0] for check in gate.judge_evidence(found) if not check.passed
    }


@pytest.mark.slow
def test_a_sound_posterior_is_refused_no_oftener_than_stated() -> None:
    """Of 60 a chance of 0.045 (0.02, and 0.025 of free passes) refuses 2.7 +- 1.6: 7 at most."""
    assert sum(bool(refused(evidence(seed))) for seed in range(60)) <= 7


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_stated_covariance_divided_by_four_is_refused(seed: int) -> None:
    assert "again, all widths" in refused(evidence(seed, stated=0.5))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_method_whose_covariance_is_divided_by_four_is_refused(seed: int) -> None:
    assert "simulated, region at 90 %" in refused(evidence(seed, method=0.5))


def test_means_that_are_off_are_refused_by_the_name_of_the_worst() -> None:
    sound = evidence(1)
    off = sound.agreement.mean.value.copy()
    off[5] += 3.0
    mean = replace(sound.agreement.mean, value=off)
    (check, *_) = gate.judge_evidence(replace(sound, agreement=replace(sound.agreement, mean=mean)))
    assert not check.passed and check.found.startswith("length off by +")


def test_held_out_intervals_that_hold_too_few_are_refused_and_the_error_is_said() -> None:
    draw = np.random.default_rng(3)
    found = replace(evidence(1), predicted=predicted(0.6, draw))
    assert refused(found) == {"held out, 0.25 s ahead", "held out, 0.5 s ahead"}
    lines = [check.line for check in gate.judge_evidence(found)]
    assert sum("median error" in line and "degrees" in line for line in lines) == 2


def test_held_out_contacts_beyond_the_promise_are_refused() -> None:
    """Of 40 passes one in twenty is 2; of 8 contacts the chance is below 0.001."""
    draw = np.random.default_rng(3)
    for contacts, expected in ((2, set()), (8, {"held out, free"})):
        found = replace(evidence(1), predicted=predicted(0.9, draw, contacts))
        assert refused(found) == expected


def crossings(candidate: tuple[int, int], champion: tuple[int, int] | None) -> CrossingResult:
    """Of 200 moments passes of which some touch, where the pendulum is in the disc."""
    roles = {"candidate": candidate} | ({} if champion is None else {"champion": champion})
    moments = {
        role: tuple(
            Moment(0.0, i < passes or 200 - i <= contacts, i >= 150, list(roles)[i % len(roles)])
            for i in range(200)
        )
        for role, (passes, contacts) in roles.items()
    }
    return CrossingResult("pendulum-lab", "2", None if champion is None else "1", 0, moments)


@pytest.mark.parametrize(
    ("candidate", "champion", "expected"),
    [
        ((100, 4), None, set()),
        ((100, 4), (100, 4), set()),
        ((100, 4), (104, 4), set()),  # four lost of four pairs: p 0.06
        ((100, 4), (110, 4), {"crossings against champion"}),
        ((100, 40), None, {"twin, free"}),
        ((0, 0), None, {"twin, free"}),
        ((60, 0), (120, 0), {"crossings against champion"}),
    ],
)
def test_crossings_are_judged_by_their_promise_and_beside_the_champion(
    candidate, champion, expected
) -> None:
    found = gate.judge_crossings(crossings(candidate, champion), evidence(1))
    assert {check.name for check in found if not check.passed} == expected
