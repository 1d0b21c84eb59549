"""Validating a shooting policy: what passes every check is promoted, all of it is recorded."""

import json
from types import SimpleNamespace

import pytest

from ricochet.flows import validate
from ricochet.tasks.registry import promotion, runs, versions
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.validation import results, trials, validation
from ricochet.tasks.systems.air_hockey.validation.gate import PolicyEvidence
from ricochet.tasks.systems.air_hockey.validation.results import Shot
from ricochet.tasks.systems.air_hockey.validation.validation import VALIDATION
from ricochet.tasks.validation import judge, record
from tests.flows.validations import PLAIN
from tests.tasks.systems.air_hockey import shooters

NAME = "shooting-balanced"
SOUND = PolicyEvidence(
    regret=0.01, regret_error=0.004, best=0.9, agreement=0.95, states=300, beta=0.5
)
SMALL = ["hockey.shots=60"]


@pytest.fixture
def rig(monkeypatch, tmp_path, empty_store):
    """The flow on a store of its own, its shots and its regret made up; both can be changed."""
    found = SimpleNamespace(
        evidence=SOUND,
        goals={},
        tracker=runs.connect(store=empty_store),
        played=[],
    )

    def play_all(make, begun, disturbance, *, progress):
        found.played.append((len(begun), begun[0].seed, disturbance))
        agent = make()
        agent.reset()
        goals = found.goals[str(round(float(agent._context.policy.energy.energy.last[0]), 6))]
        shots = [Shot(i < goals, 1.2, 0, 0) for i in range(len(begun))]
        return [SimpleNamespace(shot=shot) for shot in shots]

    monkeypatch.setattr(promotion.promotion_log, "place", lambda: tmp_path / "promotions.jsonl")
    monkeypatch.setattr(validate.runs, "connect", lambda: found.tracker)
    monkeypatch.setattr(validation, "audit", lambda *_, **__: found.evidence)
    monkeypatch.setattr(trials, "play_all", play_all)
    return found


def register(rig, place, seed):
    """Register a policy that will score so often; return its version."""
    made = shooters.write(place / f"package-{seed}", seed)
    run = runs.open_run(rig.tracker, "energy", str(seed), name=NAME, tags={})
    version = versions.register(
        rig.tracker, NAME, place / f"package-{seed}", kind=POLICY, run_id=run.run_id, tags={}
    )
    return version.version, str(round(float(made.energy.last[0]), 6))


def run(place, steps=PLAIN):
    return validate.run(validate.Request(NAME, settings(), place), steps)


def settings():
    return catalogue.load_settings(None, SMALL)


@pytest.mark.slow
def test_policies_are_promoted_refused_and_rolled_back(rig, tmp_path) -> None:
    """One story, since every store takes seconds to make."""
    version, first = register(rig, tmp_path, 1)
    rig.goals = {first: 50}
    result = run(tmp_path / "out")
    assert result["promoted"] and result["versions"] == {"candidate": version}
    assert promotion.present(rig.tracker, NAME).champion == version == "1"
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == result
    assert run(tmp_path / "out")["unchanged"]

    version, second = register(rig, tmp_path, 2)
    rig.goals |= {second: 31}
    result = run(tmp_path / "out")
    refused = [check["name"] for check in result["gate"]["checks"] if not check["passed"]]
    assert refused == ["score against champion"] and not result["promoted"]
    assert {row[:2] for row in rig.played[-2:]} == {(60, (0, 0))}  # the same starts for both
    judged = judge.judge(rig.tracker, VALIDATION, Registered(NAME, version), settings=settings())
    assert judged.validation == result["run"] and not judged.verdict.passed

    version, third = register(rig, tmp_path, 3)
    rig.goals |= {third: 51}
    assert run(tmp_path / "out")["promoted"]
    assert promotion.present(rig.tracker, NAME) == promotion.AliasPair("3", "1")
    moved = promotion.rollback(rig.tracker, NAME, kind=POLICY, reason="a test")
    assert moved.pair == promotion.AliasPair("1", None)


@pytest.mark.slow
def test_a_dry_run_judges_and_neither_records_nor_moves(rig, tmp_path) -> None:
    version, first = register(rig, tmp_path, 1)
    rig.goals = {first: 50}
    result = validate.dry_run(validate.Request(NAME, settings(), tmp_path / "out"))
    assert result["gate"]["passed"] and not result["promoted"] and result["run"] is None
    assert result["versions"] == {"candidate": version}
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == result
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["result.json"]
    assert promotion.present(rig.tracker, NAME) == promotion.AliasPair(None, None)
    assert record.find(rig.tracker, NAME, version, None, read=results.from_json) is None
