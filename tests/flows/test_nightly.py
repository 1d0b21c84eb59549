"""The night: late captures are skipped, nothing is recorded or registered twice, crashes closed."""

import argparse
import asyncio
import concurrent.futures
import json
import logging
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from mlflow.exceptions import MlflowException
from prefect.exceptions import CancelledRun, TerminationSignal

from ricochet.flows import capture, cli, nightly
from ricochet.flows.command_line import verb, verbs
from ricochet.flows.command_line.verb import Call
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import dvc_publish
from ricochet.tasks.registry import runs
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import capture as capturing
from ricochet.tasks.systems.interface import NightlyStep
from tests.checkouts import copy_program, python_path
from tests.tasks.recordings import small_sessions

SETTINGS = [
    "capture.remote=published",
    "nightly.drops=3",
    "density.simulations=1500",
    "density.epochs=3",
    "density.hidden=16",
    "calibrate.check_sessions=1",
    "calibrate.fewest_takes=2",
    "nightly.validate=false",
    "nightly.shooting=false",
]
REMOTE = """[core]
    analytics = false
    remote = published
['remote "published"']
    url = ../artifacts/published
"""
SHORT = ["capture.drops=2", "capture.duration=0.1"]


@pytest.fixture
def rig(monkeypatch):
    """A rig that counts its takes, in place of the simulated one."""
    counting = small_sessions.NoiseRig()
    monkeypatch.setitem(capturing.RIGS, "simulated", lambda *_: counting)
    return counting


@pytest.fixture
def published(monkeypatch):
    """Tasks without a server and DVC: the folders that were published."""
    folders = []
    monkeypatch.setattr(capture, "record", capture.record.fn)
    monkeypatch.setattr(capture, "publish", lambda folder, remote: folders.append(folder))
    return folders


@pytest.fixture
def begin_late(monkeypatch):
    """Pretend that the flow run was scheduled a number of seconds ago."""

    def begin(seconds):
        planned = datetime.now(UTC) - timedelta(seconds=seconds)
        run = SimpleNamespace(scheduled_start_time=planned)
        monkeypatch.setattr(capture, "flow_run", run)
        monkeypatch.setattr(nightly, "flow_run", run)
        return planned

    return begin


