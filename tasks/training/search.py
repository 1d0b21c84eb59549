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
from optuna.trial import FrozenTrial, Trial, TrialState

from ricochet.tasks.console.progress import Progress, part, silent

JOURNAL = "search.journal"

Choice = Mapping[str, Any]
"""Settings by name; whole numbers are of type int."""


@dataclass(frozen=True)
class Space:
    """What is searched.

    Attributes:
        name: Name of the study.
        started: The settings tried first.
        propose: Asks a trial for settings.
        value: Tries settings and tells how far it is; less is better.
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
    space: Space, folder: Path, *, trials: int, seed: int, progress: Progress = silent
) -> tuple[Tried, ...]:
    """Try settings until so many trials of the study are completed.

    Args:
        space: What is searched.
        folder: Where the journal lies.
        trials: Number of trials.
        seed: Seed of the proposals.
        progress: Told of hundredths of each trial.

    Returns:
        All completed trials of the study.
    """
    study = _study(space, folder, seed)
    for done in range(len(_completed(study)), trials):
        within = part(progress, done, trials)
        within(0, 1)
        trial = study.ask()
        study.tell(trial, space.value(space.propose(trial), within))
        within(1, 1)
    return tuple(
        Tried(trial.number, dict(trial.params), float(trial.values[0]))
        for trial in _completed(study)
    )


def _study(space: Space, folder: Path, seed: int) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        storage=JournalStorage(JournalFileBackend(str(folder / JOURNAL))),
        study_name=space.name,
        sampler=optuna.samplers.TPESampler(seed=seed),
        load_if_exists=True,
    )
    if not study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.WAITING)):
        study.enqueue_trial(dict(space.started))  # also where the first trial was interrupted
    return study


def _completed(study: optuna.Study) -> list[FrozenTrial]:
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
