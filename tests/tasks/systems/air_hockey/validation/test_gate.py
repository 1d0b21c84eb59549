"""The gate of a shooting policy: sound ones pass, each fault is refused by its own check."""

import json
import math
from dataclasses import replace

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.air_hockey.validation import results
from ricochet.tasks.systems.air_hockey.validation.gate import PolicyEvidence
from ricochet.tasks.systems.air_hockey.validation.results import ShootingResult, Shot
from ricochet.tasks.systems.air_hockey.validation.validation import VALIDATION

SOUND = PolicyEvidence(
    regret=0.01, regret_error=0.004, best=0.9, agreement=0.95, states=300, beta=0.5
)


def shots(scored: int, of: int = 100, violations: int = 0) -> tuple[Shot, ...]:
    return tuple(Shot(i < scored, 1.2, 0, violations if i == 0 else 0) for i in range(of))


def result(candidate: tuple[Shot, ...], champion: tuple[Shot, ...] | None = None) -> ShootingResult:
    roles = {"candidate": candidate} | ({} if champion is None else {"champion": champion})
    version = None if champion is None else "1"
    return ShootingResult("shooting-balanced", "2", version, 7, {"airflow": 0.1}, roles)


def failed(evidence: PolicyEvidence, found: ShootingResult | None) -> set[str]:
    checks = VALIDATION.judge(evidence, found).checks
    return {check.name for check in checks if not check.passed}


def test_a_sound_policy_passes_with_and_without_a_champion() -> None:
    assert failed(SOUND, result(shots(93))) == set()
    assert failed(SOUND, result(shots(90), shots(93))) == set()


@pytest.mark.parametrize(
    ("evidence", "found", "name"),
    [
        (replace(SOUND, regret=0.06), result(shots(93)), "regret"),
        (replace(SOUND, regret=math.nan), result(shots(93)), "regret"),
        (replace(SOUND, agreement=0.7), result(shots(93)), "modes"),
        (SOUND, result(shots(93, violations=1)), "limits"),
        (SOUND, result(shots(50, of=50)), "shots"),
        (SOUND, result(shots(30)), "promise"),
        (SOUND, result(shots(80), shots(95)), "score against champion"),
        (SOUND, None, "validation"),
    ],
)
def test_each_fault_is_refused_by_its_own_check(
    evidence: PolicyEvidence, found: ShootingResult | None, name: str
) -> None:
    assert failed(evidence, found) == {name}


def test_the_promise_is_refused_beyond_chance_alone() -> None:
    """P(at most 40 of 100 | 0.5) = 0.028 and P(at most 39 of 100 | 0.5) = 0.018."""
    assert failed(SOUND, result(shots(40))) == set()
    assert failed(SOUND, result(shots(39))) == {"promise"}


def test_a_result_comes_back_from_json_as_it_was() -> None:
    for found in (result(shots(93)), result(shots(80), shots(90))):
        content = json.loads(json.dumps(results.to_json(found)))
        assert results.from_json(content, "run 1") == found


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "ricochet.twin/1"},
        {"champion": "1"},
        {"shots": {"candidate": [[1, 1.0, 0, 0]], "champion": None}},
        {"shots": {"candidate": [[True, 1.0, 0]], "champion": None}},
        {"shots": None},
        {"seed": "x"},
    ],
)
def test_a_result_that_is_none_is_refused_in_one_line(change: dict[str, object]) -> None:
    content = results.to_json(result(shots(3, of=5))) | change
    with pytest.raises(BadInput, match=r"run 1|shots"):
        results.from_json(content, "run 1")


def test_roles_from_other_starts_are_refused() -> None:
    with pytest.raises(BadInput, match="same starts"):
        result(shots(3, of=5), shots(3, of=6))
