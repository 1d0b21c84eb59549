"""promote, rollback and doctor as called from a terminal: lines, result.json and exit status."""

import json
import os
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ricochet.flows import cli, dead_runs
from ricochet.flows.command_line import registry_verbs
from ricochet.flows.servers import up
from ricochet.tasks import doctor
from ricochet.tasks.recordings import dvc_publish, recorder, sessions
from ricochet.tasks.registry import lab_state, packages, promotion, promotion_log, versions
from ricochet.tasks.registry import runs as tracking
from ricochet.tasks.registry.promotion_log import AliasPair
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from ricochet.tasks.systems.bouncing_ball.validation import audit
from ricochet.tasks.systems.bouncing_ball.validation.validation import VALIDATION
from ricochet.tasks.validation import record
from ricochet.tasks.validation.contenders import Contenders
from tests import grid_packages
from tests.tasks.conftest import package  # noqa: F401
from tests.tasks.recordings import small_sessions
from tests.tasks.systems.bouncing_ball.gate_cases import evidence, first, twin

NAME = "ping-pong-table"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder of outputs, no environment prepared, DVC at peace."""
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "artifacts"))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setattr(up, "prepare_environment", lambda: None)
    monkeypatch.setattr(dvc_publish, "awaits_commit", lambda root=None: False)
    monkeypatch.setattr(dvc_publish, "differs", lambda root=None: False)
    return tmp_path


@pytest.fixture
def measured(monkeypatch):
    """What the audit finds, without recordings; a test may replace it."""
    found = SimpleNamespace(evidence=evidence(np.random.default_rng(4)))
    monkeypatch.setattr(audit, "audit", lambda *_, **__: found.evidence)
    return found


def posterior(number):
    return grid_packages.narrow(NAME, (0.8, 3.0), (1e-3, 0.14), number=number)


def register(place, plain, number):
    tracker = tracking.connect()
    made = posterior(number)
    packages.write_package(place / f"package-{number}", made, reader=GRID)
    run = tracking.open_run(tracker, "calibrate", str(number), name=NAME, tags={})
    tracker.client.log_dict(run.run_id, {"sessions": []}, "result.json")
    version = versions.register(
        tracker, NAME, place / f"package-{number}", kind=POSTERIOR, run_id=run.run_id, tags={}
    )
    tracking.finish(tracker, run.run_id)
    return tracker, version, made


def validate(tracker, plain, champion, files):
    result = twin(np.random.default_rng(5), candidate=0.8)
    versions = {"candidate": "1" if champion is None else "2"}
    if champion is None:
        result = first(np.random.default_rng(5), tosses=100, met=0.8, stay=0.0)
    else:
        versions["champion"] = champion
    result = replace(result, champion=champion, candidate=versions["candidate"])
    sound = evidence(np.random.default_rng(4))
    compared = Contenders(NAME, versions, dict.fromkeys(versions, plain))
    made, verdict = VALIDATION.report(compared, sound, result), VALIDATION.judge(sound, result)
    return record.publish(tracker, made, verdict, files=files / "none")


def call(place, *words):
    status = cli.main([*words, "--out", str(place / "out")])
    written = place / "out" / "result.json"
    return status, json.loads(written.read_text()) if written.exists() else None


@pytest.mark.slow
def test_promote_and_rollback_by_the_command_line(place, measured, package, capsys):  # noqa: F811
    """One story, since every store takes seconds to make."""
    tracker, _, plain = register(place, package, 1)
    status, result = call(place, "promote", NAME, "1")
    said = capsys.readouterr()
    assert status == 2 and "refused: validation: found none" in said.out
    assert "1 of" in said.err.splitlines()[-1]
    assert (result["promoted"], result["gate"]["passed"]) == (False, False)

    run = validate(tracker, plain, None, place)
    status, result = call(place, "promote", NAME, "1", "--no-publish")
    assert status == 0 and not result["promoted"]
    assert promotion.present(tracker, NAME) == AliasPair(None, None)

    status, result = call(place, "promote", NAME, "1", "--reason", "first")
    assert status == 0 and result["promoted"] and result["validation"] == run.run_id
    assert "champion 1, previous none" in capsys.readouterr().out
    measured.evidence = None  # the champion is not judged again, nor is what a crash interrupted
    status, result = call(place, "promote", NAME, "1")
    assert status == 0 and result["promoted"] and not result["changed"]
    assert "champion 1, previous none, unchanged" in capsys.readouterr().out
    cut_last_promotion()
    status, result = call(place, "promote", NAME, "1")
    assert status == 0 and result["changed"] and result["gate"] is None
    assert promotion_log.unsettled(promotion_log.read(NAME)) is None

    _, _, plain = register(place, package, 2)
    validate(tracker, plain, "1", place)
    measured.evidence = evidence(np.random.default_rng(4), package=4.0)
    status, result = call(place, "promote", NAME, "2")
    assert status == 2 and "package's regions at 90 %" in capsys.readouterr().out
    assert promotion.present(tracker, NAME) == AliasPair("1", None)

    measured.evidence = evidence(np.random.default_rng(4))
    assert call(place, "promote", NAME, "2")[0] == 0
    assert promotion.present(tracker, NAME) == AliasPair("2", "1")
    for changed in (True, False):
        status, result = call(place, "rollback", NAME)
        assert status == 0 and result["changed"] == changed
        assert result["pair"] == {"champion": "1", "previous": None}
    capsys.readouterr()
    assert call(place, "promote", NAME, "2")[0] == 2
    assert "rolled back on" in capsys.readouterr().err
    assert promotion.present(tracker, NAME) == AliasPair("1", None)
    assert call(place, "promote", NAME, "2", "--again")[0] == 0
    assert promotion.present(tracker, NAME) == AliasPair("2", "1")
    assert call(place, "rollback", NAME)[0] == 0
    capsys.readouterr()
    status, result = call(place, "promote", NAME, "--log")
    said = capsys.readouterr().out
    assert status == 0 and len(result["log"]) == 10
    assert "promote" in said and "rollback" in said and "(first)" in said

    check_page(tracker, run)
    check_doctor(place, tracker, capsys)


def cut_last_promotion():
    """Leave the log as a crash after `champion` moved does."""
    log = promotion_log.place()
    kept = log.read_text().splitlines(keepends=True)[:-1]
    log.write_text("".join(kept))


def check_page(tracker, run):
    """The run of a validation holds the figure; its children hold the same metric names."""
    pictures = tracker.client.list_artifacts(run.run_id, "figures")
    assert [picture.path for picture in pictures] == ["figures/candidate-and-champion.png"]
    experiment = tracker.client.get_experiment_by_name(record.EXPERIMENT).experiment_id
    runs = tracker.client.search_runs([experiment])
    roles = [found for found in runs if "ricochet.role" in found.data.tags]
    assert sorted(found.data.tags["ricochet.role"] for found in roles) == [
        "candidate",
        "candidate",
        "champion",
    ]
    assert len({tuple(sorted(found.data.metrics)) for found in roles}) == 1
    assert {"success", "cup_inside_90", "restitution_mean"} <= set(roles[0].data.metrics)
    page = tracker.client.get_run(run.run_id).data.tags["mlflow.note.content"]
    assert page.startswith("**Passed by the gate**") and f"run_uuid={run.run_id}" in page
    said = tracker.client.get_model_version(NAME, "1").description
    assert f"runs/{run.run_id}" in said and f"{NAME} 1 passed" in said


def check_doctor(place, tracker, capsys):
    """Doctor settles, closes, seals and reports; a second time only the operator's work is left."""
    status, result = call(place, "doctor")
    assert status == 0 and result["findings"] == []
    abandoned = tracking.open_run(tracker, "calibrate", "left", name="left", tags={}).run_id
    host, number, *_ = tracker.client.get_run(abandoned).data.tags[tracking.PROCESS].split()
    tracker.client.set_tag(abandoned, tracking.PROCESS, f"{host} {number} 1")
    begun = promotion_log.Entry(
        "promote", NAME, AliasPair("1", None), AliasPair("2", "1"), "", "cut"
    )
    tracker.client.set_model_version_tag(NAME, "2", promotion.TAGS["promote"], begun.seal)
    promotion_log.append(begun)
    partial = place / "artifacts" / "capture" / ".s.partial"
    partial.mkdir(parents=True)
    plan = small_sessions.plan(partial.parent / "s")
    recorder.begin(plan.folder, sessions.to_json(plan, ()))
    recorder.add_take(partial, small_sessions.noise(1), small_sessions.RATE, form="wav")
    capsys.readouterr()
    status, result = call(place, "doctor")
    said = capsys.readouterr().out
    assert f"repaired: run {abandoned}" in said
    assert f"repaired: {NAME}: promote interrupted, now dropped" in said
    assert "sealed as interrupted with 1 takes" in said
    assert status == 0 and all(finding["mended"] for finding in result["findings"])
    assert call(place, "doctor")[1]["findings"] == []
    tracker.client.set_registered_model_alias(NAME, "champion", "2")
    run_id = tracker.client.get_model_version(NAME, "2").run_id
    (place / "checks.json").write_text("{}")
    tracker.client.log_artifact(run_id, str(place / "checks.json"), versions.FOLDER)
    with pytest.raises(SystemExit, match="1"):
        call(place, "doctor")
    result = json.loads((place / "out" / "result.json").read_text())
    lines = [finding["line"] for finding in result["findings"]]
    assert lines[0].startswith(f"{NAME}: champion is 2, the log of promotions says 1; `ricochet")
    assert "has a damaged package" in lines[1] and "sha256" in lines[1]
    assert not any(finding["mended"] for finding in result["findings"])


