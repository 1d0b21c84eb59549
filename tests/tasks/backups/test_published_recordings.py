"""After a restore DVC finds the recordings, wherever the state is."""

import shutil
import subprocess
import sys

import pytest

from ricochet.flows import cli
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import contents, published_recordings
from ricochet.tasks.storage import free_space
from tests.stores import copied

CONFIG = """[core]
    analytics = false
    no_scm = true
['remote "published"']
    url = ../artifacts/published
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A DVC repository, which is where recordings and settings lie."""
    root = tmp_path / "checkout"
    (root / ".dvc").mkdir(parents=True)
    (root / ".dvc" / "config").write_text(CONFIG)
    monkeypatch.setattr(contents, "workplace", lambda: root)
    return root


def dvc(root, *words):
    command = [sys.executable, "-P", "-m", "ricochet.tasks.recordings.dvc_program", *words]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_what_was_published_can_be_pulled_after_the_originals_are_destroyed(
    checkout, tmp_path, monkeypatch, capsys, migrated_store
):
    state = tmp_path / "state"
    copied(migrated_store, state / "mlflow")
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(state))
    (checkout / "data" / "evening").mkdir(parents=True)
    (checkout / "data" / "evening" / "take.wav").write_text("a bounce")
    assert dvc(checkout, "add", "data").returncode == 0
    assert dvc(checkout, "push", "-r", "published").returncode == 0
    assert cli.main(["backup", str(tmp_path / "monday")]) == 0
    for place in (state, checkout / "data", checkout / "artifacts", checkout / ".dvc" / "cache"):
        shutil.rmtree(place)
    assert cli.main(["restore", str(tmp_path / "monday")]) == 0
    remote = checkout / "artifacts" / "published"
    assert f"{remote}: 2 files of recordings that it lacked" in capsys.readouterr().out
    pulled = dvc(checkout, "pull", "-r", "published")
    assert pulled.returncode == 0, pulled.stderr
    assert (checkout / "data" / "evening" / "take.wav").read_text() == "a bounce"


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A state with a recording, and a remote elsewhere."""
    state, remote = tmp_path / "state", tmp_path / "remote"
    for name in ("ab", "cd"):
        file = state / "published" / "files" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    monkeypatch.setattr(contents, "remote_folder", lambda: remote)
    return state, remote


def test_what_is_there_stays_and_again_nothing_is_copied(kept):
    state, remote = kept
    (remote / "files").mkdir(parents=True)
    (remote / "files" / "ab").write_text("there")
    assert published_recordings.bring_back(state) == (remote, 1)
    assert published_recordings.bring_back(state) == (remote, 0)
    found = {path.name: path.read_text() for path in (remote / "files").iterdir()}
    assert found == {"ab": "there", "cd": "cd"}


@pytest.mark.parametrize("place", ["state/published", None])
def test_a_remote_in_the_state_or_none_is_left_alone(kept, tmp_path, monkeypatch, place):
    there = None if place is None else tmp_path / place
    monkeypatch.setattr(contents, "remote_folder", lambda: there)
    assert published_recordings.bring_back(kept[0]) is None


def test_nothing_is_copied_where_space_is_short(kept, monkeypatch):
    state, remote = kept
    monkeypatch.setattr(published_recordings, "refuse_below", full)
    with pytest.raises(BadInput, match="free"):
        published_recordings.bring_back(state)
    assert not list(remote.rglob("*"))


def full(needed, key, *places):
    free_space.refuse_below(needed + 1e30, key, *places)
