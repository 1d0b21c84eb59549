"""Where the trials of a search are kept: a journal beside its results, or a PostgreSQL database.

The journal is of one process at a time: what runs in it when another begins was abandoned. In a
database several machines work on a study at once, and each says every `HEARTBEAT` s that its trials
are alive; one that is silent for `GRACE` s has failed. In the end the study is copied to the
journal, so that a folder of results is complete. The password of a database is libpq's to find
(`PGPASSFILE`, `~/.pgpass`); an address that holds one is refused.
"""

import contextlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages._heartbeat import get_heartbeat_thread  # what Study.optimize takes it from
from optuna.storages.journal import JournalFileBackend
from optuna.trial import Trial, TrialState

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import database_address, files, limits
from ricochet.tasks.storage.parsed_size import most_memory

JOURNAL = "search.journal"
HEARTBEAT, GRACE = 15, 90
WHERE = "search.storage"
ATTEMPTS = 5


def journal(folder: Path) -> JournalStorage:
    """Return the journal of a folder of results; BadInput where something else is there."""
    path, expected = folder.absolute() / JOURNAL, "the journal of a search"
    if path.is_symlink() or path.exists():
        _check_size(path, expected)
    lock = path.with_name(f"{JOURNAL}.lock")  # a link to the journal, while Optuna writes it
    if lock.is_symlink() and not lock.exists():  # Optuna would wait for ever
        lock.unlink()
    elif lock.exists() and not lock.is_symlink():
        raise BadInput(files.shown(lock), "no link", "none, or Optuna's")
    try:
        return JournalStorage(JournalFileBackend(str(path)))
    except (ValueError, AssertionError, RecursionError, KeyError, TypeError) as error:
        raise BadInput(files.shown(path), f"none: {error}"[:200], expected) from error


def _check_size(path: Path, expected: str) -> None:
    """Refuse what would take Optuna more memory or time than a search has use for."""
    with files.regular(path, expected, largest=limits.JOURNAL, links=False) as file:
        content = file.read(limits.JOURNAL)
    if (lines := content.count(b"\n")) > limits.JOURNAL_LINES:
        raise BadInput(files.shown(path), f"{lines} lines", f"at most {limits.JOURNAL_LINES}")
    if (memory := most_memory(content)) > limits.PARSED:
        found = f"about {memory} bytes once it is parsed"
        raise BadInput(files.shown(path), found, f"at most {limits.PARSED}")


@contextlib.contextmanager
def opened(address: str, folder: Path) -> Iterator[Any]:
    """Open the database of an address, or the folder's journal where it is empty.

    Raises:
        BadInput: If the address is none of PostgreSQL's, holds a password, or does not answer.
    """
    if not address:
        yield journal(folder)
        return
    storage = _connect(check(address), heartbeat=HEARTBEAT, grace=GRACE)
    try:
        yield storage
    finally:
        storage.remove_session()
        storage.engine.dispose()


def check(address: str) -> str:
    """Return an address that may be connected to; `BadInput` without showing a password."""
    database_address.check(WHERE, address, os.environ, passwords="the file that PGPASSFILE names")
    return address


def _connect(address: str, *, heartbeat: int, grace: int) -> RDBStorage:
    """Connect; two that make the tables at once would fail, and one of them tries again."""
    from sqlalchemy.exc import DBAPIError, OperationalError

    for attempt in range(ATTEMPTS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ExperimentalWarning)
                return RDBStorage(
                    address.replace("postgresql:", "postgresql+psycopg2:", 1),
                    heartbeat_interval=heartbeat,
                    grace_period=grace,
                )
        except ImportError as error:
            expected = 'the extra `lab`: pip install "ricochet-lab[lab]"'
            raise BadInput(WHERE, "no package psycopg2", expected) from error
        except OperationalError as error:
            said = " ".join(str(error.orig).split())
            raise BadInput(WHERE, f"{address}: {said}", "a database that answers") from error
        except DBAPIError:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def ask(study: optuna.Study) -> Trial:
    """Begin a trial."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Heartbeat of storage", UserWarning)  # `alive` has it
        return study.ask()


@contextlib.contextmanager
def alive(study: optuna.Study, trial: Trial) -> Iterator[None]:
    """Say while the block lasts that a trial is alive, where that is asked for."""
    with get_heartbeat_thread(trial._trial_id, study._storage):
        yield


def fail_abandoned(study: optuna.Study, *, shared: bool, others: bool = False) -> None:
    """Let trials fail whose process is gone.

    Args:
        shared: Whether several processes may have trials of the study.
        others: Whether this process has begun trials already, so that only others' can be gone.
    """
    if shared:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            optuna.storages.fail_stale_trials(study)
    elif not others:
        for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            study.tell(trial.number, state=TrialState.FAIL, skip_if_finished=True)


def copy(study: optuna.Study, folder: Path) -> None:
    """Copy a study into the journal of a folder, in place of what that holds of it."""
    target = journal(folder)
    names = optuna.get_all_study_names(target)
    if study.study_name in names:
        optuna.delete_study(study_name=study.study_name, storage=target)
    optuna.copy_study(
        from_study_name=study.study_name, from_storage=study._storage, to_storage=target
    )
