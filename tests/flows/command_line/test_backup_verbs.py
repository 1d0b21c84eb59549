"""backup and restore as called from a terminal: lines, JSON and exit status."""

import contextlib
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from ricochet.flows import cli
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import restore
from ricochet.tasks.backups.contents import Stated
from ricochet.tasks.recordings import dvc_publish
from ricochet.tasks.registry import lab_state, runs
from ricochet.tasks.storage import exchange, process_ids
from tests.crash import kill
from tests.stores import copied


@pytest.fixture
def state(tmp_path, monkeypatch, migrated_store):
    """The outputs of a lab with one run."""
    place = tmp_path / "artifacts"
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(place))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setattr(lab_state, "workplace", lambda: tmp_path)
    monkeypatch.setattr(dvc_publish, "remotes", lambda root: {})
    monkeypatch.setattr(dvc_publish, "awaits_commit", lambda root=None: True)
    copied(migrated_store, place / "mlflow")
    tracker = runs.connect()
    runs.finish(tracker, runs.open_run(tracker, "calibrate", "1", name="a", tags={}).run_id)
    return place


def test_a_backup_is_made_and_put_back_and_says_what_it_is(state, tmp_path, capsys):
    kept = tmp_path / "monday"
    assert cli.main(["backup", str(kept)]) == 0
    said = capsys.readouterr().out
    assert "1 runs, 0 versions, 0 aliases, 0 flow runs, 0 promotions" in said
    assert "data.dvc has changed, to be committed by hand" in said
    shutil.rmtree(state)
    assert cli.main(["restore", str(kept), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["schema"] == "ricochet.restored/1" and result["counts"]["runs"] == 1
    assert result["state"] == str(state) and result["aside"] is None
    (run,) = runs.connect().client.search_runs(["1"])
    assert run.info.run_name == "a"
    assert (state / "checkout" / "params.yaml").is_file()
    assert cli.main(["restore", str(kept)]) == 2
    assert "--replace" in capsys.readouterr().err


def test_a_restore_says_where_it_counts_otherwise_than_the_backup(state, tmp_path, capsys):
    kept = tmp_path / "monday"
    assert cli.main(["backup", str(kept)]) == 0
    manifest = json.loads((kept / "backup.json").read_text())
    manifest["counts"] |= {"runs": 33, "others": 1}
    (kept / "backup.json").write_text(json.dumps(manifest))
    assert cli.main(["restore", str(kept), "--replace"]) == 0
    assert "runs: 1, though the backup says 33" in (said := capsys.readouterr().out)
    assert said.count("though") == 1
    assert cli.main(["restore", str(kept), "--replace", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["runs"] == 1


def test_a_restore_that_was_killed_while_it_renamed_is_said_and_done_again(
    state, tmp_path, monkeypatch, capsys
):
    """The registry was said to be empty, and a new store was made in its place."""
    kept = str(tmp_path / "monday")
    assert cli.main(["backup", kept]) == 0
    with monkeypatch.context() as patched:
        patched.setattr(exchange, "_put", lambda move: (state.rename(move.aside), kill.now()))
        kill.forked(lambda: restore.put_back(tmp_path / "monday", state, replace=True))
    left, (aside,) = exchange.staged(state), tmp_path.glob("artifacts.before-*")
    out = ["--out", str(tmp_path / "out")]
    words = [[each, *out] for each in ("list", "doctor", "simulate")]
    for verb in (*words, ["backup", str(tmp_path / "tuesday")]):
        assert cli.main(verb) == 2
        assert f"restore` again, or {aside} as {state} and no {left}" in said(capsys)
    with pytest.raises(BadInput, match="killed before its end"):
        runs.connect()
    assert not state.exists()
    assert cli.main(["restore", kept, "--replace"]) == 0
    assert f"what was there before is now {tmp_path}/artifacts.before-" in capsys.readouterr().out
    assert len(runs.connect().client.search_runs(["1"])) == 1 and not left.exists()


def killed_between(state, kept, monkeypatch):
    """Be killed when the state is aside; returns where."""
    with monkeypatch.context() as patched:
        patched.setattr(exchange, "_put", lambda move: (state.rename(move.aside), kill.now()))
        kill.forked(lambda: restore.put_back(kept, state, replace=True))
    (aside,) = state.parent.glob("artifacts.before-*")
    return aside


def test_what_is_written_in_the_place_after_a_kill_hides_no_state(
    state, tmp_path, monkeypatch, capsys
):
    """The next restore forgot where the state was: the registry was said to be empty, status 0."""
    kept = tmp_path / "monday"
    assert cli.main(["backup", str(kept)]) == 0
    aside = killed_between(state, kept, monkeypatch)
    state.mkdir()
    (state / "result.json").write_text("{}")
    for words in (["restore", str(kept)], ["restore", str(kept), "--replace"]):
        assert cli.main(words) == 2
        assert f"{state}: found something that is there since" in (line := said(capsys))
        assert f"the same `ricochet restore` again, which renames {aside} back first" in line
        for verb in (["list"], ["doctor"]):
            assert cli.main(verb) == 2
            assert f"{aside} as {state}" in said(capsys)
    state.rename(tmp_path / "elsewhere")
    assert cli.main(["restore", str(kept), "--replace"]) == 0
    assert len(runs.connect().client.search_runs(["1"])) == 1


def test_what_a_killed_restore_had_put_in_place_is_named(state, tmp_path, monkeypatch, capsys):
    kept, packages, put = tmp_path / "monday", tmp_path / "packages", exchange._put
    lab = tmp_path / "lab.yaml"
    lab.write_text(f"state: {state}\nartifact_store: {packages}\nlogin: false\n")
    packages.mkdir()
    words = [str(kept), "--config", str(lab)]
    assert cli.main(["backup", *words]) == 0
    with monkeypatch.context() as patched:
        patched.setattr(exchange, "_put", lambda move: (put(move), kill.now()))
        stated = Stated(packages=packages)
        kill.forked(lambda: restore.put_back(kept, state, replace=True, stated=stated))
    (packages / "mine").write_text("mine")
    capsys.readouterr()
    assert cli.main(["restore", *words, "--replace", "--json"]) == 0
    (named,) = (each for each in tmp_path.glob("packages.before-*") if (each / "mine").exists())
    answer = capsys.readouterr()
    assert f"had put in place is now {named}\n" in answer.err
    assert str(named) in json.loads(answer.out)["undone"]


def test_a_note_of_a_restore_that_cannot_be_read_is_a_line(state, tmp_path, monkeypatch, capsys):
    kept = tmp_path / "monday"
    assert cli.main(["backup", str(kept)]) == 0
    aside = killed_between(state, kept, monkeypatch)
    (exchange.staged(state) / exchange.NOTED).write_text("{}")
    for words in (["list"], ["doctor"], ["restore", str(kept), "--replace"]):
        assert cli.main(words) == 2
        assert (
            f"whose note cannot be read, expected by hand what was there (it may be {aside})"
            in (said(capsys))
        )
    assert not state.exists()


def test_a_lab_s_state_is_one_again_after_a_restore(state, tmp_path, capsys):
    lab_state.write(state, lab_state.Mark(database=False))
    lab, kept = tmp_path / "lab.yaml", str(tmp_path / "monday")
    lab.write_text(f"state: {state}\nlogin: false\n")
    assert cli.main(["backup", kept]) == 2
    assert "a lab whose registry its servers alone give, expected `--config`" in said(capsys)
    assert cli.main(["backup", kept, "--config", str(lab)]) == 0
    assert cli.main(["restore", kept, "--state", str(tmp_path / "new")]) == 0
    place = f"RICOCHET_ARTIFACTS={tmp_path / 'new'}"
    assert f"next: {place} ricochet up --config FILE" in capsys.readouterr().out
    with pytest.raises(BadInput, match="a lab whose registry its servers alone give"):
        lab_state.refuse_without_servers(tmp_path / "new")
    assert cli.main(["restore", kept, "--replace"]) == 2
    assert "a backup of a lab, expected `--config` with its file" in said(capsys)
    assert cli.main(["restore", kept, "--replace", "--config", str(lab)]) == 0
    assert f"next: ricochet up --config {lab}" in capsys.readouterr().out


def test_sessions_that_wait_where_nights_record_are_in_a_lab_s_backup(state, tmp_path, capsys):
    """A lab's state may be apart from that."""
    lab, apart, session = tmp_path / "lab.yaml", tmp_path / "state", Path("nightly", "evening")
    state.rename(apart)
    lab_state.write(apart, lab_state.Mark(database=False))
    lab.write_text(f"state: {apart}\nlogin: false\n")
    (state / session).mkdir(parents=True)
    (state / session / "session.json").write_text("{}")
    monday, tuesday = tmp_path / "monday", tmp_path / "tuesday"
    assert cli.main(["backup", str(monday), "--config", str(lab)]) == 0
    assert (monday / session / "session.json").is_file()
    assert cli.main(["restore", str(monday), "--config", str(lab), "--replace"]) == 0
    assert cli.main(["backup", str(tuesday), "--config", str(lab)]) == 0
    (state / session / "session.json").write_text('{"another": 1}')
    assert cli.main(["backup", str(tmp_path / "friday"), "--config", str(lab)]) == 2
    assert "of the same id, expected one of the two moved away" in said(capsys)
    assert not (tmp_path / "friday").exists()


def test_no_home_of_prefect_has_a_backup_leave_its_database_out(
    state, tmp_path, monkeypatch, capsys
):
    home, lab = tmp_path / "home", tmp_path / "lab.yaml"
    lab.write_text(f"state: {state}\nlogin: false\n")
    for place in (state / "prefect", home):
        place.mkdir()
        with contextlib.closing(sqlite3.connect(place / "prefect.db")) as database:
            database.execute("CREATE TABLE flow_run (id)")
            database.executemany("INSERT INTO flow_run VALUES (?)", [(1,), (2,)])
            database.commit()
    monkeypatch.setenv("PREFECT_HOME", str(home))
    assert cli.main(["backup", str(tmp_path / "monday")]) == 2
    assert "another database of Prefect than" in said(capsys)
    assert cli.main(["backup", str(tmp_path / "monday"), "--config", str(lab)]) == 0
    assert "2 flow runs" in capsys.readouterr().out
    monkeypatch.setenv("PREFECT_HOME", str(home))
    (state / "prefect" / "prefect.db").unlink()
    assert cli.main(["backup", str(tmp_path / "tuesday")]) == 0


def test_a_backup_says_of_how_many_versions_it_has_no_package(state, tmp_path, capsys):
    """It was called one of two versions."""
    client, monday = runs.connect().client, tmp_path / "monday"
    (run,) = client.search_runs(["1"])
    client.create_registered_model("ball-table")
    for place in ("package", "gone", "gone"):
        source = f"runs:/{run.info.run_id}/{place}"
        client.create_model_version("ball-table", source, run_id=run.info.run_id)
    client.delete_model_version("ball-table", "3")
    client.log_text(run.info.run_id, "{}", "package/posterior.json")
    with pytest.raises(SystemExit) as ended:
        cli.main(["backup", str(monday), "--json"])
    answer = capsys.readouterr()
    assert ended.value.code == 1 and json.loads(answer.out)["without_package"] == 1
    assert "not complete: 1 of 3 versions without their packages" in answer.err
    client.log_text(run.info.run_id, "{}", "gone/posterior.json")
    assert cli.main(["backup", str(tmp_path / "tuesday"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["without_package"] == 0


def said(capsys):
    return capsys.readouterr().err.splitlines()[-1]


def test_nothing_is_restored_under_servers_that_run(state, tmp_path, capsys):
    assert cli.main(["backup", str(tmp_path / "monday")]) == 0
    ledger = {"process": process_ids.name_of(os.getpid())}
    (state / "servers.json").write_text(json.dumps(ledger))
    assert cli.main(["restore", str(tmp_path / "monday"), "--replace"]) == 2
    assert "stop `ricochet up` first" in capsys.readouterr().err
    assert (state / "servers.json").exists()


def test_what_a_running_lab_keeps_apart_is_not_replaced_from_elsewhere(state, tmp_path, capsys):
    """Its packages, or its databases, which a restore to another state would put back too."""
    (tmp_path / "packages").mkdir()
    lab = tmp_path / "lab.yaml"
    lab.write_text(f"state: {state}\nartifact_store: {tmp_path / 'packages'}\nlogin: false\n")
    assert cli.main(["backup", str(tmp_path / "monday"), "--config", str(lab)]) == 0
    ledger = {"process": process_ids.name_of(os.getpid())}
    (state / "servers.json").write_text(json.dumps(ledger))
    words = ["restore", str(tmp_path / "monday"), "--config", str(lab)]
    assert cli.main([*words, "--state", str(tmp_path / "tried"), "--replace"]) == 2
    assert "stop `ricochet up` first" in capsys.readouterr().err
    assert not (tmp_path / "tried").exists()


def test_without_a_store_there_is_nothing_to_back_up(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "none"))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert cli.main(["backup", str(tmp_path / "monday")]) == 2
    assert "no database of MLflow" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
