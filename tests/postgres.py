"""A real PostgreSQL of a test's own: Debian's programs, on a free port of loopback."""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.flows.harness import wait_for
from tests.servers import free_port

NOBODY = 65534
PLACES = (*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/bin"))


@dataclass(frozen=True)
class Postgres:
    """A server that asks for a password.

    Attributes:
        pgpass: The line by which libpq finds the password.
    """

    port: int
    user: str
    password: str

    @property
    def pgpass(self):
        return f"127.0.0.1:{self.port}:*:{self.user}:{self.password}\n"

    def address(self, name):
        return f"postgresql://{self.user}@127.0.0.1:{self.port}/{name}"

    def execute(self, statement, *, name="postgres"):
        """Run a statement and return its rows."""
        import psycopg2

        words = {"host": "127.0.0.1", "port": self.port, "user": self.user, "dbname": name}
        with contextlib.closing(psycopg2.connect(password=self.password, **words)) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else []


@contextlib.contextmanager
def running(*names):
    """Run a server with some databases; skip the test where there is no PostgreSQL."""
    pytest.importorskip("psycopg2", reason="psycopg2 is missing")
    places = [place for place in PLACES if (place / "initdb").exists()]
    if not places:
        pytest.skip("no PostgreSQL on this machine (apt-get install postgresql)")
    found = Postgres(free_port(), "ricochet", secrets.token_hex(12))
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="ricochet-postgres-"))
    try:
        with _server(places[0], folder, found):
            for name in names:
                found.execute(f"CREATE DATABASE {name}")
            yield found
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def _server(programs, folder, found):
    user = NOBODY if os.geteuid() == 0 else None  # it refuses root
    (folder / "password").write_text(found.password)
    if user is not None:
        os.chown(folder, user, user)
        os.chown(folder / "password", user, user)
    how = {"user": user, "group": user, "extra_groups": [] if user else None, "cwd": folder}
    make = [programs / "initdb", "-D", folder / "data", "-U", found.user, "-E", "UTF8"]
    make += ["--auth=scram-sha-256", f"--pwfile={folder / 'password'}", "--no-sync", "--no-locale"]
    subprocess.run(make, check=True, capture_output=True, **how)
    serve = [programs / "postgres", "-D", folder / "data", "-p", str(found.port), "-k", folder]
    serve += ["-h", "127.0.0.1", "-c", "fsync=off"]
    process = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)
    try:
        wait_for(lambda: _answers(found), seconds=60)
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def _answers(found):
    import psycopg2

    try:
        return found.execute("SELECT 1")
    except psycopg2.OperationalError:
        return None
