"""Stores of runs for tests: the migrations of an empty one take seconds, a copy of it none."""

import fcntl
import os
import shutil
from pathlib import Path

import pytest

NAME = "mlflow.db"


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
