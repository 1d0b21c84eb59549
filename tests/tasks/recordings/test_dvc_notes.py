"""A note of DVC's that a loss of power damaged stops no publication."""

import json

import pytest

from ricochet.tasks.recordings import dvc_notes

COMMAND = {"pid": 1, "cmd": "dvc add"}


@pytest.mark.parametrize("left", ["", "{", "\0" * 40, json.dumps({"read": {"a": [COMMAND]}})])
def test_a_damaged_note_names_no_command_and_a_whole_one_those_it_names(
    tmp_path, monkeypatch, left
):
    rwlock = pytest.importorskip("dvc.rwlock", reason="dvc is missing")
    monkeypatch.setattr(rwlock, "json", json)
    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)  # which is a thread
    dvc_notes.settle_notes()
    (tmp_path / "rwlock").write_text(left)
    with rwlock._edit_rwlock(str(tmp_path), rwlock.localfs, False) as found:
        assert found["read"] == ({"a": [COMMAND]} if "cmd" in left else {})
        found["write"]["b"] = COMMAND
    assert json.loads((tmp_path / "rwlock").read_text())["write"] == {"b": COMMAND}
