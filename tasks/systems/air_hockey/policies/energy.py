"""One energy: what it is trained with, its training and check, and the package that holds both.

A package's key names everything that decides it; one that is there with its key is not made again.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey.shots import energy_training, objective
from ricochet.models.systems.air_hockey.shots.energy_training import Fit, Training
from ricochet.models.systems.air_hockey.shots.objective import Setting
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE, Table
from ricochet.tasks.console.progress import Progress, part, silent
from ricochet.tasks.registry.packages import read_package
from ricochet.tasks.storage.files import digest_of
from ricochet.tasks.storage.provenance import code_digest, git_commit
from ricochet.tasks.systems.air_hockey.kinds import SHOOTING
from ricochet.tasks.systems.air_hockey.policies import packages, regret, training_data
from ricochet.tasks.systems.air_hockey.policies.packages import READER, Shooter
from ricochet.tasks.systems.air_hockey.policies.training_data import Labels, Order
from ricochet.tasks.systems.air_hockey.settings import Energies

SEARCHED = ("hidden", "learning_rate")
"""Settings that a search may choose."""
HELD_OUT = "held_out_history"
"""Curve of the losses that a package's checks hold; those of the training are another."""


def setting_of(name: str) -> Setting:
    """Return the setting of a package's name.

    Args:
        name: `shooting-<setting>`.

    Returns:
        The setting.
    """
    return next(one for one in objective.SETTINGS if f"{SHOOTING}{one.name}" == name)


def key(order: Order) -> str:
    """Name everything that decides the packages of a training.

    Args:
        order: What is wanted.

    Returns:
        A digest.
    """
    wanted = asdict(order.settings[Energies])
    return digest_of([training_data.labels_key(order), wanted, code_digest(__name__)])


def is_there(order: Order, folder: Path) -> bool:
    """Tell whether a package of a training is there and whole.

    Args:
        order: What is wanted.
        folder: Where it should be.

    Returns:
        Whether it need not be made.
    """
    try:
        return read_package(folder, reader=READER).data_digest == key(order)
    except BadInput:
        return False


def train(order: Order, name: str, folder: Path, progress: Progress = silent) -> None:
    """Train the energy of a setting, check it and write its package, unless it is there.

    Args:
        order: What is wanted.
        name: Name of the package.
        folder: Where the package shall be.
        progress: Told of the steps of the training and of the shots of the check.

    Raises:
        BadInput: If the place cannot be written.
    """
    if is_there(order, folder):
        return
    setting, wanted, labels = setting_of(name), chosen(order), training_data.labels(order)
    found = fit(wanted, labels, setting, seed=order.seed, progress=part(progress, 0, 2))
    shooter = Shooter(
        setting=setting,
        energy=found.energy,
        modes=training_data.modes(order),
        strokes=training_data.strokes(order),
        table=Table(),
        low=np.append(objective.LOW, -LARGEST_ANGLE),
        high=np.append(objective.HIGH, LARGEST_ANGLE),
    )
    checked = regret.check(shooter, wanted, seed=order.seed, progress=part(progress, 1, 2))
    packages.write(
        shooter,
        folder,
        checks={
            "regret_share": checked.regret / checked.best,
            "held_out_loss": found.lowest,
            **_finite(asdict(checked)),
            HELD_OUT: list(found.held_out),
            "training_history": list(found.training),
        },
        key=key(order),
        git_commit=git_commit(),
        settings={**asdict(wanted), "seed": order.seed},
    )


def fit(
    wanted: Energies, labels: Labels, setting: Setting, *, seed: int, progress: Progress = silent
) -> Fit:
    """Train an energy as the settings say.

    Args:
        wanted: Size and schedule.
        labels: What it learns from.
        setting: Which shots are best.
        seed: Seed of all randomness; the same seed gives the same energy.
        progress: Told of each step.

    Returns:
        The energy with its losses at each look.
    """
    return energy_training.fit(
        labels.states,
        labels.angles,
        objective.best(setting, labels.shots),
        training=Training(
            hidden=wanted.hidden,
            epochs=wanted.epochs,
            batch=wanted.batch,
            rate=wanted.learning_rate,
        ),
        draw=torch.Generator().manual_seed(seed),
        progress=progress,
    )


def chosen(order: Order, progress: Progress = silent) -> Energies:
    """Return what to train with: the settings, or what a search over them found best.

    Args:
        order: What is wanted.
        progress: Told of hundredths of each trial.

    Returns:
        Size and schedule.
    """
    wanted = order.settings[Energies]
    if wanted.trials == 0:
        return wanted
    from ricochet.tasks.systems.air_hockey.policies import search  # Optuna takes a second to import

    return search.search(order, progress)


def _finite(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in numbers.items() if math.isfinite(value)}
