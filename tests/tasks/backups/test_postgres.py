"""A database of PostgreSQL is dumped while it is written, and put back into an empty one."""

import fnmatch
import importlib.util
import os
import pwd
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from mlflow import MlflowClient

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import (
    backup,
    contents,
    held_packages,
    manifests,
    postgres_programs,
    restore,
)
from ricochet.tasks.backups import postgres as dumps
from ricochet.tasks.backups.contents import Stated
from ricochet.tasks.backups.postgres import ACCOUNTS, TABLES, Server
from ricochet.tasks.recordings import dvc_publish
from ricochet.tasks.registry import lab_places, lab_state
from ricochet.tasks.storage import exchange
from tests import postgres
from tests.crash import kill
from tests.flows.harness import wait_for
from tests.servers import free_port

BUSY = """
SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
FOUND = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not FOUND or shutil.which("pg_dump") is None, reason="PostgreSQL is not installed"
    ),
]


@pytest.fixture
def address(tmp_path_factory):
    """The address of a server in a temporary folder, as a user that is not root."""
    programs, port = FOUND[-1].parent, free_port()
    folder = Path("/tmp") / f"ricochet-postgres-{os.getpid()}"
    folder.mkdir(mode=0o700)
    user = {"user": "nobody"} if os.geteuid() == 0 else {}
    if user:
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    run = {**user, "cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    data = str(folder / "data")
    words = ["--auth=trust", "--username=lab", "--no-sync"]
    subprocess.run([programs / "initdb", "-D", data, *words], check=True, **run)
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    control = [programs / "pg_ctl", "-D", data, "-w", "-t", "300"]
    subprocess.run([*control, "-o", options, "-l", folder / "log", "start"], check=True, **run)
    try:
        yield f"postgresql://lab@127.0.0.1:{port}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, **run)
        shutil.rmtree(folder)


def database(address, name, *statements):
    Server(f"{address}/postgres").ask(f"CREATE DATABASE {name}")
    server = Server(f"{address}/{name}")
    for statement in statements:
        server.ask(statement)
    return server


def failing_second(put_back, error):
    """Return what puts a dump back the first time, and fails the second."""
    times = []

    def either(server, dump, **named):
        times.append(dump)
        if len(times) == 2:
            raise error
        return put_back(server, dump, **named)

    return either


def test_mlflows_own_tables_come_back(address, tmp_path, monkeypatch):
    """Runs, versions and aliases of a store that MLflow made, seen by MLflow."""
    pytest.importorskip("psycopg2", reason="psycopg2 is missing")
    state = tmp_path / "state"
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(state))
    monkeypatch.setattr(dvc_publish, "remotes", lambda root: {})
    server = database(address, "registry")
    client = MlflowClient(server.address, registry_uri=server.address)
    run = client.create_run("0", run_name="a ball").info.run_id
    client.set_terminated(run)
    client.create_registered_model("ball")
    client.create_model_version("ball", f"runs:/{run}/package", run_id=run)
    client.set_registered_model_alias("ball", "champion", "1")
    stated = Stated({contents.MLFLOW: server})
    state.mkdir()
    lab_places.take(state, stated.places(state), database=True)
    made = backup.make(tmp_path / "monday", stated=stated)
    assert held_packages.missing(tmp_path / "monday", made) == 1
    assert [made.counts[name] for name in ("runs", "versions", "aliases")] == [1, 1, 1]
    shutil.rmtree(state)
    new = database(address, "anew")
    restore.put_back(tmp_path / "monday", state, stated=Stated({contents.MLFLOW: new}))
    with pytest.raises(BadInput, match="a lab whose registry its servers alone give"):
        lab_state.refuse_marked(state)
    lab_places.refuse_others(state, Stated({contents.MLFLOW: new}).places(state))
    with pytest.raises(BadInput, match="with another `state`"):  # it is a lab of its own
        backup.make(tmp_path / "tuesday", stated=stated)
    again = MlflowClient(new.address, registry_uri=new.address)
    assert again.get_run(run).info.run_name == "a ball"
    assert again.get_model_version_by_alias("ball", "champion").run_id == run


def test_databases_of_postgresql_come_back_and_a_filled_one_is_refused(
    address, tmp_path, monkeypatch
):
    state, kept = tmp_path / "state", tmp_path / "monday"
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(state))
    monkeypatch.setattr(dvc_publish, "remotes", lambda root: {})
    (state / "mlflow" / "artifacts").mkdir(parents=True)
    (state / "mlflow" / "artifacts" / "package").write_text("package")
    accounts = ("CREATE TABLE users (id serial)", "CREATE TABLE role_permissions (id serial)")
    rows = (
        *accounts,
        "CREATE TABLE runs (id int)",
        "INSERT INTO runs SELECT generate_series(1, 1000)",
    )
    servers = {
        contents.MLFLOW: database(address, "mlflow", *rows),
        contents.PREFECT: database(address, "prefect", "CREATE TABLE flow_run (id int)"),
    }
    made = backup.make(kept, stated=Stated(servers))
    assert made.counts == {**dict.fromkeys(made.counts, 0), "runs": 1000}
    assert {*contents.DUMPS.values()} < {*manifests.read(kept).files}
    shutil.rmtree(state)
    with pytest.raises(BadInput, match="3 tables, expected an empty database"):
        restore.put_back(kept, state, stated=Stated(servers))
    with pytest.raises(BadInput, match="--config"):
        restore.put_back(kept, state)
    assert not state.exists()
    new = {
        contents.MLFLOW: database(address, "mlflow2"),
        contents.PREFECT: database(address, "prefect2"),
    }
    with monkeypatch.context() as patched:
        refused = BadInput("prefect", "no connection", "one")
        patched.setattr(Server, "put_back", failing_second(Server.put_back, refused))
        with pytest.raises(BadInput, match="no connection"):
            restore.put_back(kept, state, stated=Stated(new))
    assert [server.ask(TABLES) for server in new.values()] == ["0", "0"] and not state.exists()
    with monkeypatch.context() as patched:
        patched.setattr(exchange, "_put", lambda _: kill.now())
        again = kill.forked(lambda: restore.put_back(kept, state, stated=Stated(new)))
    assert again == -signal.SIGKILL
    wait_for(lambda: all(not server.ask(BUSY) for server in new.values()), seconds=60.0)
    assert [server.ask(TABLES) for server in new.values()] == ["0", "0"] and not state.exists()
    with monkeypatch.context() as patched:
        put = exchange._put
        patched.setattr(exchange, "_put", lambda move: (put(move), kill.now()))
        kill.forked(lambda: restore.put_back(kept, state, stated=Stated(new)))
    wait_for(lambda: all(not server.ask(BUSY) for server in new.values()), seconds=60.0)
    with pytest.raises(BadInput, match="killed as it ended"):
        contents.refuse_unfinished(state)
    with pytest.raises(BadInput, match="killed as it ended"):
        backup.make(tmp_path / "tuesday", stated=Stated(new))
    done = restore.put_back(kept, state, replace=True, stated=Stated(new))
    contents.refuse_unfinished(state)
    assert done.counts == made.counts
    assert new[contents.MLFLOW].ask(TABLES) == "1"
    assert new[contents.MLFLOW].ask("SELECT count(*), sum(id) FROM runs") == "1000|500500"
    assert (state / "mlflow" / "artifacts" / "package").read_text() == "package"


def test_two_databases_are_not_put_back_into_one(address, tmp_path, monkeypatch):
    """The second waited for the first, which waited for it."""
    state = tmp_path / "state"
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(state))
    monkeypatch.setattr(dvc_publish, "remotes", lambda root: {})
    table = "CREATE TABLE alembic_version (id int)"
    both = {
        name: database(address, name[:6], table) for name in (contents.MLFLOW, contents.PREFECT)
    }
    backup.make(tmp_path / "monday", stated=Stated(both))
    shutil.rmtree(state)
    new = database(address, "new")
    again = Stated({contents.MLFLOW: new, contents.PREFECT: new})
    with pytest.raises(BadInput, match=r"prefect_database: found .*/new, the one of MLflow"):
        restore.put_back(tmp_path / "monday", state, stated=again)
    assert new.ask(TABLES) == "0" and not state.exists()


def test_what_is_written_after_the_dump_is_not_counted(address, tmp_path, monkeypatch):
    """Counts were of the database when all files had been copied, minutes later."""
    state, kept = tmp_path / "state", tmp_path / "monday"
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(state))
    monkeypatch.setattr(dvc_publish, "remotes", lambda root: {})
    (state / "mlflow" / "artifacts").mkdir(parents=True)
    (state / "mlflow" / "artifacts" / "package").write_text("package")
    rows = ("CREATE TABLE runs (name text)", "INSERT INTO runs VALUES ('COPY a'), (E'b\\nc'), ('')")
    tables = ("CREATE TABLE runs_of_others (id int)", "INSERT INTO runs_of_others VALUES (1)")
    old, new = database(address, "old", *rows, *tables), database(address, "new")
    made = backup.make(
        kept,
        stated=Stated({contents.MLFLOW: old}),
        progress=lambda *_: old.ask("INSERT INTO runs VALUES ('later')"),
    )
    assert old.count("runs") > 3 and (made.counts["runs"], made.counts["versions"]) == (3, 0)
    shutil.rmtree(state)
    done = restore.put_back(kept, state, stated=Stated({contents.MLFLOW: new}))
    assert done.counts == made.counts


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("linked", [False, True])
def test_the_password_file_stays_where_the_state_it_lies_in_is_replaced(
    tmp_path, monkeypatch, linked, killed
):
    """It was moved aside with the state: a restore that was complete said that it had failed.

    So would the one after a restore that was killed then.
    """
    state = tmp_path / "state"
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(state))
    monkeypatch.setattr(dvc_publish, "remotes", lambda root: {})
    passwords, elsewhere = state / "secrets" / "pgpass", tmp_path / "elsewhere"
    (elsewhere if linked else passwords.parent).mkdir(parents=True, mode=0o700)
    if linked:
        state.mkdir()
        passwords.parent.symlink_to(elsewhere)
    with postgres.running("old", "new") as found:
        with open(os.open(passwords, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(found.pgpass)
        old, new = (Server(found.address(name), passwords) for name in ("old", "new"))
        old.ask("CREATE TABLE runs (id int)")
        old.ask("INSERT INTO runs VALUES (1)")
        kept = tmp_path / "monday"
        made = backup.make(kept, stated=Stated({contents.MLFLOW: old}))
        stated = Stated({contents.MLFLOW: new})
        if killed:
            with monkeypatch.context() as patched:
                doomed = lambda move: (state.rename(move.aside), kill.now())  # noqa: E731
                patched.setattr(exchange, "_put", doomed)
                kill.forked(lambda: restore.put_back(kept, state, replace=True, stated=stated))
            assert not state.exists()
        done = restore.put_back(kept, state, replace=True, stated=stated)
    assert done.counts == made.counts and done.counts["runs"] == 1
    assert passwords.read_text() == (done.aside / "secrets" / "pgpass").read_text()
    assert [path.stat().st_mode & 0o777 for path in (passwords, passwords.parent)] == [0o600, 0o700]


def test_the_tables_of_accounts_are_those_of_mlflow():
    """By its migrations, without importing its server."""
    root = Path(importlib.util.find_spec("mlflow").origin).parent / "server" / "auth" / "db"
    made = re.compile(r'op\.create_table\(\s*"(\w+)"')
    names = {
        name
        for path in (root / "migrations" / "versions").glob("*.py")
        for name in made.findall(path.read_text())
    }
    assert {"users", "roles"} < names
    assert all(any(fnmatch.fnmatch(name, each) for each in ACCOUNTS) for name in names)


def test_a_dump_that_cannot_be_put_back_is_said_in_a_line(address, tmp_path):
    whole = database(address, "whole", "CREATE TABLE a (id int)", "INSERT INTO a VALUES (1)")
    whole.dump(tmp_path / "dump")
    with (
        pytest.raises(BadInput, match='relation "a" already exists'),
        whole.put_back(tmp_path / "dump"),
    ):
        pass
    assert whole.ask("SELECT count(*) FROM a") == "1"
    (tmp_path / "dump").write_bytes((tmp_path / "dump").read_bytes()[:-500])
    other = database(address, "other")
    with pytest.raises(BadInput, match="pg_restore"), other.put_back(tmp_path / "dump"):
        pass
    assert other.ask(TABLES) == "0"


PLAIN = r"""#!/bin/sh
[ "$1" = --version ] && exec {real} --version
{real} "$@" | sed 's/^COPY public.a .*/COMMIT;\n&/'
"""


def test_a_dump_that_commits_is_said(address, tmp_path, monkeypatch):
    whole = database(address, "whole", "CREATE TABLE a (id int)", "INSERT INTO a VALUES (1)")
    whole.dump(tmp_path / "dump")
    program = tmp_path / "pg_restore"
    program.write_text(PLAIN.format(real=shutil.which("pg_restore")))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    other = database(address, "other")
    with (
        pytest.raises(BadInput, match="found a dump that has committed"),
        other.put_back(tmp_path / "dump"),
    ):
        pytest.fail("it was taken for filled")


def test_what_the_server_says_is_one_line_and_no_backup_is_left(address, tmp_path, monkeypatch):
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "state"))
    monkeypatch.setattr(dvc_publish, "remotes", lambda root: {})
    absent = {contents.MLFLOW: Server(f"{address}/absent")}
    with pytest.raises(BadInput, match='database "absent" does not exist'):
        backup.make(tmp_path / "monday", stated=Stated(absent))
    assert not (tmp_path / "monday").exists()


NO_TABLES = {
    "a view": ("CREATE VIEW runs AS SELECT 1 AS id FROM pg_sleep(1000)",),
    "a view elsewhere": ("CREATE SCHEMA other", "CREATE VIEW other.runs AS SELECT 1 AS id"),
    "a table with a policy": (
        "CREATE TABLE runs (id int)",
        "ALTER TABLE runs ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY slow ON runs USING (pg_sleep(1000) IS NULL)",
    ),
}


@pytest.mark.parametrize("how", NO_TABLES)
def test_what_is_counted_is_a_table_or_nothing_is_restored(address, tmp_path, monkeypatch, how):
    """Counting the rows of a view took hours, or gigabytes, when all was in place."""
    state, kept = tmp_path / "state", tmp_path / "monday"
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(state))
    monkeypatch.setattr(dvc_publish, "remotes", lambda root: {})
    old, new = database(address, "old", *NO_TABLES[how]), database(address, "new")
    assert backup.make(kept, stated=Stated({contents.MLFLOW: old})).counts["runs"] == 0
    shutil.rmtree(state)
    with pytest.raises(BadInput, match="found no plain table: runs"):
        restore.put_back(kept, state, stated=Stated({contents.MLFLOW: new}))
    assert new.ask(TABLES) == "0" and not state.exists()


def test_a_query_is_given_up_and_brings_no_notices(address, monkeypatch):
    monkeypatch.setattr(dumps, "BOUNDED", (dumps.BOUNDED[0], "statement_timeout = '0.2s'"))
    with pytest.raises(BadInput, match="due to statement timeout"):
        Server(f"{address}/postgres").ask("SELECT pg_sleep(100)")
    loud = "DO $$ BEGIN RAISE NOTICE '%', repeat('x', 1000000); END $$"
    assert Server(f"{address}/postgres").ask(loud) == ""


def test_a_dump_of_one_long_statement_is_refused_and_one_of_a_long_row_is_not(
    address, tmp_path, monkeypatch
):
    """psql holds a statement whole, several times, and a row in pieces."""
    monkeypatch.setattr(postgres_programs, "MEMORY", 2**28)
    rows = ("CREATE TABLE runs (id text)", "INSERT INTO runs VALUES (repeat('x', 100000000))")
    old, new = database(address, "old", *rows), database(address, "new")
    file = f"--file={tmp_path / 'statement'}"
    old._run("pg_dump", "--inserts", "--format=custom", "--no-owner", file)
    with pytest.raises(BadInput, match="memory"), new.put_back(tmp_path / "statement"):
        pytest.fail("it was taken for filled")
    assert new.ask(TABLES) == "0"
    old.dump(tmp_path / "row")
    with new.put_back(tmp_path / "row"):
        pass
    assert new.ask("SELECT length(id) FROM runs") == "100000000"