def files(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_capture_that_starts_too_late_is_skipped_and_records_nothing(
    tmp_path, rig, published, begin_late
):
    begin_late(1000)
    result = capture.capture.fn(session="late", out=str(tmp_path), overrides=SHORT)
    assert result["state"].startswith("skipped, 1000 s after")
    assert (result["takes"], result["published"]) == (0, None)
    assert (rig.takes, published) == (0, [])
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
    assert json.loads((tmp_path / "result.json").read_text()) == result


def test_the_limit_of_lateness_is_that_of_the_settings(tmp_path, rig, published, begin_late):
    begin_late(1000)
    allowed = [*SHORT, "capture.max_lateness=1100"]
    result = capture.capture.fn(session="late", out=str(tmp_path), overrides=allowed)
    assert (result["state"], result["takes"], rig.takes) == ("recorded", 2, 2)
    assert published == [tmp_path / "late"]


def test_a_capture_that_starts_early_or_at_an_unknown_time_is_not_late(monkeypatch, begin_late):
    begin_late(-60)
    assert capture.lateness() == 0
    monkeypatch.setattr(capture, "flow_run", SimpleNamespace(scheduled_start_time=None))
    assert capture.lateness() == 0


def test_a_second_capture_of_a_session_records_nothing(tmp_path, rig, published, begin_late):
    begin_late(0)
    first = capture.capture.fn(session="once", out=str(tmp_path), overrides=SHORT)
    kept = files(tmp_path / "once")
    second = capture.capture.fn(session="once", out=str(tmp_path), overrides=SHORT, seed=1)
    assert (first["state"], second["state"]) == ("recorded", "unchanged")
    assert rig.takes == first["takes"] == second["takes"] == 2
    assert files(tmp_path / "once") == kept
    other = capture.capture.fn(session="twice", out=str(tmp_path), overrides=SHORT)
    assert (other["state"], rig.takes) == ("recorded", 4)


@pytest.fixture
def steps(monkeypatch):
    """Fakes of what a night consists of; the steps taken, in order."""
    taken = []

    def record(**words):
        assert words["publishing"] is False
        taken.append(("capture", words["session"], words["overrides"][-1]))
        return {"state": "recorded", "published": None}

    def publish(folder, session, remote):
        taken.append(("publish", session))
        return ({session: "digest"} if len(taken) > 1 else {}), []

    def calibrate(**words):
        taken.append(("calibrate",))
        return {"ping-pong-table": {"unchanged": True}}

    monkeypatch.setattr(nightly.capturing, "capture", record)
    monkeypatch.setattr(nightly, "publish", publish)
    monkeypatch.setattr(nightly, "fetch", lambda: taken.append(("fetch",)))

    def validate(**words):
        taken.append(("validate", words["name"]))
        return {"unchanged": False, "promoted": True}

    monkeypatch.setattr(nightly.calibration, "calibrate", calibrate)

    def train(**words):
        taken.append(("train", words["name"]))
        return {"registered": {"shooting-cautious": "1"}}

    monkeypatch.setattr(nightly.validation, "validate", validate)
    monkeypatch.setattr(nightly.training, "train", train)
    return taken


def test_a_night_records_publishes_fetches_calibrates_and_validates_in_this_order(
    tmp_path, steps, begin_late
):
    planned = begin_late(5)
    result = nightly.nightly.fn(out=str(tmp_path), overrides=["nightly.drops=7"])
    name = f"nightly-{planned:%Y%m%dT%H%M%S}"
    captured = ("capture", name, "capture.drops=7")
    last = [("validate", "ping-pong-table"), ("train", "energy"), ("validate", "shooting-cautious")]
    assert steps == [captured, ("publish", name), ("fetch",), ("calibrate",), *last]
    assert result["validated"] == {"ping-pong-table": "promoted"}
    assert result["shooting"] == {"shooting-cautious": "promoted"}
    assert (result["session"], result["published"]) == (name, "digest")
    assert result["pairs"] == {"ping-pong-table": True} and result["failures"] == []
    assert json.loads((tmp_path / "result.json").read_text()) == result


def test_a_night_too_late_records_nothing_and_calibrates_what_is_there(tmp_path, steps, begin_late):
    begin_late(4000)
    result = nightly.nightly.fn(
        session="late",
        out=str(tmp_path),
        overrides=["nightly.validate=false", "nightly.shooting=false"],
    )
    assert steps == [("publish", "late"), ("fetch",), ("calibrate",)]
    assert result["state"].startswith("skipped, 4000 s after")
    assert result["published"] is None


def failed_night(tmp_path):
    """Run a night that must fail at its end; returns what result.json holds."""
    with pytest.raises(nightly.IncompleteNightError) as error:
        nightly.nightly.fn(session="tonight", out=str(tmp_path))
    assert json.loads((tmp_path / "result.json").read_text()) == error.value.result
    assert str(error.value) == "; ".join(error.value.result["failures"])
    return error.value.result


def raising(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        ({"unchanged": True}, "champion already"),
        ({"unchanged": False, "promoted": False}, "refused by the gate"),
    ],
)
def test_what_came_of_a_validation_is_a_line(
    tmp_path, steps, begin_late, monkeypatch, outcome, line
):
    begin_late(5)
    monkeypatch.setattr(nightly.validation, "validate", lambda **_: outcome)
    result = nightly.nightly.fn(out=str(tmp_path))
    assert result["validated"] == {"ping-pong-table": line}
    assert result["shooting"] == {"shooting-cautious": line}


