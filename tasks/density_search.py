"""A search over the size and the schedule of the density, one Optuna trial a training.

The loop is our own: Optuna proposes, we train, the held-out negative log density is the value. The
study lies in a journal beside the results, under a name that holds the digest of settings and code,
so that an interrupted search goes on and a finished one adds nothing.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, Trial, TrialState

from tasks import density
from tasks.progress import Progress, silent
from tasks.settings import Density

JOURNAL = "search.journal"


@dataclass(frozen=True)
class Attempt:
    """One trial.

    Attributes:
        number: Its number in the study.
        settings: What was trained.
        held_out: Mean negative log density of held-out pairs, nats.
    """

    number: int
    settings: Density
    held_out: float


@dataclass(frozen=True)
class Search:
    """A finished search; `best` is the attempt of the lowest value."""

    name: str
    attempts: tuple[Attempt, ...]

    @property
    def best(self) -> Density:
        """Return the settings of the best attempt."""
        return min(self.attempts, key=lambda attempt: attempt.held_out).settings


def search(settings: Density, folder: Path, *, seed: int, progress: Progress = silent) -> Search:
    """Try as many settings as `settings.trials` says.

    Args:
        settings: The settings to start from, tried first.
        folder: Where the journal lies.
        seed: Seed of the proposals and of every training.
        progress: Told of each trial.

    Returns:
        All completed trials of the study.
    """
    study = _study(settings, folder, seed)
    for done in range(len(_completed(study)), settings.trials):
        progress(done, settings.trials)
        trial = study.ask()
        proposed = _propose(trial, settings)
        study.tell(trial, density.train(proposed, seed=seed).held_out)
    progress(settings.trials, settings.trials)
    found = [_attempt(settings, trial) for trial in _completed(study)]
    return Search(study.study_name, tuple(found))


def _study(settings: Density, folder: Path, seed: int) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    started: dict[str, float] = {"hidden": settings.hidden, "components": settings.components}
    started |= {"learning_rate": settings.learning_rate}
    storage = JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
    study = optuna.create_study(
        storage=storage,
        study_name=f"density-{density.key(replace(settings, trials=0), seed)[:16]}",
        sampler=optuna.samplers.TPESampler(seed=seed),
        load_if_exists=True,
    )
    if not study.trials:
        study.enqueue_trial(started)
    return study


def _propose(trial: Trial, settings: Density) -> Density:
    rates = (min(5e-4, settings.learning_rate), max(1e-2, settings.learning_rate))
    return replace(
        settings,
        hidden=trial.suggest_int("hidden", min(16, settings.hidden), max(160, settings.hidden)),
        components=trial.suggest_int("components", 1, max(12, settings.components)),
        learning_rate=trial.suggest_float("learning_rate", *rates, log=True),
        trials=0,
    )


def _completed(study: optuna.Study) -> list[FrozenTrial]:
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


def _attempt(settings: Density, trial: FrozenTrial) -> Attempt:
    return Attempt(
        trial.number, replace(settings, trials=0, **trial.params), float(trial.values[0])
    )
