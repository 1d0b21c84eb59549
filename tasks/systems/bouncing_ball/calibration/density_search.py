"""A search over the size and the schedule of the density, one trial a training.

The value of a trial is the held-out negative log density.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from optuna.trial import Trial

from ricochet.tasks.console.progress import Progress, silent
from ricochet.tasks.systems.bouncing_ball.calibration import density
from ricochet.tasks.systems.bouncing_ball.settings import Density
from ricochet.tasks.training import search as searches
from ricochet.tasks.training.search import Choice, Space, Tried


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
    once = replace(settings, trials=0)
    space = Space(
        name=f"density-{density.key(once, seed)[:16]}",
        started={name: getattr(settings, name) for name in density.SEARCHED},
        propose=partial(_propose, settings),
        value=lambda chosen, _: density.train(replace(once, **chosen), seed=seed).held_out,
    )
    tried = searches.search(space, folder, trials=settings.trials, seed=seed, progress=progress)
    return Search(space.name, tuple(_attempt(once, trial) for trial in tried))


def _propose(settings: Density, trial: Trial) -> Choice:
    rates = (min(5e-4, settings.learning_rate), max(1e-2, settings.learning_rate))
    return {
        "hidden": trial.suggest_int("hidden", min(16, settings.hidden), max(160, settings.hidden)),
        "components": trial.suggest_int("components", 1, max(12, settings.components)),
        "learning_rate": trial.suggest_float("learning_rate", *rates, log=True),
    }


def _attempt(settings: Density, tried: Tried) -> Attempt:
    return Attempt(tried.number, replace(settings, **tried.chosen), tried.value)
