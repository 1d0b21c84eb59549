"""The validation flow: what moves an alias, what does not, and what is recorded."""

import json
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
from mlflow.store.entities import PagedList

from ricochet.flows import cli, nightly, validate
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import promotion, promotion_log
from ricochet.tasks.registry import runs as tracking
from ricochet.tasks.registry.promotion import Moved
from ricochet.tasks.registry.promotion_log import DONE, ROLLBACK, AliasPair, Entry
from ricochet.tasks.registry.runs import OpenRun
from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.validation.results import TrackingTrials, TwinResult
from ricochet.tasks.systems.bouncing_ball.validation.validation import VALIDATION
from ricochet.tasks.validation import contenders
from ricochet.tasks.validation.outcomes import Paired
from tests.tasks.systems.bouncing_ball.validation.test_report import contenders as packaged

NAME = "tennis-table"
PASSED = Check("a check", True, "good", "good")
REFUSED = Check("a check", False, "bad", "good")
RESULT = TwinResult(
    NAME,
    "2",
    "1",
    "simulated",
    (0,),
    Paired((True,), (False,)),
    (),
    Paired((), ()),
    tracking=TrackingTrials(
        {"candidate": (True,), "champion": (False,)},
        *({"candidate": 0.02, "champion": 0.02} for _ in range(2)),
        {"candidate": (), "champion": ()},
    ),
)


@dataclass
class Done:
    """What the flow did, and the steps that it took."""

    recorded: list
    moved: list
    steps: validate.Steps


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """Stores of the test's own."""
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "artifacts"))


@pytest.fixture
def done(monkeypatch):
    """The flow with steps that leave only the order in which they are called."""
    found = Done([], [], None)

    def record(tracker, made, verdict, files):
        found.recorded.append(verdict)
        return OpenRun("run", "0", False)

    found.steps = validate.Steps(
        load=lambda *_: packaged(champion="1"),
        measure=lambda *_, **__: None,
        run_trials=lambda *_: RESULT,
        record=record,
        promote=lambda *_, verdict, **__: found.moved.append(verdict) or Moved(NAME, None, True),
        record_abort=lambda *_: None,
    )
    monkeypatch.setattr(validate.runs, "connect", lambda: SimpleNamespace())
    return found


@pytest.fixture
def tracker(empty_store):
    """A registry that holds nothing."""
    return tracking.connect(store=empty_store)


def run(monkeypatch, folder, done, check, **steps):
    judged = replace(VALIDATION, judge_evidence=lambda _: (check,), judge_result=lambda *_: ())
    monkeypatch.setattr(catalogue, "validation_of", lambda name: judged)
    request = validate.Request(NAME, catalogue.load_settings(), folder)
    return validate.run(request, replace(done.steps, **steps))


def test_what_passes_the_gate_is_recorded_and_promoted(tmp_path, done, monkeypatch):
    result = run(monkeypatch, tmp_path, done, PASSED)
    assert [verdict.passed for verdict in done.recorded] == [True]
    assert done.moved == done.recorded
    assert result["promoted"] and result["success"] == {"candidate": 1.0, "champion": 0.0}
    assert result["run"] == "run" and result["versions"] == {"candidate": "2", "champion": "1"}
    assert json.loads((tmp_path / "result.json").read_text()) == result


def test_what_the_gate_refuses_is_recorded_and_moves_nothing(tmp_path, done, monkeypatch):
    result = run(monkeypatch, tmp_path, done, REFUSED)
    assert [verdict.passed for verdict in done.recorded] == [False] and done.moved == []
    assert not result["promoted"] and result["gate"]["passed"] is False


def test_a_candidate_that_is_the_champion_already_is_left_as_it_is(tmp_path, done, monkeypatch):
    monkeypatch.setattr(contenders, "unchanged", lambda tracker, name: {"unchanged": True})
    assert run(monkeypatch, tmp_path, done, PASSED, load=lambda *_: None) == {"unchanged": True}
    assert done.recorded == done.moved == []


def test_a_pair_that_was_never_calibrated_is_bad_input_in_one_line(tmp_path, tracker, done):
    request = validate.Request("club-table", catalogue.load_settings(), tmp_path)
    steps = replace(done.steps, load=lambda _, name, kind: contenders.load(tracker, name, kind))
    with pytest.raises(BadInput, match=r"no candidate.*ricochet calibrate` makes"):
        validate.run(request, steps)
    assert done.recorded == []


