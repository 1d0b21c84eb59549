"""A search over the size and the schedule of the energies, one trial a training.

All settings are trained with what suits `aggressive` best, whose optima differ most in their
banks. The value of a trial is the held-out InfoNCE.
"""

from dataclasses import replace
from functools import partial

from optuna.trial import Trial

from ricochet.tasks.console.progress import Progress, silent
from ricochet.tasks.systems.air_hockey.policies import energy, training_data
from ricochet.tasks.systems.air_hockey.policies.training_data import Order
from ricochet.tasks.systems.air_hockey.settings import Energies
from ricochet.tasks.training import search as searches
from ricochet.tasks.training.search import Choice, Space

NAME = "shooting-aggressive"


def search(order: Order, progress: Progress = silent) -> Energies:
    """Try as many settings as `energy.trials` says.

    Args:
        order: What is wanted; its settings are tried first.
        progress: Told of hundredths of each trial.

    Returns:
        The settings of the best trial.
    """
    wanted = order.settings[Energies]
    once, setting = replace(wanted, trials=0), energy.setting_of(NAME)
    labels = training_data.labels(order)

    def value(choice: Choice, within: Progress) -> float:
        tried = replace(once, **choice)
        return energy.fit(tried, labels, setting, seed=order.seed, progress=within).lowest

    space = Space(
        name=f"energy-{energy.key(order)[:16]}",
        started={name: getattr(wanted, name) for name in energy.SEARCHED},
        propose=partial(_propose, wanted),
        value=value,
    )
    tried = searches.search(
        space, order.out, trials=wanted.trials, seed=order.seed, progress=progress
    )
    best = min(tried, key=lambda trial: trial.value)
    return replace(once, **best.chosen)


def _propose(wanted: Energies, trial: Trial) -> Choice:
    rates = (min(2e-4, wanted.learning_rate), max(5e-3, wanted.learning_rate))
    return {
        "hidden": trial.suggest_int("hidden", min(32, wanted.hidden), max(256, wanted.hidden)),
        "learning_rate": trial.suggest_float("learning_rate", *rates, log=True),
    }
