"""Without its servers nothing stands for a lab's registry that is in a database."""

import os
import subprocess
import sys

import pytest

from ricochet.flows.servers import lab_state
from ricochet.flows.servers.lab import Lab
from ricochet.models.core.bad_input import BadInput

LAB = {"mlflow_database": "postgresql:///mlflow", "prefect_database": "postgresql:///prefect"}


def test_what_a_lab_marked_no_plain_servers_take(tmp_path):
    lab_state.mark(Lab(state=tmp_path))
    assert not any(tmp_path.iterdir())
    lab_state.mark(Lab(state=tmp_path, **LAB))
    lab_state.mark(Lab(state=tmp_path, **LAB))
    with pytest.raises(
        BadInput, match="a lab whose registry is in a database, expected `--config`"
    ):
        lab_state.mark(Lab(state=tmp_path))
    (tmp_path / lab_state.MARK).unlink()
    lab_state.mark(Lab(state=tmp_path))


def test_where_the_registry_is_named_verbs_go_on(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    lab_state.refuse_without_servers(tmp_path)
    lab_state.mark(Lab(state=tmp_path, **LAB))
    with pytest.raises(BadInput, match="no servers of it, expected `ricochet up --config FILE`"):
        lab_state.refuse_without_servers(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    lab_state.refuse_without_servers(tmp_path)


@pytest.fixture
def state(tmp_path):
    """A lab's state, without servers."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    lab_state.mark(Lab(state=state, **LAB))
    return state


def verb(state, *words):
    """Call a verb there."""
    unset = ("MLFLOW_TRACKING_URI", "PREFECT_API_URL")
    environment = {key: text for key, text in os.environ.items() if key not in unset}
    return subprocess.run(
        [sys.executable, "-m", "ricochet.flows.cli", *words],
        env={**environment, "RICOCHET_ARTIFACTS": str(state)},
        cwd=state.parent,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("words", [["list", "--json"], ["show", "ball-table"], ["doctor"]])
def test_verbs_say_so_in_a_line_and_make_no_store(tmp_path, state, words):
    done = verb(state, *words)
    assert done.returncode == 2, done.stderr
    assert "a lab whose registry is in a database, and no servers of it" in done.stderr
    assert "empty" not in done.stdout + done.stderr
    assert not list(tmp_path.rglob("mlflow.db"))


def test_who_records_does_so_without_servers(tmp_path, state):
    small = ["--set", "capture.drops=1", "--session", "evening", "--no-publish"]
    done = verb(state, "capture", *small, "--out", str(tmp_path / "recorded"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "recorded" / "evening" / "session.json").is_file()
