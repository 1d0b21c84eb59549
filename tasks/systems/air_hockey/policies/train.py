"""From shots to verified packages, one a setting: what `ricochet train energy` ends with.

    puck modes, strokes, shots    what all settings share
    (`tasks.systems.air_hockey.policies.training_data`) search                        of size and
    schedule, where one is wanted shooting-<setting>            the energy with contacts and strokes
    (`tasks.systems.air_hockey.policies.energy`) pictures                      what was learnt, and
    how well the modes foretell the puck

Every step finds its own earlier result by the digest of all that decides it, so that a training
that was interrupted goes on where it stopped, and one that is there is not repeated.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ricochet.models.systems.air_hockey.shots import objective
from ricochet.tasks.console.progress import Progress, Show, hidden, silent
from ricochet.tasks.figures import style
from ricochet.tasks.registry.packages import read_package
from ricochet.tasks.storage.files import digest_of, write_bytes, write_json
from ricochet.tasks.storage.provenance import code_digest
from ricochet.tasks.systems.air_hockey.figures import training, training_set
from ricochet.tasks.systems.air_hockey.kinds import SHOOTING
from ricochet.tasks.systems.air_hockey.policies import energy, packages, training_data
from ricochet.tasks.systems.air_hockey.policies.energy import HELD_OUT
from ricochet.tasks.systems.air_hockey.policies.packages import READER
from ricochet.tasks.systems.air_hockey.policies.training_data import Order
from ricochet.tasks.systems.air_hockey.settings import Energies

SCHEMA = "ricochet.energies/1"
NAMES = tuple(f"{SHOOTING}{setting.name}" for setting in objective.SETTINGS)
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
    return all(energy.is_there(order, place(order, name)) for name in NAMES)


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
        Step("puck modes", partial(training_data.modes, order)),
        Step("strokes", partial(training_data.strokes, order)),
        Step("shots", partial(training_data.labels, order)),
    ]
    if order.settings[Energies].trials:
        shared.append(Step("search", partial(energy.chosen, order)))
    own = [Step(name, partial(energy.train, order, name, place(order, name))) for name in NAMES]
    return (*shared, *own, Step("pictures", partial(draw, order)))


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
    training_set.draw(
        {name: packages.from_package(one, where=name) for name, one in found.items()},
        {name: one.checks[HELD_OUT] for name, one in found.items()},
        candidates=order.settings[Energies].candidates,
        aim=order.settings[Energies].aim_sd,
        folder=order.out / "figures",
    )
    rows = training_data.predictions(order, progress)
    drawn = style.to_png(training.predictions(rows))
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
    drawn = training_data.predictions_key(order), code_digest(__name__)
    return digest_of([energy.key(order), *drawn])


def _predicted(order: Order) -> dict[str, Any]:
    """Return what the last step wrote; nothing where it did not."""
    try:
        return dict(json.loads((order.out / PREDICTION).read_text()))
    except (OSError, ValueError, TypeError):
        return {}
