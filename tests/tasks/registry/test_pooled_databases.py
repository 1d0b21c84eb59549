"""A lab whose databases are behind PgBouncer, set as `docs/lab.md` says."""

import contextlib
import os
import shutil
import subprocess

import pytest

from ricochet.tasks.registry.lab_databases import Database
from ricochet.tasks.registry.lab_notes import Note
from tests import postgres
from tests.flows.harness import wait_for
from tests.servers import free_port

SETTINGS = """[databases]
* = host=127.0.0.1 port={server.port}
[pgbouncer]
listen_port = {port}
unix_socket_dir = {folder}
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = session
{more}
"""


@contextlib.contextmanager
def pooled(server, more):
    """Run a pool in front of a server; yield the address of a database."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("no PgBouncer on this machine (apt-get install pgbouncer)")
    port, folder = free_port(), server.folder / f"pool-{len(more)}"
    folder.mkdir()
    (folder / "users").write_text(f'"{server.user}" "{server.password}"\n')
    settings = SETTINGS.format(server=server, port=port, folder=folder, more=more)
    (folder / "settings").write_text(settings)
    shutil.chown(folder, "postgres" if os.geteuid() == 0 else os.geteuid())
    who = ["-u", "postgres"] if os.geteuid() == 0 else []  # it refuses root
    process = subprocess.Popen([program, "-q", *who, folder / "settings"])
    try:
        wait_for(lambda: any(folder.glob(".s.PGSQL.*")), seconds=30)
        passwords = folder / "pgpass"
        passwords.write_text(f"*:{port}:*:{server.user}:{server.password}\n")
        passwords.chmod(0o600)
        address = f"postgresql://{server.user}@:{port}/mlflow?host={folder}"
        yield Database(address, passwords)
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", "ignore_startup_parameters = options"])
def test_a_database_is_looked_at_and_noted_through_a_pool(more):
    note = Note("ab12", "/lab's", 3)
    with postgres.running("mlflow") as server, pooled(server, more) as database:
        assert database.look().note is None
        database.note(note, before=None)
        assert database.look().note == note
