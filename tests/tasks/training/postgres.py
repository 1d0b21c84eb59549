"""A PostgreSQL in which a study is kept, and what a folder's journal holds of it."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import optuna

from ricochet.tasks.training import trials
from tests import postgres


@dataclass(frozen=True)
class Server:
    """A server that answers, and the environment in which libpq finds the password."""

    address: str
    environment: dict[str, str]
    password: str


@contextlib.contextmanager
def server(folder: Path) -> Iterator[Server]:
    """Run a server while the block lasts; its password is in a file of a folder alone."""
    with postgres.running("optuna") as found:
        passwords = folder / "pgpass"
        passwords.write_text(found.pgpass)
        passwords.chmod(0o600)
        environment = {**os.environ, "PGPASSFILE": str(passwords)}
        yield Server(found.address("optuna"), environment, found.password)


def states(folder: Path) -> list[str]:
    """Return the states of all trials in a folder's journal."""
    study = optuna.load_study(study_name="study", storage=trials.journal(folder))
    return [trial.state.name for trial in study.get_trials(deepcopy=False)]
