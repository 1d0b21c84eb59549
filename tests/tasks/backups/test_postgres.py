"""A database of PostgreSQL is dumped while it is written, and put back into an empty one."""

import fnmatch
import importlib.util
import os
import pwd
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import backup, contents, manifests, restore
from ricochet.tasks.backups.contents import Stated
from ricochet.tasks.backups.postgres import ACCOUNTS, TABLES, Server
from ricochet.tasks.recordings import dvc_publish
from tests.servers import free_port

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
    backup.make(kept, stated=Stated(servers))
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
    restore.put_back(kept, state, stated=Stated(new))
    assert new[contents.MLFLOW].ask(TABLES) == "1"
    assert new[contents.MLFLOW].ask("SELECT count(*), sum(id) FROM runs") == "1000|500500"
    assert (state / "mlflow" / "artifacts" / "package").read_text() == "package"


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


def test_what_the_server_says_is_one_line_and_no_backup_is_left(address, tmp_path, monkeypatch):
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "state"))
    monkeypatch.setattr(dvc_publish, "remotes", lambda root: {})
    absent = {contents.MLFLOW: Server(f"{address}/absent")}
    with pytest.raises(BadInput, match='database "absent" does not exist'):
        backup.make(tmp_path / "monday", stated=Stated(absent))
    assert not (tmp_path / "monday").exists()
