"""Validation on a real rig: who is asked first, what is recorded of an abort, what is judged."""

import io
import json
from asyncio import CancelledError
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ricochet.flows import validate
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console import operator
from ricochet.tasks.console.operator import Operator, OperatorAbortError
from ricochet.tasks.registry import runs
from ricochet.tasks.registry.runs import OpenRun
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.tracking import controllers
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import StreamClosedError
from ricochet.tasks.systems.bouncing_ball.validation import results, simulated_trials
from ricochet.tasks.validation import aborted, record
from tests.hardware.microphones.sound_card import Room
from tests.tasks.console.test_operator import scripted
from tests.tasks.systems.bouncing_ball import real_rig_fakes
from tests.tasks.systems.bouncing_ball.gate_cases import evidence
from tests.tasks.systems.bouncing_ball.real_rig_fakes import HOST, PAIR, tossed
from tests.tasks.systems.bouncing_ball.validation.test_report import contenders

QUICK = ("tosses=1", "repeats=0", "patience=1.0", "window=1.2", f"robot={HOST}")
OVERRIDES = [f"real.{text}" for text in QUICK]
RUN = OpenRun("run", "0", False)


@pytest.fixture
def lab(monkeypatch, tmp_path, empty_store):
    """The flow without servers: fakes below, a store of runs, a candidate and a champion."""
    fakes = real_rig_fakes.install(monkeypatch, tmp_path)
    tracker = runs.connect(store=empty_store)
    found = SimpleNamespace(fakes=fakes, tracker=tracker, out=tmp_path / "out", recorded=[])
    found.evidence = evidence(np.random.default_rng(4))
    found.steps = replace(
        validate.DRY,
        load=lambda *_: contenders(champion="1"),
        measure=lambda *_, **__: found.evidence,
        record=lambda *words: found.recorded.append(words) or RUN,
        record_abort=lambda tracker, compared, files, reason: aborted.publish(
            tracker, compared, reason=reason, files=files
        ),
    )
    monkeypatch.setattr(validate.runs, "connect", lambda: tracker)
    monkeypatch.setattr(controllers, "fit_ball_model", lambda draws: real_rig_fakes.ball_model())
    return found


def run(monkeypatch, lab, *answers, who=None, rig="real", armed=True, overrides=OVERRIDES):
    if who is None:
        who, lab.shown = scripted(*answers)
    monkeypatch.setattr(operator, "at_terminal", lambda: who)
    return validate_on(lab, rig, armed, overrides)


def validate_on(lab, rig="real", armed=True, overrides=OVERRIDES):
    settings = catalogue.load_settings(None, overrides)
    return validate.run(validate.Request(PAIR, settings, lab.out, 1, rig, armed), lab.steps)


def ended(lab):
    """The one failed run, and what result.json says."""
    experiment = lab.tracker.client.get_experiment_by_name(record.EXPERIMENT)
    (found,) = lab.tracker.client.search_runs([experiment.experiment_id])
    return found, json.loads((lab.out / "result.json").read_text())


@pytest.mark.parametrize("answers", [("no",), ("tennis",), ()])
def test_a_no_ends_the_run_with_its_reason_and_without_motion(monkeypatch, lab, answers):
    with pytest.raises(OperatorAbortError, match=r"confirmation of motion: found (no|none)"):
        run(monkeypatch, lab, *answers)
    found, result = ended(lab)
    assert found.info.status == "FAILED" and lab.recorded == []
    assert found.data.tags[aborted.REASON] == result["ended"]
    assert result["run"] == found.info.run_id and not result["promoted"]
    assert lab.fakes.controller.sent == []
    (kept,) = lab.tracker.client.list_artifacts(found.info.run_id, "rig")
    assert kept.path == "rig/motion.json"
    assert record.find(lab.tracker, PAIR, "2", "1", read=results.from_json) is None


def test_for_a_candidate_that_the_gate_already_refuses_no_one_is_asked(monkeypatch, lab):
    lab.evidence = evidence(np.random.default_rng(4), package=4.0)
    with pytest.raises(OperatorAbortError, match="no motion, the gate already refuses: package"):
        run(monkeypatch, lab, HOST)
    assert lab.shown == [] and "gate already refuses" in ended(lab)[1]["ended"]


def test_what_breaks_after_a_yes_is_the_reason_of_a_failed_run(monkeypatch, lab):
    lab.fakes.room = Room(dies=0.4)
    with pytest.raises(OperatorAbortError, match="found no sound"):
        run(monkeypatch, lab, HOST, "")
    found, result = ended(lab)
    assert found.info.status == "FAILED" and "found no sound" in result["ended"]
    left = {entry.path for entry in lab.tracker.client.list_artifacts(found.info.run_id, "rig")}
    assert {"rig/motion.json", "rig/tosses.json", "rig/telemetry-candidate.mcap"} <= left


def test_microphones_that_stop_on_the_simulated_rig_are_the_reason_of_a_failed_run(
    monkeypatch, lab
):
    def stop(*_, folder, **__):
        folder.mkdir(parents=True)
        (folder / "telemetry-candidate.mcap").write_bytes(b"till then")
        raise StreamClosedError("found no sound for 0.2 s")

    monkeypatch.setattr(simulated_trials, "run_tosses", stop)
    with pytest.raises(StreamClosedError):
        run(monkeypatch, lab, rig="simulated", armed=False, overrides=[])
    found, result = ended(lab)
    assert found.info.status == "FAILED" and lab.recorded == []
    assert found.data.tags[aborted.REASON] == "found no sound for 0.2 s"
    assert (result["ended"], result["rig"]) == ("found no sound for 0.2 s", "simulated")
    (kept,) = lab.tracker.client.list_artifacts(found.info.run_id, "rig")
    assert kept.path == "rig/telemetry-candidate.mcap"


@pytest.mark.parametrize("end", [KeyboardInterrupt, CancelledError])
def test_an_interrupt_or_a_cancellation_stops_the_arm_and_is_the_reason(monkeypatch, lab, end):
    def interrupted(text):
        if "Enter" in text:
            raise end
        return HOST

    with pytest.raises(end):
        run(monkeypatch, lab, who=Operator(interrupted, lambda line: None))
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
        ({"armed": False}, "--rig real: found no --arm"),
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
        validate_on(lab)
    assert lab.fakes.controller.watchdog == 0.0
