"""Validating a shooting policy: what passes every check is promoted, all of it is recorded."""

import json
from types import SimpleNamespace

import pytest

from ricochet.flows import on_trial, rehearsal, validate_shooting
from ricochet.flows.command_line import registry_verbs
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import promotion, runs, versions
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.validation import audit, trials
from ricochet.tasks.systems.air_hockey.validation.gate import Evidence
from ricochet.tasks.systems.air_hockey.validation.results import Shot
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from ricochet.tasks.validation import judge, report
from tests.tasks.systems.air_hockey import shooters

NAME = "shooting-balanced"
SOUND = Evidence(regret=0.01, regret_error=0.004, best=0.9, agreement=0.95, states=300, beta=0.5)
SMALL = ["hockey.shots=60"]


@pytest.fixture
def rig(monkeypatch, tmp_path):
    """The flow on a store of its own, its shots and its regret made up; both can be changed."""
    found = SimpleNamespace(
        evidence=SOUND,
        goals={},
        tracker=runs.connect(store=tmp_path / "store"),
        played=[],
    )

    def play_all(make, begun, disturbance, *, progress):
        found.played.append((len(begun), begun[0].seed, disturbance))
        agent = make()
        agent.reset()
        goals = found.goals[str(round(float(agent._with.aim.energy.last[0]), 6))]
        shots = [Shot(i < goals, 1.2, 0, 0) for i in range(len(begun))]
        return [SimpleNamespace(shot=shot) for shot in shots]

    monkeypatch.setattr(promotion.promotion_log, "place", lambda: tmp_path / "promotions.jsonl")
    monkeypatch.setattr(validate_shooting.runs, "connect", lambda: found.tracker)
    monkeypatch.setattr(audit, "audit", lambda *_, **__: found.evidence)
    monkeypatch.setattr(trials, "play_all", play_all)
    monkeypatch.setattr(validate_shooting, "link", lambda *_, **__: None)
    for name in ("load", "audit", "shoot", "record", "move"):
        monkeypatch.setattr(validate_shooting, name, getattr(validate_shooting, name).fn)
    return found


def register(rig, place, seed):
    """Register a policy that will score so often; return its version."""
    made = shooters.write(place / f"package-{seed}", seed)
    run = runs.open_run(rig.tracker, "energy", str(seed), name=NAME, tags={})
    version = versions.register(
        rig.tracker, NAME, place / f"package-{seed}", run_id=run.run_id, tags={}
    )
    return version.version, str(round(float(made.energy.last[0]), 6))


def run(place):
    return validate_shooting.validate_shooting.fn(name=NAME, out=str(place), overrides=SMALL)


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
    assert refused == ["score beside champion"] and not result["promoted"]
    assert {row[:2] for row in rig.played[-2:]} == {(60, (0, 0))}  # the same starts for both
    judged = judge.judge(rig.tracker, Registered(NAME, version), settings=settings())
    assert judged.validation == result["run"] and not judged.verdict.passed

    version, third = register(rig, tmp_path, 3)
    rig.goals |= {third: 51}
    assert run(tmp_path / "out")["promoted"]
    assert promotion.present(rig.tracker, NAME) == promotion.Pair("3", "1")
    moved = promotion.rollback(rig.tracker, NAME, kind=POSTERIOR, reason="a test")
    assert moved.pair == promotion.Pair("1", None)


@pytest.mark.slow
def test_a_rehearsal_judges_and_neither_records_nor_moves(rig, tmp_path, monkeypatch) -> None:
    version, first = register(rig, tmp_path, 1)
    rig.goals = {first: 50}
    for name in ("load", "audit", "shoot"):
        step = getattr(validate_shooting, name)
        place = on_trial if name == "load" else validate_shooting
        if not hasattr(step, "fn"):
            monkeypatch.setattr(place, name, SimpleNamespace(fn=step))
    monkeypatch.setattr(rehearsal.runs, "connect", lambda: rig.tracker)
    wanted = settings()
    result = rehearsal.rehearse(NAME, wanted=wanted, out=tmp_path / "out", seed=0)
    assert result["gate"]["passed"] and not result["promoted"] and result["run"] is None
    assert result["versions"] == {"candidate": version}
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == result
    assert promotion.present(rig.tracker, NAME) == promotion.Pair(None, None)
    assert report.find_trials(rig.tracker, NAME, version, None) is None


def settings():

    return catalogue.load_settings(None, SMALL)


def test_a_name_of_a_posterior_is_refused() -> None:
    with pytest.raises(BadInput, match="no name of a shooting policy"):
        validate_shooting.validate_shooting.fn(name="tennis-table")


def test_a_setting_that_there_is_not_is_refused_before_the_registry_is_asked() -> None:
    known = "shooting-cautious, shooting-balanced, shooting-aggressive"
    with pytest.raises(BadInput, match=f"shooting-foo: found no such setting, expected .* {known}"):
        on_trial.load.fn(None, "shooting-foo")


def test_a_shooting_policy_has_no_real_rig(monkeypatch) -> None:
    monkeypatch.setattr(registry_verbs, "_prepare", lambda: None)
    arguments = SimpleNamespace(name=NAME, rig="real", arm=True)
    with pytest.raises(BadInput, match="no other rig"):
        registry_verbs.validate(SimpleNamespace(arguments=arguments, publish=True))