def test_a_candidate_that_was_rolled_back_is_passed_over_in_one_line(monkeypatch, tmp_path):
    """The alias `candidate` stays on it, so that every night meets it again."""
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
    undone = Entry(
        ROLLBACK, NAME, AliasPair("2", "1"), AliasPair("1", None), "", "it misses", step=DONE
    )
    promotion_log.append(undone)
    version = SimpleNamespace(version="2", tags={promotion.TAGS[ROLLBACK]: undone.seal})
    there = PagedList([version], None)
    client = SimpleNamespace(search_model_versions=lambda condition, **_: there)
    tracker = SimpleNamespace(client=client)
    found = {"candidate": Registered(NAME, "2"), "champion": Registered(NAME, "1")}
    monkeypatch.setattr(contenders.registry, "resolve", lambda tracker, name, role: found[role])
    with pytest.raises(BadInput, match=r"found rolled back on .* because 'it misses'"):
        contenders.load(tracker, NAME, VALIDATION.kind)
    monkeypatch.setattr(
        nightly.validation,
        "validate",
        lambda name, **_: contenders.load(tracker, name, VALIDATION.kind),
    )
    night = nightly.Night(None, "tonight", tmp_path, {})
    line = night.validate(NAME)
    assert night.failures == []
    assert line.startswith("tennis-table version 2: found rolled back") and "\n" not in line


def test_a_dry_run_judges_and_neither_records_nor_moves(tmp_path, done, monkeypatch, capsys):
    monkeypatch.setattr(catalogue, "refuse_unregistered", lambda *_: None)
    dry = replace(done.steps, record=validate.DRY.record, promote=validate.DRY.promote)
    monkeypatch.setattr(validate, "DRY", dry)
    judged = replace(VALIDATION, judge_evidence=lambda _: (PASSED,), judge_result=lambda *_: ())
    monkeypatch.setattr(catalogue, "validation_of", lambda name: judged)
    monkeypatch.setattr("ricochet.flows.servers.up.prepare_environment", lambda: None)
    words = ["validate", NAME, "--no-publish", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    assert "touched 1.00 of the tosses" in (said := capsys.readouterr().out)
    assert "tennis-table version 2: not promoted; not recorded" in said
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["run"] is None and result["gate"]["passed"] and not result["promoted"]
    assert done.recorded == done.moved == []
    assert cli.main([*words, "--rig", "real"]) == 2


def test_a_dry_run_takes_the_same_plain_functions_as_the_tasks():
    for name in ("load", "measure", "run_trials"):
        assert getattr(validate.TASKS, name).fn is getattr(validate.DRY, name)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["shooting-balanced", "--rig", "real", "--arm"], "shooting-<setting> has no other rig"),
        (["shooting-balanced", "--rig", "real"], "--rig: found 'real', expected simulated"),
        ([NAME, "--rig", "reel"], "--rig: found 'reel', expected simulated or real"),
        ([NAME, "--arm"], "--arm: found the simulated rig, expected --rig real"),
        (["ball-density"], "found a package that is not validated, expected <ball>-<surface> or"),
        (["club-table"], "club-table: found no candidate in the registry, expected one"),
        (["shoting-balanced"], "(all names are <ball>-<surface> or ball-density or shooting-"),
        (["shooting-foo"], "shooting-foo: found no such setting, expected one of shooting-"),
        (["nonsense"], "found an unknown name, expected"),
    ],
)
def test_what_no_rig_can_try_is_one_line_before_anything_starts(
    words, says, tmp_path, monkeypatch, capsys, tracker
):
    def started(**_):
        raise AssertionError("the flow was started")

    monkeypatch.setattr(validate, "validate", started)
    monkeypatch.setattr("ricochet.flows.servers.up.prepare_environment", lambda: None)
    monkeypatch.setattr(validate.runs, "connect", lambda: tracker)
    assert cli.main(["validate", *words, "--out", str(tmp_path)]) == 2
    *announced, said = capsys.readouterr().err.splitlines()
    assert says in said and all(line.endswith("...") for line in announced)


def test_the_verb_passes_rig_and_arm_on_and_says_that_no_cup_was_tried(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(catalogue, "refuse_unregistered", lambda *_: None)
    seen = {}

    def flow(**words):
        seen.update(words)
        both = {"success": {"candidate": 0.5}, "inside_90": {}, "gate": {"checks": []}}
        ids = {"name": NAME, "unchanged": False, "promoted": False, "run": "r"}
        return both | ids | {"versions": {"candidate": "2"}}

    monkeypatch.setattr(validate, "validate", flow)
    monkeypatch.setattr("ricochet.flows.servers.up.prepare_environment", lambda: None)
    words = ["validate", NAME, "--rig", "real", "--arm", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    assert (seen["rig"], seen["arm"]) == ("real", True)
    assert "touched 0.50 of the tosses, no cup tried" in capsys.readouterr().out
    assert cli.main(["validate", NAME, "--out", str(tmp_path)]) == 0
    assert (seen["rig"], seen["arm"]) == ("simulated", False)