def test_what_goes_wrong_with_one_validation_ends_no_night(
    tmp_path, steps, begin_late, monkeypatch
):
    begin_late(5)
    wrong = BadInput("ball", "'club'", "one of balls")
    monkeypatch.setattr(nightly.validation, "validate", raising(wrong))
    result = failed_night(tmp_path)
    line = "ball: found 'club', expected one of balls"
    assert result["validated"] == {"ping-pong-table": line}
    assert result["shooting"] == {"shooting-cautious": line}
    assert result["failures"] == [
        f"validate ping-pong-table: {line}",
        f"validate shooting-cautious: {line}",
    ]


def test_a_training_that_fails_is_said_and_ends_no_night(tmp_path, steps, begin_late, monkeypatch):
    begin_late(5)
    line = "recording: 3 banks are too few, need 5"
    monkeypatch.setattr(nightly.training, "train", raising(ValueError(line)))
    result = failed_night(tmp_path)
    assert result["shooting"] == {"training": line}
    assert result["validated"] == {"ping-pong-table": "promoted"}
    assert result["failures"] == [f"train energy: {line}"]


WHOLE = ["capture", "publish", "fetch", "calibrate", "validate", "train", "validate"]
FAULTS = {
    "capture": ("capturing", "capture"),
    "publish": (None, "publish"),
    "fetch": (None, "fetch"),
    "calibrate": ("calibration", "calibrate"),
    "train energy": ("training", "train"),
}
ERRORS = {
    RuntimeError("the sensor\nis on fire"): "the sensor is on fire",
    ValueError("too few"): "too few",
    OSError(5, "Input/output error"): "OSError: [Errno 5] Input/output error",
    MlflowException("no such run"): "MlflowException: no such run",
    KeyError("a"): "KeyError: 'a'",
    RuntimeError(): "RuntimeError:",
    concurrent.futures.CancelledError(): "CancelledError:",  # of a pool of the part's own
}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("part", FAULTS)
def test_a_night_outlasts_any_failure_of_any_part_and_runs_all_others(
    tmp_path, steps, begin_late, monkeypatch, caplog, part, error
):
    begin_late(5)
    module, name = FAULTS[part]
    place = nightly if module is None else getattr(nightly, module)
    monkeypatch.setattr(place, name, raising(error))
    with caplog.at_level("ERROR", logger="prefect"):
        monkeypatch.setattr(logging.getLogger("prefect"), "propagate", True)
        result = failed_night(tmp_path)
    assert [line.strip() for line in result["failures"]] == [f"{part}: {ERRORS[error]}"]
    assert [record.getMessage() for record in caplog.records] == result["failures"]
    without = {
        "calibrate": ["capture", "publish", "fetch", "train", "validate"],
        "train energy": ["capture", "publish", "fetch", "calibrate", "validate"],
    }
    left = [step for step in WHOLE if step != part]
    assert [step[0] for step in steps] == without.get(part, left)
    assert result["state"] == ("failed" if part == "capture" else "recorded")
    reasons = result["reason"] or ""
    assert (ERRORS[error] in reasons) == (part in ("publish", "fetch"))


@pytest.mark.parametrize("part", FAULTS)
@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt, SystemExit, asyncio.CancelledError, CancelledRun, TerminationSignal(15)],
)
def test_an_interruption_or_a_cancellation_ends_a_night(
    tmp_path, steps, begin_late, monkeypatch, part, error
):
    begin_late(5)
    module, name = FAULTS[part]
    place = nightly if module is None else getattr(nightly, module)
    monkeypatch.setattr(place, name, raising(error))
    with pytest.raises(error if isinstance(error, type) else type(error)):
        nightly.nightly.fn(session="tonight", out=str(tmp_path))
    assert not (tmp_path / "result.json").exists()


def with_first_step(monkeypatch, **words):
    """Put a step before all others of the first system."""
    listed = catalogue.nightly_steps
    first = replace(NightlyStep("first", lambda night: {}), **words)
    own = {catalogue.SYSTEMS[0]: (first,)}
    monkeypatch.setattr(catalogue, "nightly_steps", lambda name: own.get(name, ()) + listed(name))


