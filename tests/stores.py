"""Databases for tests: the migrations of an empty one take seconds, a copy of it none."""

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from importlib import metadata
from pathlib import Path

import pytest

NAME, PREFECT = "mlflow.db", "prefect.db"


@pytest.fixture(scope="session")
def migrated_store(tmp_path_factory):
    """The database of an empty store, made once for all workers of a run."""
    from ricochet.tasks.registry import runs

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "store.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / NAME).exists():
            folder = tmp_path_factory.mktemp("store")
            runs.connect(store=folder).client.search_experiments()
            shutil.copy(folder / NAME, shared / f"{NAME}.partial")
            (shared / f"{NAME}.partial").rename(shared / NAME)
    return shared / NAME


@pytest.fixture
def empty_store(tmp_path: Path, migrated_store: Path) -> Path:
    """The folder of an empty store of the test's own."""
    return copied(migrated_store, tmp_path / "store")


def copied(database: Path, folder: Path) -> Path:
    """Return a new folder with a copy of the database."""
    folder.mkdir(parents=True)
    shutil.copy(database, folder / NAME)
    return folder


def with_prefect(home: Path) -> None:
    """Put Prefect's empty database into its home, where there is none."""
    home.mkdir(parents=True, exist_ok=True)
    if not (home / PREFECT).exists():
        shutil.copy(_migrated_prefect(), home / PREFECT)
        (home / PREFECT).chmod(0o600)


def _migrated_prefect() -> Path:
    """Return Prefect's empty database, made once for the environment that holds its version."""
    kept = Path(sys.prefix) / f".prefect-{metadata.version('prefect')}.db"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            with tempfile.TemporaryDirectory() as home:
                own = {"PREFECT_HOME": home, "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
                command = [sys.executable, "-m", "prefect", "server", "database", "upgrade", "-y"]
                subprocess.run(command, env={**os.environ, **own}, check=True, capture_output=True)
                partial = kept.with_suffix(".partial")
                with (
                    closing(sqlite3.connect(Path(home) / PREFECT)) as made,
                    closing(sqlite3.connect(partial)) as copy,
                ):
                    made.backup(copy)
                partial.rename(kept)
    return kept
