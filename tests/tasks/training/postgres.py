"""A PostgreSQL server of a test's own, as another user where the tests run as root."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import optuna
import pytest

from ricochet.tasks.training import trials
from tests.postgres import PLACES
from tests.servers import free_port

PROGRAMS = os.pathsep.join([*map(str, PLACES), os.environ["PATH"]])
NEEDED = pytest.mark.skipif(
    shutil.which("initdb", path=PROGRAMS) is None,
    reason="Debian's postgresql is not installed",
)
PASSWORD = "only-in-the-file"  # of a server that lives as long as a test


@dataclass(frozen=True)
class Server:
    """A server that answers, and the environment in which libpq finds the password."""

    address: str
    environment: dict[str, str]


def owner() -> str:
    """Return who runs the server, which root may not."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    names = {one.pw_name for one in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@contextlib.contextmanager
def server(folder: Path) -> Iterator[Server]:
    """Run a server on loopback while the block lasts."""
    user, port = owner(), free_port()
    account = pwd.getpwnam(user)
    with tempfile.TemporaryDirectory(prefix="ricochet-postgres-", dir="/tmp") as name:
        place = Path(name)
        (place / "password").write_text(PASSWORD)
        for path in (place, place / "password"):
            os.chown(path, account.pw_uid, account.pw_gid)
        as_owner = {"user": user} if os.geteuid() == 0 else {}
        plain = {"cwd": name, "check": True, "capture_output": True, **as_owner}
        data = str(place / "data")
        words = ["-D", data, "-U", "lab", "-A", "scram-sha-256", f"--pwfile={place / 'password'}"]
        subprocess.run([_program("initdb"), *words, "--no-sync"], **plain)
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={name}"
        start = [
            _program("pg_ctl"),
            "-D",
            data,
            "-w",
            "-t",
            "120",
            "-l",
            str(place / "log"),
            "-o",
            options,
        ]
        subprocess.run([*start, "start"], **{**plain, "capture_output": False})
        try:
            passwords = folder / "pgpass"
            passwords.write_text(f"127.0.0.1:{port}:*:lab:{PASSWORD}\n")
            passwords.chmod(0o600)
            address = f"postgresql://lab@127.0.0.1:{port}/postgres"
            yield Server(address, {**os.environ, "PGPASSFILE": str(passwords)})
        finally:
            subprocess.run([_program("pg_ctl"), "-D", data, "-m", "immediate", "stop"], **plain)


def _program(name: str) -> str:
    return shutil.which(name, path=PROGRAMS) or name


def states(folder: Path) -> list[str]:
    """Return the states of all trials in a folder's journal."""
    study = optuna.load_study(study_name="study", storage=trials.journal(folder))
    return [trial.state.name for trial in study.get_trials(deepcopy=False)]
