"""A real PostgreSQL of a test's own: Debian's programs, by a socket of its own and on loopback."""

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from ricochet.tasks.cluster import certificates
from tests.flows.harness import wait_for
from tests.servers import free_port

PLACES = (*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/bin"))


@dataclass(frozen=True)
class Postgres:
    """A server that asks for a password.

    Attributes:
        folder: The folder of its socket.
        pgpass: The line by which libpq finds the password.
    """

    folder: Path
    port: int
    user: str
    password: str

    @property
    def pgpass(self):
        return f"*:{self.port}:*:{self.user}:{self.password}\n"

    def address(self, name):
        return f"postgresql://{self.user}@:{self.port}/{name}?host={self.folder}"

    def execute(self, statement, *, name="postgres"):
        """Run a statement and return its rows."""
        import psycopg2

        words = {"host": str(self.folder), "port": self.port, "user": self.user, "dbname": name}
        with contextlib.closing(psycopg2.connect(password=self.password, **words)) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else []


@contextlib.contextmanager
def running(*names, certificate=None):
    """Run a server with some databases; skip the test where there is no PostgreSQL.

    Args:
        certificate: A folder of `tasks.cluster.certificates`, with which it encrypts on loopback.
    """
    pytest.importorskip("psycopg2", reason="psycopg2 is missing")
    places = [place for place in PLACES if (place / "initdb").exists()]
    if not places:
        pytest.skip("no PostgreSQL on this machine (apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="ricochet-postgres-"))
    found = Postgres(folder, free_port(), "ricochet", secrets.token_hex(12))
    (folder / "password").write_text(found.password)
    encrypting = [] if certificate is None else _encrypting(folder, certificate)
    try:
        with _server(places[0], found, encrypting):
            for name in names:
                found.execute(f"CREATE DATABASE {name}")
            yield found
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def _server(programs, found, options):
    folder, account = found.folder, _account()
    how = {"cwd": folder}
    if os.geteuid() == 0:
        for path in (folder, *folder.iterdir()):
            os.chown(path, account.pw_uid, account.pw_gid)
        how |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    make = [programs / "initdb", "-D", folder / "data", "-U", found.user, "-E", "UTF8"]
    make += ["--auth=scram-sha-256", f"--pwfile={folder / 'password'}", "--no-sync", "--no-locale"]
    subprocess.run(make, check=True, capture_output=True, **how)
    serve = [programs / "postgres", "-D", folder / "data", "-p", str(found.port), "-k", folder]
    serve += ["-h", "127.0.0.1", "-c", "fsync=off", *options]
    process = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)
    try:
        wait_for(lambda: _answers(found), seconds=60)
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def _encrypting(folder, certificate):
    """Copy a certificate to a server's folder; return the words by which it is used."""
    words = ["-c", "ssl=on"]
    for name, option in ((certificates.CERTIFICATE, "cert"), (certificates.KEY, "key")):
        shutil.copy(certificate / name, folder / name)
        words += ["-c", f"ssl_{option}_file={folder / name}"]
    return words


def _account():
    """Return who runs the server, which refuses root; Debian's package makes `postgres`."""
    name = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    return pwd.getpwnam(name)


def _answers(found):
    import psycopg2

    try:
        return found.execute("SELECT 1")
    except psycopg2.OperationalError:
        return None
