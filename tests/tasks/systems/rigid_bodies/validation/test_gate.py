"""What the gate says of evidence: a sound posterior is accepted, an overconfident one refused."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.inference import chain_agreement, chain_regions
from ricochet.tasks.systems.rigid_bodies.validation import gate
from ricochet.tasks.systems.rigid_bodies.validation.gate import PendulumEvidence
from ricochet.tasks.systems.rigid_bodies.validation.held_out import Predicted
from ricochet.tasks.systems.rigid_bodies.validation.results import CrossingResult, Moment
from tests.models.inference.test_chain_agreement import slow_chains

MIXED = np.random.default_rng(9).normal(size=(8, 8))
CHANCE = 0.02


def predicted(share: float, draw: np.random.Generator, touched: int = 0) -> Predicted:
    """Of two recordings of forty places, whose intervals hold a share; forty passes."""
    inside = draw.random((80, 2, 2)) < share
    places = np.arange(80)
    error = draw.normal(size=inside.shape)
    return Predicted(
        error, 0.0 * error + 2.0, inside, places // 40, places % 2 == 0, places < 2 * touched
    )


def evidence(seed: int, *, stated: float = 1.0, method: float = 1.0) -> PendulumEvidence:
    """What is found of a posterior stated, or inferred, with deviations that are too small."""
    draw = np.random.default_rng(seed)
    one, other = slow_chains(draw, chains=32) @ MIXED, slow_chains(draw) @ MIXED
    places = []
    for _ in range(12):
        chains = method * slow_chains(draw, rounds=15, chains=12, memory=0.6) @ MIXED
        places.append(chain_regions.place(chains, draw.normal(size=8) @ MIXED))
    agreement = chain_agreement.compare(stated * one, other)
    return PendulumEvidence(agreement, tuple(places), predicted(0.9, draw), CHANCE)


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
