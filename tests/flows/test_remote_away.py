"""Nights while the DVC remote is away, under real DVC: nothing is lost, and it is caught up."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from prefect.states import Failed

from ricochet.flows import capture, nightly
from ricochet.flows.command_line import verbs
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import dvc_publish
from ricochet.tasks.recordings.dvc_commands import Dvc, LateError
from ricochet.tasks.systems.bouncing_ball import capture as capturing
from ricochet.tasks.systems.bouncing_ball.calibration import targets
from tests.flows.test_nightly import call
from tests.tasks.recordings import small_sessions

CONFIG = """[core]
    analytics = false
    remote = published
['remote "published"']
    url = ../away/store
"""
SHORT = [
    "capture.remote=published",
    "nightly.drops=2",
    "capture.duration=0.1",
    "nightly.validate=false",
    "nightly.shooting=false",
]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Git and DVC with a sample of one session; commands are called from outside of it."""
    root, elsewhere = tmp_path / "checkout", tmp_path / "elsewhere"
    (root / ".dvc").mkdir(parents=True), elsewhere.mkdir()
    (root / ".dvc" / "config").write_text(CONFIG)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    small_sessions.write_session(
        small_sessions.plan(root / "data" / "sample"), [small_sessions.noise(99)]
    )
    subprocess.run([sys.executable, "-m", "dvc", "add", "-q", "data"], cwd=root, check=True)
    monkeypatch.setattr(dvc_publish, "workplace", lambda: root)
    monkeypatch.setattr(targets, "DATA", root / "data")
    monkeypatch.chdir(elsewhere)
    return root


@pytest.fixture
def night(tmp_path, monkeypatch):
    """A night without servers whose calibration only says which sessions were at hand."""
    monkeypatch.setitem(capturing.RIGS, "simulated", lambda *_: small_sessions.NoiseRig())
    for module, name in [(capture, "record"), (capture, "publish"), (nightly, "fetch")]:
        monkeypatch.setattr(module, name, getattr(module, name).fn)
    monkeypatch.setattr(nightly.capturing, "capture", capture.capture.fn)
    planned = SimpleNamespace(scheduled_start_time=datetime.now(UTC))
    monkeypatch.setattr(capture, "flow_run", planned)
    at_hand = []

    def calibrate(**words):
        found = targets.targets([], tmp_path / "out")
        at_hand.append([path.name for pair in found for path in pair.sources])
        return {pair.name: {"unchanged": False} for pair in found}

    monkeypatch.setattr(nightly.calibration, "calibrate", calibrate)

    def run(name):
        out = tmp_path / "checkout" / "artifacts" / "nightly"
        result = nightly.nightly.fn(session=name, out=str(out), overrides=SHORT)
        assert json.loads((out / "result.json").read_text()) == result
        return result, at_hand[-1]

    return run


def fetched(root, folder):
    """Fetch all that `data.dvc` names with nothing but the remote; return the sessions."""
    subprocess.run(["git", "clone", "-q", str(root), str(folder)], check=True, capture_output=True)
    (folder / ".dvc").mkdir()
    config = CONFIG.replace("../away", str(root / "away"))
    (folder / ".dvc" / "config").write_text(config)
    (folder / "data.dvc").write_text((root / "data.dvc").read_text())
    subprocess.run([sys.executable, "-m", "dvc", "pull", "-q"], cwd=folder, check=True)
    return sorted(path.name for path in (folder / "data").iterdir())


@pytest.mark.proof
@pytest.mark.slow
def test_a_night_without_the_remote_calibrates_and_the_next_one_publishes_it(
    checkout, night, tmp_path
):
    (checkout / "away").write_text("a file where the remote's folder should be")
    first, at_hand = night("monday")
    assert (first["state"], first["published"]) == ("recorded", None)
    assert first["reason"].startswith("dvc ") and "\n" not in first["reason"]
    assert at_hand == ["monday", "sample"] and first["pairs"] == {"ping-pong-table": False}
    captured = checkout / "artifacts" / "nightly" / "capture"
    kept = dvc_publish.manifest(captured / "monday")
    assert [path.name for path in dvc_publish.waiting(captured)] == ["monday"]

    (checkout / "away").unlink()
    second, at_hand = night("tuesday")
    assert second["published"] is not None and second["reason"] is None
    assert at_hand == ["monday", "sample", "tuesday"]
    assert dvc_publish.waiting(captured) == []
    assert dvc_publish.manifest(captured / "monday") == kept
    assert fetched(checkout, tmp_path / "fresh") == ["monday", "sample", "tuesday"]
    again, _ = night("tuesday")
    assert again == second | {"state": "unchanged"}


