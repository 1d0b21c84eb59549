"""A search over the size and the schedule of the density, one trial a training.

The value of a trial is the held-out negative log density.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

from optuna.trial import Trial

from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.general_settings import Search
from ricochet.tasks.systems.bouncing_ball.calibration import density
from ricochet.tasks.systems.bouncing_ball.settings import Density
from ricochet.tasks.training import search as searches
from ricochet.tasks.training.search import Choice, Space


def search(
    settings: Density,
    folder: Path,
    *,
    seed: int,
    rules: Search = searches.ALONE,
    progress: Progress = no_progress,
) -> Density:
    """Try as many settings as `settings.trials` says, these first, and return the best."""
    once = replace(settings, trials=0)
    space = Space(
        name=study_name(settings, seed),
        started={name: getattr(settings, name) for name in density.SEARCHED},
        propose=partial(_propose, settings),
        value=partial(_value, once, seed),
    )
    best = searches.search(
        space, folder, trials=settings.trials, seed=seed, rules=rules, progress=progress
    )
    return replace(once, **best.chosen)


def study_name(settings: Density, seed: int) -> str:
    """Name the study of a search, however many trials it has."""
    return f"density-{density.key(replace(settings, trials=0), seed)[:16]}"


def _value(once: Density, seed: int, chosen: Choice, within: Progress) -> float:
    return density.train(replace(once, **chosen), seed=seed, progress=within).held_out


def _propose(settings: Density, trial: Trial) -> Choice:
    rates = (min(5e-4, settings.learning_rate), max(1e-2, settings.learning_rate))
    return {
        "hidden": trial.suggest_int("hidden", min(16, settings.hidden), max(160, settings.hidden)),
        "components": trial.suggest_int("components", 1, max(12, settings.components)),
        "learning_rate": trial.suggest_float("learning_rate", *rates, log=True),
    }