CIRCLE: dict = {}
CIRCLE["itself"] = CIRCLE
FAULTY_STEPS = {
    "enabled": ({"enabled": raising(ValueError("unclear"))}, ["unclear"]),
    "failed": (
        {"run": raising(ValueError("broken")), "failed": raising(KeyError("line"))},
        ["broken", "KeyError: 'line'"],
    ),
    "failed without entries": (
        {"run": raising(ValueError("broken")), "failed": lambda line: None},
        ["broken", "TypeError: NoneType in place of entries of result.json"],
    ),
    "nothing": (
        {"run": lambda night: None},
        ["TypeError: NoneType in place of entries of result.json"],
    ),
    "a list": (
        {"run": lambda night: [("a", 1)]},
        ["TypeError: list in place of entries of result.json"],
    ),
    "an object": (
        {"run": lambda night: {"a": object()}},
        ["TypeError: Object of type object is not JSON serializable"],
    ),
    "a key": (
        {"run": lambda night: {("a", "b"): 1}},
        ["TypeError: keys must be str, int, float, bool or None, not tuple"],
    ),
    "no number": (
        {"run": lambda night: {"a": float("nan")}},
        ["Out of range float values are not JSON compliant"],
    ),
    "a circle": ({"run": lambda night: CIRCLE}, ["Circular reference detected"]),
}


@pytest.mark.parametrize("fault", FAULTY_STEPS)
def test_a_night_outlasts_a_step_that_is_faulty_itself(
    tmp_path, steps, begin_late, monkeypatch, fault
):
    begin_late(5)
    words, lines = FAULTY_STEPS[fault]
    with_first_step(monkeypatch, **words)
    result = failed_night(tmp_path)
    assert [line.partition(": nan")[0] for line in result["failures"]] == [
        f"first: {line}" for line in lines
    ]
    assert [step[0] for step in steps] == WHOLE
    assert result["state"] == "recorded"


def test_entries_are_returned_as_the_file_holds_them(tmp_path, steps, begin_late, monkeypatch):
    begin_late(5)
    with_first_step(monkeypatch, run=lambda night: {"a": (1, 2), 3: {"b": None}})
    result = nightly.nightly.fn(session="tonight", out=str(tmp_path))
    assert (result["a"], result["3"]) == ([1, 2], {"b": None})
    assert json.loads((tmp_path / "result.json").read_text()) == result


def test_a_night_outlasts_a_system_that_cannot_be_imported(
    tmp_path, steps, begin_late, monkeypatch
):
    begin_late(5)
    place = "ricochet.tasks.systems.another"
    monkeypatch.setattr(catalogue, "SYSTEMS", ("another", *catalogue.SYSTEMS))
    monkeypatch.setitem(sys.modules, f"{place}.settings", SimpleNamespace(SECTIONS={}))
    result = failed_night(tmp_path)
    missing = f"ModuleNotFoundError: No module named '{place}'"
    assert result["failures"] == [f"steps of another: {missing}"]
    assert [step[0] for step in steps] == WHOLE


def test_a_night_that_failed_in_part_says_the_rest_and_exits_with_one(
    tmp_path, monkeypatch, capsys
):
    result = {"session": "s", "state": "recorded", "pairs": {"a-b": True}, "published": None}
    result |= {"reason": None, "failures": ["train energy: no room"]}
    error = nightly.IncompleteNightError(result)
    monkeypatch.setattr(nightly, "nightly", raising(error))
    monkeypatch.setattr(verbs, "prepare_servers", lambda: None)
    assert cli.main(["nightly", "--out", str(tmp_path)]) == 1
    shown = capsys.readouterr()
    assert shown.out == "nightly: s recorded, 1 pairs\n"
    assert shown.err == "ricochet failed: IncompleteNightError: train energy: no room\n"


