"""Without its servers nothing stands for a lab's registry that is in a database."""

import os
import shutil
import subprocess
import sys

import pytest
from mlflow import MlflowClient

from ricochet.flows.servers import up
from ricochet.flows.servers.lab import Lab
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import contents
from ricochet.tasks.registry import lab_state, runs
from ricochet.tasks.storage import provenance


def test_what_a_lab_marked_no_plain_servers_take(tmp_path):
    lab_state.refuse_marked(tmp_path)
    lab_state.write(tmp_path, lab_state.Mark(database=True))
    lab_state.write(tmp_path, lab_state.Mark(database=True))
    with pytest.raises(
        BadInput, match="a lab whose registry its servers alone give, expected `--config`"
    ):
        lab_state.refuse_marked(tmp_path)
    (tmp_path / lab_state.MARK).unlink()
    lab_state.refuse_marked(tmp_path)


def test_a_store_that_was_filled_without_a_lab_s_servers_none_takes(tmp_path, migrated_store):
    place = tmp_path / "mlflow"
    place.mkdir()
    lab_state.refuse_another_registry(tmp_path, database=False)
    (place / "mlflow.db").write_bytes(b"no database")
    lab_state.refuse_another_registry(tmp_path, database=False)
    shutil.copy(migrated_store, place / "mlflow.db")
    lab_state.refuse_another_registry(tmp_path, database=False)
    client = MlflowClient(f"sqlite:///{place / 'mlflow.db'}")
    client.create_experiment("calibrate", artifact_location=str(place / "artifacts"))
    with pytest.raises(BadInput, match="a registry made without a lab's servers"):
        lab_state.refuse_another_registry(tmp_path, database=False)
    with pytest.raises(BadInput, match="a registry that the lab's servers would not read"):
        lab_state.refuse_another_registry(tmp_path, database=True)
    lab_state.write(tmp_path, lab_state.Mark(database=False))
    lab_state.refuse_another_registry(tmp_path, database=False)
    with pytest.raises(BadInput, match="a registry that the lab's servers would not read"):
        lab_state.refuse_another_registry(tmp_path, database=True)


def test_a_registry_in_a_database_is_forgotten_by_no_file_of_a_lab(tmp_path):
    lab_state.write(tmp_path, lab_state.Mark(database=True))
    lab_state.refuse_another_registry(tmp_path, database=True)
    with pytest.raises(BadInput, match="registry is in a database, expected a file that names it"):
        lab_state.refuse_another_registry(tmp_path, database=False)


def test_a_state_that_is_not_where_verbs_look_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv(provenance.ARTIFACTS, str(tmp_path / "outputs"))
    lab_state.refuse_elsewhere(tmp_path / "outputs")
    with pytest.raises(BadInput, match=f"where verbs look, or RICOCHET_ARTIFACTS={tmp_path}/state"):
        lab_state.refuse_elsewhere(tmp_path / "state")
    request = up.Request(Lab(state=tmp_path / "state"), shared=True)
    with pytest.raises(BadInput, match="where verbs look"):
        up.up(request, report_line=pytest.fail)
    assert not (tmp_path / "state").exists()


def test_neither_a_program_nor_a_backup_takes_another_store_for_a_lab_s(state, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv(provenance.ARTIFACTS, str(state))
    runs.connect(store=state.parent / "own")
    for empty in (False, True):
        if empty:
            monkeypatch.setenv("MLFLOW_TRACKING_URI", "")
        with pytest.raises(BadInput, match="a lab whose registry its servers alone give"):
            runs.connect()
    assert not (state / "mlflow").exists()
    shutil.copytree(state.parent / "own", state / "mlflow")
    with pytest.raises(BadInput, match="registry its servers alone give, expected `--config`"):
        contents.find()
    with pytest.raises(BadInput, match="registry is in a database, expected a file that names it"):
        contents.find(contents.Stated())
    lab_state.write(state, lab_state.Mark(database=False))
    assert contents.MLFLOW in contents.find(contents.Stated()).databases


def test_where_the_registry_is_named_verbs_go_on(tmp_path, monkeypatch):
    for name in ("MLFLOW_TRACKING_URI", "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)
    lab_state.refuse_without_servers(tmp_path)
    lab_state.write(tmp_path, lab_state.Mark(database=True))
    with pytest.raises(BadInput, match="no servers of it, expected `ricochet up --config FILE`"):
        lab_state.refuse_without_servers(tmp_path)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:4200/api")
    with pytest.raises(BadInput, match="expected MLFLOW_TRACKING_URI beside PREFECT_API_URL"):
        lab_state.refuse_without_servers(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    lab_state.refuse_without_servers(tmp_path)


@pytest.fixture
def state(tmp_path):
    """A lab's state, without servers."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    lab_state.write(state, lab_state.Mark(database=True))
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
    assert "a lab whose registry its servers alone give, and no servers of it" in done.stderr
    assert "empty" not in done.stdout + done.stderr
    assert not list(tmp_path.rglob("mlflow.db"))


def test_who_records_does_so_without_servers(tmp_path, state):
    small = ["--set", "capture.drops=1", "--session", "evening", "--no-publish"]
    done = verb(state, "capture", *small, "--out", str(tmp_path / "recorded"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "recorded" / "evening" / "session.json").is_file()