def test_doctor_looks_where_a_lab_s_nights_record_too(tmp_path, monkeypatch):
    state, nights = tmp_path / "state", tmp_path / "artifacts"
    monkeypatch.setattr(lab_state, "workplace", lambda: tmp_path)
    state.mkdir(), nights.mkdir()
    assert lab_state.outputs(state) == [state]
    lab_state.write(state, lab_state.Mark(database=True))
    assert lab_state.outputs(state) == [state, nights]
    lab_state.write(
        nights, lab_state.Mark(database=True)
    )  # another lab's, of which the first is a trial
    assert lab_state.outputs(state) == [state]
    assert lab_state.outputs(nights) == [nights]


def age(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_what_never_got_its_name_is_taken_away_once_it_is_old(tmp_path):
    place, data = tmp_path / "artifacts", tmp_path / "data"
    for folder in (place / "calibrate", data):
        folder.mkdir(parents=True)
    old, new = place / "calibrate" / ".package.abcd_123", place / ".result.json.efgh4567"
    copy = data / ".night.partial"
    for path in (old, copy):
        path.mkdir()
        (path / "x").write_text("x")
        age(path / "x", 7200)
        age(path, 7200)
    new.write_text("{")
    found = doctor.folders(place, data)
    assert {finding.line.partition(":")[0] for finding in found} == {str(old), str(copy)}
    assert new.exists() and not old.exists() and not copy.exists()
    assert doctor.folders(place, data) == []


def test_a_session_that_is_being_recorded_is_left_alone(tmp_path):
    from ricochet.hardware import locks

    plan = small_sessions.plan(tmp_path / "capture" / "s")
    partial = recorder.partial_folder(plan.folder)
    partial.mkdir(parents=True)
    recorder.begin(plan.folder, sessions.to_json(plan, ()))
    with locks.hold(partial):
        (found,) = doctor.folders(tmp_path, tmp_path / "data")
    assert not found.mended and "in use" in found.line and partial.exists()


def test_recordings_that_differ_are_said(monkeypatch):
    monkeypatch.setattr(dvc_publish, "awaits_commit", lambda root=None: True)
    monkeypatch.setattr(dvc_publish, "differs", lambda root=None: True)
    found = doctor.recordings()
    assert [finding.mended for finding in found] == [False, False]
    assert "committed by hand" in found[0].line and "make pull" in found[1].line


def test_promote_needs_a_version_or_the_log(place, capsys):
    assert call(place, "promote", NAME)[0] == 2
    assert "expected the version to promote, or --log" in capsys.readouterr().err
    status, result = call(place, "promote", NAME, "--log")
    assert status == 0 and result["log"] == []


def test_rollback_has_no_dry_run(place, capsys):
    with pytest.raises(SystemExit) as end:
        call(place, "rollback", NAME, "--no-publish")
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_doctor_settles_dead_runs(tmp_path, monkeypatch):
    found = [doctor.Finding("run a: closed", True)]
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
    monkeypatch.setattr(dead_runs, "settle", lambda: iter(found))
    for part in ("folders", "aliases", "recordings"):
        monkeypatch.setattr(doctor, part, lambda *places: iter(()))
    assert list(registry_verbs._left_behind(None)) == found
