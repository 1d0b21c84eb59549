"""From shots to verified packages, one a setting: what `ricochet train energy` ends with.

    puck modes, strokes, shots    what all settings share (`tasks.energy_steps`)
    search                        of size and schedule, where one is wanted
    shooting-<setting>            the energy with contacts and strokes (`tasks.energy_packages`)
    pictures                      what was learnt, and how well the modes foretell the puck

Every step finds its own earlier result by the digest of all that decides it, so that a training
that was interrupted goes on where it stopped, and one that is there is not repeated.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
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
from tasks.progress import Progress, Show, hidden, part, silent
from tasks.provenance import code_digest, git_commit
from tasks.settings import Energy

SCHEMA = "ricochet.energies/1"
NAMES = tuple(f"{SHOOTING}{setting.name}" for setting in shots.SETTINGS)
SEARCHED = ("hidden", "learning_rate")
"""Settings that a search may choose."""
CODE = (
    *("tasks/energy_packages.py", "tasks/energy_search.py"),
    *("tasks/energy_training.py", "tasks/shooting_audit.py"),
)
"""Code that decides a package, beside that of what it learns from."""
HELD_OUT = "held_out_history"
"""Curve of the losses that a package's checks hold; those of the training are another."""
PREDICTION = "prediction.json"
"""Written last: rows of how well the modes foretell the puck, and the key of what was drawn."""


@dataclass(frozen=True)
class Step:
    """A step of a training.

    Attributes:
        label: What is being done.
        do: Does it unless it is done; told how to report progress.
    """

    label: str
    do: Callable[[Progress], object]


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
    wanted = asdict(order.settings.energy)
    return digest_of([energy_steps.labels_key(order), wanted, code_digest(CODE)])


def is_done(order: Order) -> bool:
    """Tell whether every package of a training is there and whole, and every picture.

    Args:
        order: What is wanted.

    Returns:
        Whether nothing is left to do.
    """
    return is_trained(order) and _predicted(order).get("key") == _drawn_key(order)


def is_trained(order: Order) -> bool:
    """Tell whether every package of a training is there and whole.

    Args:
        order: What is wanted.

    Returns:
        Whether nothing is left to train.
    """
    return all(_found(order, name) for name in NAMES)


def place(order: Order, name: str) -> Path:
    """Return the folder of a package.

    Args:
        order: What is wanted.
        name: Name of the package.

    Returns:
        The folder.
    """
    return order.out / name / "package"


def steps(order: Order) -> tuple[Step, ...]:
    """Return the steps of a training in their order, pictures last.

    Args:
        order: What is wanted.
    """
    shared = [
        Step("puck modes", partial(energy_steps.modes, order)),
        Step("strokes", partial(energy_steps.strokes, order)),
        Step("shots", partial(energy_steps.labels, order)),
    ]
    if order.settings.energy.trials:
        shared.append(Step("search", partial(chosen, order)))
    own = [Step(name, partial(train_one, order, name)) for name in NAMES]
    return (*shared, *own, Step("pictures", partial(draw, order)))


def train_one(order: Order, name: str, progress: Progress = silent) -> None:
    """Train the energy of a setting, check it and write its package, unless it is there.

    Args:
        order: What is wanted.
        name: Name of the package.
        progress: Told of the steps of the training and of the shots of the check.

    Raises:
        BadInput: If the place cannot be written.
    """
    if _found(order, name):
        return
    setting, wanted, labels = setting_of(name), chosen(order), energy_steps.labels(order)
    found = fit(wanted, labels, setting, seed=order.seed, progress=part(progress, 0, 2))
    shooter = Shooter(
        setting=setting,
        energy=found.energy,
        modes=energy_steps.modes(order),
        strokes=energy_steps.strokes(order),
        table=Table(),
        low=np.append(shots.LOW, -shots.LARGEST_ANGLE),
        high=np.append(shots.HIGH, shots.LARGEST_ANGLE),
    )
    checked = shooting_audit.check(shooter, wanted, seed=order.seed, progress=part(progress, 1, 2))
    energy_packages.write(
        shooter,
        place(order, name),
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
    wanted: Energy, labels: Labels, setting: Setting, *, seed: int, progress: Progress = silent
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


def chosen(order: Order, progress: Progress = silent) -> Energy:
    """Return what to train with: the settings, or what a search over them found best.

    Args:
        order: What is wanted.
        progress: Told of hundredths of each trial.

    Returns:
        Size and schedule.
    """
    wanted = order.settings.energy
    if wanted.trials == 0:
        return wanted
    from tasks import energy_search  # Optuna takes a second to import

    return energy_search.search(order, progress)


def run(order: Order, show: Show = hidden) -> dict[str, Any]:
    """Do what `ricochet train energy --no-publish` promises.

    Args:
        order: What is wanted.
        show: Shows the progress of each step.

    Returns:
        What `result.json` holds.
    """
    new = not is_done(order)
    for step in steps(order) if new else ():
        take(step, show)
    result = summary(order, trained=new)
    write_json(order.out / "result.json", result)
    return result


def train(order: Order, show: Show = hidden) -> None:
    """Have the packages of a training, without pictures.

    Args:
        order: What is wanted.
        show: Shows the progress of each step.
    """
    for step in () if is_trained(order) else steps(order)[:-1]:
        take(step, show)


def take(step: Step, show: Show) -> None:
    """Take a step of a training.

    Args:
        step: The step.
        show: Shows its progress.
    """
    with show(step.label) as progress:
        step.do(progress)


def draw(order: Order, progress: Progress = silent) -> None:
    """Draw what a training learnt, into `figures`, and hold the modes against unseen episodes.

    Args:
        order: What was wanted; the packages are there.
        progress: Told of the episodes.

    Raises:
        BadInput: If a package is not whole.
    """
    found = {name: read_package(place(order, name), reader=READER) for name in NAMES}
    energy_pictures.draw(
        {name: energy_packages.from_package(one, where=name) for name, one in found.items()},
        {name: one.checks[HELD_OUT] for name, one in found.items()},
        candidates=order.settings.energy.candidates,
        aim=order.settings.energy.aim_sd,
        folder=order.out / "figures",
    )
    rows = energy_steps.predictions(order, progress)
    drawn = figures.to_png(energy_figures.predictions(rows))
    write_bytes(order.out / "figures" / "modes.png", drawn)
    told = {"key": _drawn_key(order), "rows": [asdict(row) for row in rows]}
    write_json(order.out / PREDICTION, told)


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
            name: {k: v for k, v in package.checks.items() if not isinstance(v, list)}
            for name, package in found.items()
        },
        "prediction": _predicted(order)["rows"],
        "settings": dict(next(iter(found.values())).settings["training"]),
        "registered": None,
    }


def _drawn_key(order: Order) -> str:
    """Name everything that decides the pictures and the predictions."""
    code = code_digest(("tasks/energy_figures.py", "tasks/energy_pictures.py", "tasks/figures.py"))
    return digest_of([key(order), energy_steps.predictions_key(order), code])


def _predicted(order: Order) -> dict[str, Any]:
    """Return what the last step wrote; nothing where it did not."""
    try:
        return dict(json.loads((order.out / PREDICTION).read_text()))
    except (OSError, ValueError, TypeError):
        return {}


def _found(order: Order, name: str) -> bool:
    try:
        return read_package(place(order, name), reader=READER).data_digest == key(order)
    except BadInput:
        return False


def _finite(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in numbers.items() if math.isfinite(value)}