def call(word, place, *, publish=True):
    """Return a call of a verb and what it says."""
    said = []
    arguments = argparse.Namespace(session="s", params=None, overrides=[])
    return Call(arguments, catalogue.load_settings(), place, 0, publish, said.append), said


def test_a_night_that_must_not_publish_is_refused(tmp_path):
    with pytest.raises(BadInput, match="--no-publish"):
        verbs.nightly(call("nightly", tmp_path, publish=False)[0])


@pytest.mark.parametrize("changed", [True, False])
def test_the_user_is_asked_to_commit_only_what_git_does_not_hold(tmp_path, monkeypatch, changed):
    monkeypatch.setattr(dvc_publish, "awaits_commit", lambda: changed)
    asked, said = call("capture", tmp_path)
    verb.report_published(asked, "digest")
    assert len(said) == 1 and "published as digest" in said[0]
    assert ("to be committed" in said[0]) == changed


def run(root, *command, folder=None):
    """Run a command as a user would in a checkout, everything it keeps under its folder.

    It is called from the checkout, or from another folder.
    """
    kept = {"RICOCHET_ARTIFACTS": str(root / "artifacts"), "PYTHONPATH": python_path(root)}
    kept |= {"PREFECT_HOME": str(root / "artifacts" / "prefect")} | dvc_publish.QUIET
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "MLFLOW_"))}
    found = subprocess.run(
        [*map(str, command)],
        cwd=folder or root,
        capture_output=True,
        text=True,
        env=inherited | kept,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def commit(root, *paths):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    run(root, "git", "add", *paths)
    run(root, "git", *who, "commit", "-q", "-m", "Data")


@pytest.fixture
def checkout(tmp_path):
    """The program under Git and DVC, with one session to which the night's is added."""
    root = tmp_path / "checkout"
    copy_program(root)
    (root / ".gitignore").write_text("/artifacts/\n/data\n__pycache__/\n")
    run(root, "git", "init", "-q")
    (root / ".dvc").mkdir()
    (root / ".dvc" / "config").write_text(REMOTE)
    words = ["--no-publish", "--out", "data", "--set", "capture.drops=2"]
    run(root, sys.executable, "-m", "ricochet.flows.cli", "capture", "--session", "sample", *words)
    (root / "data" / "result.json").unlink()  # of the verb, beside the session
    run(root, sys.executable, "-m", "dvc", "add", "-q", "data")
    commit(root, ".")
    return root


def census(root):
    """Count runs and versions; name sessions."""
    client = runs.connect(store=root / "artifacts" / "mlflow").client
    places = [found.experiment_id for found in client.search_experiments()]
    names = [model.name for model in client.search_registered_models()]
    versions = {name: len(client.search_model_versions(f"name = '{name}'")) for name in names}
    return len(client.search_runs(places)), versions, files(root / "data")


@pytest.mark.slow
def test_a_second_run_of_a_night_adds_no_run_no_version_and_no_session(checkout):
    words = [word for setting in SETTINGS for word in ("--set", setting)]
    night = [sys.executable, "-m", "ricochet.flows.cli", "nightly", "--session", "tonight", *words]
    first = run(checkout, *night)
    assert "nightly: tonight recorded, 1 pairs" in first
    assert "data.dvc has changed, to be committed by hand" in first
    before = census(checkout)
    assert before[1] == {"ball-density": 1, "ping-pong-table": 1}
    assert {path.parts[0] for path in before[2]} == {"sample", "tonight"}
    commit(checkout, "data.dvc")
    outside = checkout.parent / "outside"
    outside.mkdir()
    second = run(checkout, *night, "--out", checkout / "artifacts" / "nightly", folder=outside)
    assert list(outside.iterdir()) == []
    assert "nightly: tonight unchanged, 1 pairs" in second
    assert "published as" in second and "has changed" not in second
    result = json.loads((checkout / "artifacts" / "nightly" / "result.json").read_text())
    assert result["pairs"] == {"ping-pong-table": True}
    assert census(checkout) == before
