"""A note of DVC's that a loss of power damaged stops no publication."""

import contextlib
import json
import os
import subprocess
import sys

import pytest

from ricochet.tasks.recordings import dvc_notes

COMMAND = {"pid": 1, "cmd": "dvc add"}


@pytest.fixture
def rwlock(monkeypatch):
    """The module of DVC's that keeps its note, settled."""
    found = pytest.importorskip("dvc.rwlock", reason="dvc is missing")
    monkeypatch.setattr(found, "json", json)
    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)  # which is a thread
    dvc_notes.settle_notes()
    return found


@pytest.mark.parametrize("left", ["", "{", "\0" * 40, json.dumps({"read": {"a": [COMMAND]}})])
def test_a_damaged_note_names_no_command_and_a_whole_one_those_it_names(tmp_path, rwlock, left):
    (tmp_path / "rwlock").write_text(left)
    with rwlock._edit_rwlock(str(tmp_path), rwlock.localfs, False) as found:
        assert found["read"] == ({"a": [COMMAND]} if "cmd" in left else {})
        found["write"]["b"] = COMMAND
    assert json.loads((tmp_path / "rwlock").read_text())["write"] == {"b": COMMAND}


@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_command_that_was_killed_keeps_none_from_its_files(tmp_path, rwlock, kind):
    """Its note was read, and what reads it had no such function: every publication failed."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    killed = {"pid": ended.pid, "cmd": "dvc add"}
    note = {kind: {"data": [killed] if kind == "read" else killed}}
    (tmp_path / "rwlock").write_text(json.dumps(note))
    with rwlock.rwlock(str(tmp_path), rwlock.localfs, "dvc add", [], ["data"], False):
        written = json.loads((tmp_path / "rwlock").read_text())
        assert written["write"]["data"]["pid"] == os.getpid()
        assert not written.get("read")


@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize("later", [True, False])
def test_a_process_that_has_the_number_of_one_that_was_killed_keeps_none(
    tmp_path, rwlock, kind, later
):
    """As after a start of the machine, or in a container: data were busy for ever."""
    from dvc.lock import LockError

    other = {"pid": os.getppid(), "cmd": "dvc add"}
    note = tmp_path / "rwlock"
    note.write_text(json.dumps({kind: {"data": [other] if kind == "read" else other}}))
    if later:
        os.utime(note, (0.0, 0.0))
    expected = contextlib.nullcontext() if later else pytest.raises(LockError, match="is busy")
    with expected, rwlock.rwlock(str(tmp_path), rwlock.localfs, "dvc add", [], ["data"], False):
        assert json.loads(note.read_text())["write"]["data"]["pid"] == os.getpid()
