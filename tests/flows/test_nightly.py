"""The night: its steps in order, what came of each, and what the user reads."""

import argparse
import json

import pytest

from ricochet.flows import cli, nightly
from ricochet.flows.command_line import verb, verbs
from ricochet.flows.command_line.verb import Call
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.doctor import Finding
from ricochet.tasks.recordings import dvc_publish
from ricochet.tasks.systems import catalogue
from tests.flows.nights import failed_night, raising


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


def test_a_night_settles_dead_runs_before_anything_else(tmp_path, steps, begin_late, monkeypatch):
    begin_late(5)
    monkeypatch.setattr(nightly, "settle", lambda: steps.append(("settle",)))
    nightly.nightly.fn(out=str(tmp_path))
    assert steps[0] == ("settle",) and len(steps) > 1


@pytest.mark.parametrize("flow_run", [None, "a run"])
def test_dead_runs_are_settled_where_a_server_sees_the_night(monkeypatch, flow_run):
    found, said = [Finding("run a: closed", True)], []
    logger = argparse.Namespace(warning=said.append)
    monkeypatch.setattr(nightly.FlowRunContext, "get", lambda: flow_run)
    monkeypatch.setattr(nightly.dead_runs, "settle", lambda: iter(found))
    monkeypatch.setattr(nightly, "_logger", lambda: logger)
    nightly.settle()
    assert said == (["run a: closed"] if flow_run else [])


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


@pytest.mark.parametrize("changed", [True, False])
def test_the_user_is_asked_to_commit_only_what_git_does_not_hold(tmp_path, monkeypatch, changed):
    monkeypatch.setattr(dvc_publish, "awaits_commit", lambda: changed)
    asked, said = call("capture", tmp_path)
    verb.report_published(asked, "digest")
    assert len(said) == 1 and "published as digest" in said[0]
    assert ("to be committed" in said[0]) == changed
