"""The tables of a local store of runs, made once.

Two first migrations at once end both: each finds tables that the other has begun. So the second
waits.
"""

import fcntl
import logging
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.storage.files import output_folder


def file_of(uri: str) -> Path | None:
    """Return the file of a store; None of one that is no file of SQLite."""
    place = uri.removeprefix("sqlite:///")
    return None if place == uri else Path(place).resolve()


def create(database: Path) -> None:
    """Make the tables of a local store that is new; of two processes at once the second waits.

    Raises:
        BadInput: There is one whose tables cannot be completed.
    """
    if _is_ready(database):
        return
    output_folder(database.parent)
    with database.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_ready(database):
            if not database.exists():
                _make(database)
            _bring_up_to_date(database)
            _mark(database).touch()


def _make(database: Path) -> None:
    """Make the tables in a file that is renamed once it has all: each is committed by itself."""
    partial = database.with_name(f".{database.name}.partial")
    partial.unlink(missing_ok=True)
    _migrate(f"sqlite:///{partial}")
    partial.rename(database)


def _bring_up_to_date(database: Path) -> None:
    try:
        _migrate(f"sqlite:///{database}")
    except Exception as error:  # of many kinds, of MLflow's migrations
        found = f"a store that cannot be completed ({one_line(str(error), longest=200)})"
        expected = "a whole one, or none: one that was never used may be moved away"
        raise BadInput(str(database), found, expected) from error


def _migrate(uri: str) -> None:
    from mlflow import MlflowClient

    logging.getLogger("mlflow.store.db.utils").setLevel(logging.WARNING)
    MlflowClient(tracking_uri=uri, registry_uri=uri).search_experiments(max_results=1)


def _is_ready(database: Path) -> bool:
    return _mark(database).exists() and database.exists()


def _mark(database: Path) -> Path:
    return database.with_suffix(".ready")