@pytest.fixture
def remote(monkeypatch, tmp_path):
    """A stand-in of DVC: the sessions tried, and what each of them meets."""
    tried, meets = [], {}

    def publish(session, name):
        tried.append(session.name)
        if session.name in meets:
            raise meets[session.name]
        return f"digest {len(tried)}"

    monkeypatch.setattr(nightly.capturing, "publish", publish)
    for name in ("a", "b", "c", ".d.partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "session.json").write_text("{}")
    return tried, meets


def test_tonight_goes_first_then_what_was_left_over_and_each_once(remote, tmp_path):
    tried, _ = remote
    assert nightly.publish(tmp_path, "b", "r") == (
        {"b": "digest 1", "a": "digest 2", "c": "digest 3"},
        [],
    )
    assert tried == ["b", "a", "c"]
    assert nightly.publish(tmp_path, "b", "r") == ({"b": "digest 4"}, [])
    assert nightly.publish(tmp_path, "late", "r") == ({}, [])
    (tmp_path / dvc_publish.PUBLISHED).write_text("{half")  # forgotten: done again, without harm
    assert list(nightly.publish(tmp_path, "b", "r")[0]) == ["b", "a", "c"]


def test_a_remote_that_is_away_is_asked_once(remote, tmp_path):
    tried, meets = remote
    meets["b"] = dvc_publish.PublicationError("dvc push: no route")
    assert nightly.publish(tmp_path, "b", "r") == ({}, ["dvc push: no route"])
    assert tried == ["b"]


def test_a_remote_that_took_all_the_time_of_a_session_gets_none_of_the_next(remote, tmp_path):
    tried, meets = remote
    meets["a"] = LateError("dvc push: no end")
    assert nightly.publish(tmp_path, "b", "r") == ({"b": "digest 1"}, ["dvc push: no end"])
    assert tried == ["b", "a"]


def test_what_took_all_its_time_is_not_tried_again():
    for each in (capture.publish, nightly.fetch):
        worth = each.retry_condition_fn
        assert worth(each, None, Failed(data=dvc_publish.PublicationError("dvc push: no route")))
        assert not worth(each, None, Failed(data=LateError("dvc push: no end")))


def test_a_session_left_over_that_cannot_be_published_holds_up_no_other(remote, tmp_path):
    tried, meets = remote
    meets["a"] = BadInput("data/a", "another session of this name", "the same one, or none")
    done, reasons = nightly.publish(tmp_path, "b", "r")
    assert list(done) == ["b", "c"] and len(reasons) == 1 and "another session" in reasons[0]
    tried.clear()
    with pytest.raises(BadInput, match="another session"):
        nightly.publish(tmp_path, "a", "r")


def test_recordings_that_are_published_and_calibrated_are_those_of_the_checkout(
    tmp_path, monkeypatch
):
    """Called from outside, publishing used to look for data.dvc in the current folder."""
    monkeypatch.chdir(tmp_path)
    asked = []
    monkeypatch.setattr(Dvc, "run", lambda self, *_, **__: asked.append(self.root) or "")
    dvc_publish.pull()
    with pytest.raises(BadInput, match="remote"):
        dvc_publish.publish(tmp_path / "a", remote="nowhere")
    assert set(asked) == {targets.DATA.parent}


@pytest.mark.parametrize("lacking", [False, True])
def test_no_remote_is_asked_for_what_the_cache_holds(tmp_path, monkeypatch, lacking):
    asked = []

    def answer(dvc, *words, **_):
        asked.append(words[0])
        if lacking and words[0] == "checkout" and asked.count("checkout") == 1:
            raise dvc_publish.PublicationError("dvc checkout data.dvc: missing in the cache")
        return "remote.r.url=/r\n" if words[0] == "config" else ""

    monkeypatch.setattr(Dvc, "run", answer)
    dvc_publish.pull(tmp_path)
    assert asked == ["checkout"] + lacking * ["config", "fetch", "checkout"]


@pytest.mark.parametrize("reason", [None, "dvc push: no route"])
def test_the_user_sees_why_not_all_is_published(tmp_path, monkeypatch, reason):
    result = {"session": "s", "state": "recorded", "pairs": {}, "published": None}
    monkeypatch.setattr(nightly, "nightly", lambda **_: result | {"reason": reason})
    monkeypatch.setattr(verbs, "prepare_servers", lambda: None)
    asked, said = call("nightly", tmp_path)
    verbs.nightly(asked)
    assert len(said) == (2 if reason is None else 3)
    assert reason is None or said[1].endswith(reason)
    assert said[-1].startswith("next: ")
