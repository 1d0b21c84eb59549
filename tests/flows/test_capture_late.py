"""Captures at night: late ones are skipped, and no session is recorded twice."""

import json
from types import SimpleNamespace

import pytest

from ricochet.flows import capture, cli, prefect_runs
from ricochet.flows.command_line import recording_verbs
from ricochet.flows.servers import kill_guard

SHORT = ["capture.drops=2", "capture.duration=0.1"]


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


def test_a_capture_that_no_worker_started_is_not_late_whatever_a_server_says(
    tmp_path, rig, published, begin_late, monkeypatch
):
    begin_late(800_000_000)
    monkeypatch.delenv(prefect_runs.CARRIED)
    result = capture.capture.fn(session="now", out=str(tmp_path), overrides=SHORT)
    assert (result["state"], rig.takes) == ("recorded", 2)


@pytest.mark.parametrize("takes", [0, 2])
def test_a_capture_that_recorded_nothing_fails_and_names_no_command(
    tmp_path, monkeypatch, takes, capsys
):
    result = {"session": "a", "takes": takes, "state": "skipped", "published": None}
    (tmp_path / "result.json").write_text(json.dumps(result))
    monkeypatch.setattr(recording_verbs, "prepare_servers", lambda **_: None)
    monkeypatch.setattr(capture, "capture", lambda **_: result)
    monkeypatch.setattr(kill_guard, "guard_children", lambda: None)
    words = ["capture", "--session", "a", "--out", str(tmp_path)]
    if takes:
        assert cli.main(words) == 0
    else:
        with pytest.raises(SystemExit, match="1"):
            cli.main(words)
    said = capsys.readouterr()
    assert f"a: {takes} takes, skipped\n" in said.out and ("next: " in said.out) == bool(takes)
    assert said.err == ("" if takes else "a: found no take, expected at least one\n")


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
