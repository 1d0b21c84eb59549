"""From shots to verified packages, one a setting: what `ricochet train energy` ends with.

    shooting-<setting>/package    the energy with contacts and strokes (`tasks.energy_packages`)

A package carries the digest of all that decides it; a training that is there is not repeated.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from models.core.bad_input import BadInput
from models.core.hockey_table import Table
from models.planners import energy_training, shots
from models.planners.energy_training import Fit, Training
from models.planners.shots import Setting
from tasks import (
    energy_figures,
    energy_packages,
    energy_pictures,
    energy_steps,
    figures,
    shooting_audit,
)
from tasks.artefacts import digest_of, write_bytes, write_json
from tasks.energy_packages import READER, Shooter
from tasks.energy_steps import Labels, Order
from tasks.package_kinds import SHOOTING
from tasks.packages import read_package
from tasks.progress import Progress, silent
from tasks.provenance import git_commit
from tasks.settings import Energy

SCHEMA = "ricochet.energies/1"
NAMES = tuple(f"{SHOOTING}{setting.name}" for setting in shots.SETTINGS)
SEARCHED = ("hidden", "learning_rate")
"""Settings that a search may choose."""
HISTORY = "history"
"""Name of the curve among a package's checks; the others are numbers."""
PREDICTION = "prediction.json"


def setting_of(name: str) -> Setting:
    """Return the setting of a package's name.

    Args:
        name: `shooting-<setting>`.

    Returns:
        The setting.
    """
    return next(one for one in shots.SETTINGS if f"{SHOOTING}{one.name}" == name)


def key(order: Order) -> str:
    """Name everything that decides the packages of a training.

    Args:
        order: What is wanted.

    Returns:
        A digest.
    """
    return digest_of([energy_steps.labels_key(order), asdict(order.settings.energy)])


def is_done(order: Order) -> bool:
    """Tell whether every package of a training is there and whole.

    Args:
        order: What is wanted.

    Returns:
        Whether nothing is left to train.
    """
    drawn = (order.out / PREDICTION).exists()  # the last step
    return drawn and all(_found(order, name) for name in NAMES)


def place(order: Order, name: str) -> Path:
    """Return the folder of a package.

    Args:
        order: What is wanted.
        name: Name of the package.

    Returns:
        The folder.
    """
    return order.out / name / "package"


def train_one(order: Order, name: str, labels: Labels, progress: Progress = silent) -> None:
    """Train the energy of a setting, check it and write its package, unless it is there.

    Args:
        order: What is wanted.
        name: Name of the package.
        labels: What it learns from.
        progress: Told of each epoch.

    Raises:
        BadInput: If the place cannot be written.
    """
    if _found(order, name):
        return
    setting, wanted = setting_of(name), chosen(order, labels)
    fit = train(wanted, labels, setting, seed=order.seed, progress=progress)
    shooter = Shooter(
        setting=setting,
        energy=fit.energy,
        modes=energy_steps.modes(order),
        strokes=energy_steps.strokes(order),
        table=Table(),
        low=np.append(shots.LOW, -shots.LARGEST_ANGLE),
        high=np.append(shots.HIGH, shots.LARGEST_ANGLE),
    )
    found = shooting_audit.check(shooter, wanted, seed=order.seed)
    energy_packages.write(
        shooter,
        place(order, name),
        checks={
            "regret_share": found.regret / found.best,
            "held_out_loss": fit.held_out[-1],
            **_finite(asdict(found)),
            HISTORY: list(fit.held_out),
        },
        key=key(order),
        git_commit=git_commit(),
        settings={**asdict(wanted), "seed": order.seed},
    )


def train(
    wanted: Energy, labels: Labels, setting: Setting, *, seed: int, progress: Progress = silent
) -> Fit:
    """Train an energy as the settings say.

    Args:
        wanted: Size and schedule.
        labels: What it learns from.
        setting: Which shots are best.
        seed: Seed of all randomness; the same seed gives the same energy.
        progress: Told of each epoch.

    Returns:
        The energy with its held-out loss at each look.
    """
    torch.set_num_threads(1)  # small tensors in a loop are fastest on one thread
    return energy_training.fit(
        labels.states,
        labels.angles,
        shots.best(setting, labels.shots),
        training=Training(
            hidden=wanted.hidden,
            epochs=wanted.epochs,
            batch=wanted.batch,
            rate=wanted.learning_rate,
        ),
        draw=torch.Generator().manual_seed(seed),
        progress=progress,
    )


def chosen(order: Order, labels: Labels) -> Energy:
    """Return what to train with: the settings, or what a search over them found best.

    Args:
        order: What is wanted.
        labels: What the energies learn from.

    Returns:
        Size and schedule.
    """
    wanted = order.settings.energy
    if wanted.trials == 0:
        return wanted
    from tasks import energy_search  # Optuna takes a second to import

    return energy_search.search(order, labels)


def run(order: Order, progress: Progress = silent) -> dict[str, Any]:
    """Do what `ricochet train energy --no-publish` promises.

    Args:
        order: What is wanted.
        progress: Told of the steps.

    Returns:
        What `result.json` holds.
    """
    new = not is_done(order)
    if new:
        modes, strokes = energy_steps.modes(order, progress), energy_steps.strokes(order, progress)
        labels = energy_steps.labels(order, modes, strokes, progress)
        for name in NAMES:
            train_one(order, name, labels, progress)
        draw(order)
    result = summary(order, trained=new)
    write_json(order.out / "result.json", result)
    return result


def draw(order: Order) -> None:
    """Draw what a training learnt, into `figures`.

    Args:
        order: What was wanted; the packages are there.

    Raises:
        BadInput: If a package is not whole.
    """
    found = {name: read_package(place(order, name), reader=READER) for name in NAMES}
    energy_pictures.draw(
        {name: energy_packages.from_package(one, where=name) for name, one in found.items()},
        {name: one.checks[HISTORY] for name, one in found.items()},
        candidates=order.settings.energy.candidates,
        aim=order.settings.energy.aim_sd,
        folder=order.out / "figures",
    )
    _describe_modes(order)


def summary(order: Order, *, trained: bool) -> dict[str, Any]:
    """Describe the packages of a training.

    Args:
        order: What was wanted.
        trained: Whether something was trained now.

    Returns:
        What `result.json` holds.
    """
    found = {name: read_package(place(order, name), reader=READER) for name in NAMES}
    return {
        "schema": SCHEMA,
        "trained": trained,
        "energies": {
            name: {number: v for number, v in package.checks.items() if number != HISTORY}
            for name, package in found.items()
        },
        "prediction": json.loads((order.out / PREDICTION).read_text())["rows"],
        "settings": dict(next(iter(found.values())).settings["training"]),
        "registered": None,
    }


def _describe_modes(order: Order) -> None:
    """Write how well the modes foretell the puck, as numbers and as a picture."""
    rows = energy_steps.predictions(order, energy_steps.modes(order))
    write_json(order.out / PREDICTION, {"rows": [asdict(row) for row in rows]})
    drawn = figures.to_png(energy_figures.predictions(rows))
    write_bytes(order.out / "figures" / "modes.png", drawn)


def _found(order: Order, name: str) -> bool:
    try:
        return read_package(place(order, name), reader=READER).data_digest == key(order)
    except BadInput:
        return False


def _finite(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in numbers.items() if math.isfinite(value)}
