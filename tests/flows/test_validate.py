"""The validation flow: what moves an alias, what does not, and what is recorded."""

import json
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from ricochet.flows import cli, nightly, on_trial, rehearsal, validate
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import promotion_log
from ricochet.tasks.registry.promotion_log import DONE, ROLLBACK, Entry, Pair
from ricochet.tasks.registry.runs import OpenRun
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.systems.bouncing_ball.validation.results import Paired, TwinResult
from ricochet.tasks.systems.bouncing_ball.validation.simulated_trials import Met
from ricochet.tasks.validation.checks import Check, Verdict

NAME = "tennis-table"
PASSED = Verdict((Check("a check", True, "good", "good"),))
REFUSED = Verdict((Check("a check", False, "bad", "good"),))


@dataclass
class Steps:
    """What the flow did."""

    recorded: list
    moved: list


@pytest.fixture
def steps(monkeypatch):
    """The flow with its tasks replaced, all but the order in which they are called."""
    done = Steps([], [])
    trial = on_trial.Trial(NAME, {"candidate": "2", "champion": "1"}, {})
    twin = TwinResult(
        NAME, "2", "1", "simulated", (0,), Paired((True,), (False,)), (), Paired((), ())
    )
    met = Met({"candidate": (True,)}, {"candidate": 0.02}, {"candidate": 0.018}, {"candidate": ()})

    def record(tracker, trial, twin, met, verdict, folder):
        done.recorded.append(verdict)
        return OpenRun("run", "0", False)

    monkeypatch.setattr(validate.runs, "connect", lambda: SimpleNamespace())
    monkeypatch.setattr(validate, "load", lambda tracker, name: trial)
    monkeypatch.setattr(validate, "audit", lambda *words: None)
    monkeypatch.setattr(validate, "try_on_rig", lambda *words: (twin, met))
    monkeypatch.setattr(validate, "record", record)
    monkeypatch.setattr(validate, "move", lambda *words: done.moved.append(words[2]) or True)
    return done


def run(monkeypatch, folder, verdict):
    monkeypatch.setattr(validate.gate, "judge", lambda evidence, twin: verdict)
    return validate.validate.fn(name=NAME, out=str(folder))


def test_what_passes_the_gate_is_recorded_and_promoted(tmp_path, steps, monkeypatch):
    result = run(monkeypatch, tmp_path, PASSED)
    assert steps.recorded == [PASSED] and steps.moved == [PASSED]
    assert result["promoted"] and result["success"] == {"candidate": 1.0, "champion": 0.0}
    assert json.loads((tmp_path / "result.json").read_text()) == result


def test_what_the_gate_refuses_is_recorded_and_moves_nothing(tmp_path, steps, monkeypatch):
    result = run(monkeypatch, tmp_path, REFUSED)
    assert steps.recorded == [REFUSED] and steps.moved == []
    assert not result["promoted"] and result["gate"]["passed"] is False


def test_a_candidate_that_is_the_champion_already_is_left_as_it_is(tmp_path, steps, monkeypatch):
    monkeypatch.setattr(validate, "load", lambda tracker, name: None)
    monkeypatch.setattr(validate, "unchanged", lambda tracker, name: {"unchanged": True})
    assert run(monkeypatch, tmp_path, PASSED) == {"unchanged": True}
    assert steps.recorded == steps.moved == []


def test_what_was_refused_in_a_toss_goes_into_the_run(tmp_path, monkeypatch):
    seen, line = {}, "y: found 0.4, expected -0.35 to 0.35"
    met = Met(
        {"candidate": (True,)}, {"candidate": 0.02}, {"candidate": 0.02}, {"candidate": (line,)}
    )
    monkeypatch.setattr(
        validate.report, "publish_validation", lambda *_, **words: seen.update(words)
    )
    monkeypatch.setattr(validate, "link", lambda *_, **__: None)
    trial = on_trial.Trial(NAME, {"candidate": "2"}, {})
    validate.record.fn(None, trial, None, met, REFUSED, tmp_path)
    assert seen["numbers"]["candidate"]["refused"] == 1.0 and seen["files"] == tmp_path
    assert json.loads((tmp_path / "refused.json").read_text()) == {"candidate": [line]}


def test_an_unknown_ball_is_bad_input_before_anything_starts(tmp_path, steps):
    with pytest.raises(BadInput, match="one of ping-pong-table"):
        validate.validate.fn(name="club-table", out=str(tmp_path))
    assert steps.recorded == []


@pytest.mark.parametrize("candidate", [None, "same"])
def test_who_is_on_trial_is_looked_up_first(monkeypatch, candidate):
    found = {"candidate": candidate, "champion": "same"}
    monkeypatch.setattr(on_trial.registry, "resolve", lambda tracker, name, role: found[role])
    if candidate is None:
        with pytest.raises(BadInput, match="no candidate in the registry"):
            on_trial.load.fn(None, NAME)
    else:
        assert on_trial.load.fn(None, NAME) is None


def test_a_candidate_that_was_rolled_back_is_passed_over_in_one_line(monkeypatch, tmp_path):
    """The alias `candidate` stays on it, so that every night meets it again."""
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
    undone = Entry(ROLLBACK, NAME, Pair("2", "1"), Pair("1", None), "", "it misses", step=DONE)
    promotion_log.append(promotion_log.place(), undone)
    found = {"candidate": Registered(NAME, "2"), "champion": Registered(NAME, "1")}
    monkeypatch.setattr(on_trial.registry, "resolve", lambda tracker, name, role: found[role])
    with pytest.raises(BadInput, match=r"found rolled back on .* because 'it misses'"):
        on_trial.load.fn(None, NAME)
    monkeypatch.setattr(
        nightly.validation, "validate", lambda name, **_: on_trial.load.fn(None, name)
    )
    line = nightly.validated(NAME, tmp_path, 0, None, None)
    assert line.startswith("tennis-table version 2: found rolled back") and "\n" not in line


def test_a_rehearsal_judges_and_neither_records_nor_moves(tmp_path, steps, monkeypatch, capsys):
    trial, (twin, met) = validate.load(None, NAME), validate.try_on_rig()
    monkeypatch.setattr(on_trial, "load", SimpleNamespace(fn=lambda *_: trial))
    monkeypatch.setattr(validate, "audit", SimpleNamespace(fn=lambda *_: None))
    monkeypatch.setattr(validate, "try_on_rig", SimpleNamespace(fn=lambda *_: (twin, met)))
    monkeypatch.setattr(rehearsal.gate, "judge", lambda evidence, twin: PASSED)
    monkeypatch.setattr("ricochet.flows.servers.up.prepare_environment", lambda: None)
    words = ["validate", NAME, "--no-publish", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    assert "met 1.00 of the tosses" in (said := capsys.readouterr().out)
    assert "tennis-table version 2: not promoted; not recorded" in said
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["run"] is None and result["gate"]["passed"] and not result["promoted"]
    assert steps.recorded == steps.moved == []
    assert cli.main([*words, "--rig", "real"]) == 2
