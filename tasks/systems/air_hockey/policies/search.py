"""A search over the size and the schedule of the energies, one trial a training.

All settings are trained with what suits `aggressive` best, whose optima differ most in their
banks. The value of a trial is the held-out InfoNCE.
"""

from dataclasses import replace
from functools import partial

from optuna.trial import Trial

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.air_hockey.shots.objective import Setting
from ricochet.tasks.general_settings import Search
from ricochet.tasks.systems.air_hockey.policies import energy, training_data
from ricochet.tasks.systems.air_hockey.policies.training_data import Targets
from ricochet.tasks.systems.air_hockey.settings import Energies
from ricochet.tasks.training import search as searches
from ricochet.tasks.training.search import Choice, Space
from ricochet.tasks.training.steps import TrainingRequest

NAME = "shooting-aggressive"
SEARCHED = ("hidden", "learning_rate")
"""Settings that a search may choose."""


def search(request: TrainingRequest, progress: Progress = no_progress) -> Energies:
    """Try as many settings as `energy.trials` says, those asked for first, and return the best."""
    settings = request.settings[Energies]
    once, setting = replace(settings, trials=0), energy.setting_of(NAME)
    targets = training_data.targets(request)
    value = partial(_value, once, targets, setting, request.seed)
    space = Space(
        name=f"energy-{training_data.packages_key(request)[:16]}",
        started={name: getattr(settings, name) for name in SEARCHED},
        propose=partial(_propose, settings),
        value=value,
    )
    best = searches.search(
        space,
        request.out,
        trials=settings.trials,
        seed=request.seed,
        rules=request.settings[Search],
        progress=progress,
    )
    return replace(once, **best.chosen)


def _value(
    once: Energies,
    targets: Targets,
    setting: Setting,
    seed: int,
    chosen: Choice,
    within: Progress,
) -> float:
    tried = replace(once, **chosen)
    return energy.fit(tried, targets, setting, seed=seed, progress=within).lowest


def _propose(settings: Energies, trial: Trial) -> Choice:
    rates = (min(2e-4, settings.learning_rate), max(5e-3, settings.learning_rate))
    hidden = (min(32, settings.hidden), max(256, settings.hidden))
    return {
        "hidden": trial.suggest_int("hidden", *hidden),
        "learning_rate": trial.suggest_float("learning_rate", *rates, log=True),
    }
