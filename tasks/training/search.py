"""A search over settings: Optuna proposes, we try, the least value wins.

The study lies in a journal beside the results, under a name that holds the digest of all that
decides a value, so that an interrupted search goes on and a finished one adds nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import Trial, TrialState

from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.console.progress import part

JOURNAL = "search.journal"

Choice = Mapping[str, Any]
"""Settings by name; whole numbers are of type int."""


@dataclass(frozen=True)
class Space:
    """What is searched.

    Attributes:
        started: The settings tried first.
        propose: Asks a trial for settings.
        value: Tries settings and returns their value; less is better.
    """

    name: str
    started: Choice
    propose: Callable[[Trial], Choice]
    value: Callable[[Choice, Progress], float]


@dataclass(frozen=True)
class Tried:
    """One completed trial: its number, the settings and their value."""

    number: int
    chosen: Choice
    value: float


def search(
    space: Space, folder: Path, *, trials: int, seed: int, progress: Progress = no_progress
) -> Tried:
    """Try settings until so many trials of the study are completed, and return the best trial.

    At least one is asked for; progress counts hundredths of each.
    """
    study = _study(space, folder, seed)
    for done in range(len(_completed(study)), trials):
        within = part(progress, done, trials)
        within(0, 1)
        trial = study.ask()
        study.tell(trial, space.value(space.propose(trial), within))
        within(1, 1)
    return min(_completed(study), key=lambda trial: trial.value)


def completed(name: str, folder: Path) -> tuple[Tried, ...]:
    """Return the completed trials of a study in a folder's journal; nothing is tried or written."""
    if not (folder / JOURNAL).is_file():
        return ()
    try:
        return _completed(optuna.load_study(study_name=name, storage=_storage(folder)))
    except KeyError:  # the journal holds other studies
        return ()


def _study(space: Space, folder: Path, seed: int) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        storage=_storage(folder),
        study_name=space.name,
        sampler=optuna.samplers.TPESampler(seed=seed),
        load_if_exists=True,
    )
    if not study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.WAITING)):
        study.enqueue_trial(dict(space.started))  # also where the first trial was interrupted
    return study


def _storage(folder: Path) -> JournalStorage:
    return JournalStorage(JournalFileBackend(str(folder / JOURNAL)))


def _completed(study: optuna.Study) -> tuple[Tried, ...]:
    found = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return tuple(Tried(one.number, dict(one.params), float(one.values[0])) for one in found)
