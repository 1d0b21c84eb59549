"""Validation on a real rig: who is asked first, what is kept of an early end, what is judged."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest

from ricochet.flows import cli, on_trial, real_rig, validate
from ricochet.flows.servers import up
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console import operator
from ricochet.tasks.console.operator import EndedError
from ricochet.tasks.registry import runs
from ricochet.tasks.registry.runs import OpenRun
from ricochet.tasks.systems.bouncing_ball.figures import validation as validation_figures
from ricochet.tasks.systems.bouncing_ball.tracking import controllers
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import StreamClosedError
from ricochet.tasks.systems.bouncing_ball.validation import gate, simulated_trials
from ricochet.tasks.systems.bouncing_ball.validation.results import Paired, TwinResult
from ricochet.tasks.validation import aborted, report
from ricochet.tasks.validation import page as validation_page
from ricochet.tasks.validation.checks import Verdict
from tests.hardware.microphones.sound_card import Room
from tests.tasks.console.test_operator import scripted
from tests.tasks.systems.bouncing_ball import real_bench
from tests.tasks.systems.bouncing_ball.real_bench import HOST, PAIR, tossed
from tests.tasks.systems.bouncing_ball.validation.test_gate import evidence

QUICK = ("tosses=1", "repeats=0", "patience=1.0", "window=1.2", f"robot={HOST}")
OVERRIDES = [f"real.{text}" for text in QUICK]


@pytest.fixture
def lab(monkeypatch, tmp_path):
    """The flow without servers: fakes below, a store of runs, a candidate and a champion."""
    fakes = real_bench.install(monkeypatch, tmp_path)
    tracker = runs.connect(store=tmp_path / "mlflow")
    found = SimpleNamespace(fakes=fakes, tracker=tracker, out=tmp_path / "out", recorded=[])
    package = SimpleNamespace(arrays={"samples": real_bench.knowledge().theta})
    trial = on_trial.Trial(
        PAIR, {"candidate": "2", "champion": "1"}, {"candidate": package, "champion": package}
    )
    found.evidence = evidence(np.random.default_rng(4))
    monkeypatch.setattr(validate.runs, "connect", lambda: tracker)
    monkeypatch.setattr(validate, "load", lambda tracker, name: trial)
    monkeypatch.setattr(validate, "audit", lambda *words: found.evidence)
    monkeypatch.setattr(validate, "try_on_rig", validate.try_on_rig.fn)
    monkeypatch.setattr(validate, "record", lambda *words: found.recorded.append(words) or RUN)
    monkeypatch.setattr(real_rig, "give_up", real_rig.give_up.fn)
    monkeypatch.setattr(real_rig, "link", lambda *words, **more: None)
    monkeypatch.setattr(controllers, "fit_ball_model", lambda rows, draw: real_bench.knowledge())
    return found


RUN = OpenRun("run", "0", False)


def run(monkeypatch, lab, *answers, **words):
    who, shown = scripted(*answers)
    monkeypatch.setattr(operator, "at_terminal", lambda: who)
    lab.shown = shown
    words = {"rig": "real", "arm": True, "overrides": OVERRIDES} | words
    return validate.validate.fn(name=PAIR, out=str(lab.out), seed=1, **words)


def ended(lab):
    """The one failed run, and what result.json says."""
    experiment = lab.tracker.client.get_experiment_by_name(report.EXPERIMENT)
    (found,) = lab.tracker.client.search_runs([experiment.experiment_id])
    return found, json.loads((lab.out / "result.json").read_text())


@pytest.mark.parametrize("answers", [("no",), ("tennis",), ()])
def test_a_no_ends_the_run_with_its_reason_and_without_motion(monkeypatch, lab, answers):
    with pytest.raises(EndedError, match=r"confirmation of motion: found (no|none)"):
        run(monkeypatch, lab, *answers)
    found, result = ended(lab)
    assert found.info.status == "FAILED" and lab.recorded == []
    assert found.data.tags[aborted.REASON] == result["ended"]
    assert result["run"] == found.info.run_id and not result["promoted"]
    assert lab.fakes.controller.sent == []
    (kept,) = lab.tracker.client.list_artifacts(found.info.run_id, "rig")
    assert kept.path == "rig/motion.json"
    assert report.find_validation(lab.tracker, PAIR, "2", "1") is None


def test_a_candidate_that_the_gate_refuses_already_asks_nobody(monkeypatch, lab):
    lab.evidence = evidence(np.random.default_rng(4), package=4.0)
    with pytest.raises(EndedError, match="nothing was moved, the gate refuses already"):
        run(monkeypatch, lab, HOST)
    assert lab.shown == [] and "gate refuses" in ended(lab)[1]["ended"]


def test_what_breaks_after_a_yes_is_the_reason_of_a_failed_run(monkeypatch, lab):
    lab.fakes.room = Room(dies=0.4)
    with pytest.raises(EndedError, match="found no sound"):
        run(monkeypatch, lab, HOST, "")
    found, result = ended(lab)
    assert found.info.status == "FAILED" and "found no sound" in result["ended"]
    left = {entry.path for entry in lab.tracker.client.list_artifacts(found.info.run_id, "rig")}
    assert {"rig/motion.json", "rig/tosses.json", "rig/telemetry-candidate.mcap"} <= left


def test_microphones_that_stop_on_the_simulated_rig_are_the_reason_of_a_failed_run(
    monkeypatch, lab
):
    def stop(*_, folder, **__):
        (folder / "telemetry-candidate.mcap").write_bytes(b"till then")
        raise StreamClosedError("found no sound for 0.2 s")

    monkeypatch.setattr(simulated_trials, "meet_tosses", stop)
    with pytest.raises(StreamClosedError):
        run(monkeypatch, lab, rig="simulated", arm=False, overrides=[])
    found, result = ended(lab)
    assert found.info.status == "FAILED" and lab.recorded == []
    assert found.data.tags[aborted.REASON] == "found no sound for 0.2 s"
    assert (result["ended"], result["rig"]) == ("found no sound for 0.2 s", "simulated")
    (kept,) = lab.tracker.client.list_artifacts(found.info.run_id, "rig")
    assert kept.path == "rig/telemetry-candidate.mcap"


def test_an_interrupt_stops_the_arm_and_is_the_reason(monkeypatch, lab):
    def interrupted(text):
        if "Enter" in text:
            raise KeyboardInterrupt
        return HOST

    there = operator.Person(interrupted, lambda line: None)
    monkeypatch.setattr(operator, "at_terminal", lambda: there)
    with pytest.raises(KeyboardInterrupt):
        words = {"rig": "real", "arm": True, "overrides": OVERRIDES}
        validate.validate.fn(name=PAIR, out=str(lab.out), **words)
    assert ended(lab)[1]["ended"] == "interrupted"
    assert {"servoStop", "stopScript"} <= set(lab.fakes.controller.calls)


@pytest.mark.slow
def test_a_real_validation_reaches_the_gate_and_too_few_tosses_are_refused(monkeypatch, lab):
    monkeypatch.setattr("ricochet.hardware.microphones.sound_stream.SILENCE", 2.0)
    lab.fakes.room = Room(tossed(2))
    result = run(monkeypatch, lab, HOST, "", "touched", "", "touched")
    assert result["rig"] == "real" and result["success"] == {"candidate": 1.0, "champion": 1.0}
    assert result["inside_90"] == {} and not result["promoted"] and len(lab.recorded) == 1
    failed = [c["name"] for c in result["gate"]["checks"] if not c["passed"]]
    assert failed == ["number of tosses"]
    assert json.loads((lab.out / "result.json").read_text()) == result


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"rig": "reel"}, "--rig: found 'reel', expected simulated or real"),
        ({"arm": False}, "--rig real: found no --arm"),
        ({"rig": "simulated"}, "--arm: found the simulated rig"),
        ({"overrides": []}, "real.robot: found nothing"),
    ],
)
def test_a_real_rig_must_be_asked_for_in_full(monkeypatch, lab, words, says):
    with pytest.raises(BadInput, match=says):
        run(monkeypatch, lab, HOST, **words)


def test_without_a_terminal_a_real_rig_is_refused(monkeypatch, lab):
    monkeypatch.setattr("sys.stdin", io.StringIO(HOST))
    with pytest.raises(BadInput, match="no terminal"):
        words = {"rig": "real", "arm": True, "overrides": OVERRIDES}
        validate.validate.fn(name=PAIR, out=str(lab.out), **words)
    assert lab.fakes.controller.watchdog == 0.0


def test_the_verb_passes_rig_and_arm_on_and_says_that_no_cup_was_tried(
    monkeypatch, tmp_path, capsys
):
    seen = {}

    def flow(**words):
        seen.update(words)
        both = {"success": {"candidate": 0.5}, "inside_90": {}, "gate": {"checks": []}}
        ids = {"name": PAIR, "unchanged": False, "promoted": False, "run": "r"}
        return both | ids | {"versions": {"candidate": "2"}}

    monkeypatch.setattr(validate, "validate", flow)
    monkeypatch.setattr(up, "prepare_environment", lambda: None)
    words = ["validate", PAIR, "--rig", "real", "--arm", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    assert (seen["rig"], seen["arm"]) == ("real", True)
    assert "met 0.50 of the tosses, no cup tried" in capsys.readouterr().out
    assert cli.main(["validate", PAIR, "--out", str(tmp_path)]) == 0
    assert (seen["rig"], seen["arm"]) == ("simulated", False)


def test_the_page_of_a_real_validation_names_the_rig_and_needs_no_cup():
    draw = np.random.default_rng(1)
    outcomes = [tuple(bool(x) for x in draw.random(60) < 0.7) for _ in range(2)]
    twin = TwinResult(
        PAIR, "2", "1", "real", tuple(range(60)), Paired(*outcomes), (), Paired((), ())
    )
    verdict = Verdict(gate.judge_twin(twin))
    assert verdict.passed
    samples = {"candidate": draw.normal(size=(50, 2)), "champion": draw.normal(size=(50, 2))}
    assert validation_figures.comparison(PAIR, samples, twin).axes
    page = validation_page.describe(RUN, twin, verdict, measured={}, children={})
    assert "60 tosses and 0 cups on the real rig" in page
