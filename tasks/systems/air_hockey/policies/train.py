"""From shots to verified packages, one a setting: what `ricochet train energy` does.

    puck modes, strokes, shots   what all settings share (`training_data`)
    search                       of size and schedule, where one is asked for (`search`)
    shooting-<setting>           the energy with contacts and strokes (`policy`)
    pictures                     what was learnt, and how well the modes predict the puck

What trains and draws is imported when a step needs it: a training that is there loads neither.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.console.progress import part
from ricochet.tasks.registry.packages import Package, read_package
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import digest_of, write_json
from ricochet.tasks.storage.provenance import code_digest
from ricochet.tasks.systems.air_hockey.policies import packages, training_data
from ricochet.tasks.systems.air_hockey.policies.packages import HELD_OUT, READER, folder_of
from ricochet.tasks.systems.air_hockey.policies.training_data import SIMULATED
from ricochet.tasks.systems.air_hockey.policy_names import policy_names
from ricochet.tasks.systems.air_hockey.settings import Energies
from ricochet.tasks.training.steps import Step, TrainingRequest

SCHEMA = "ricochet.energies/1"
PREDICTION = "prediction.json"
"""Written last: rows of how well the modes predict the puck, and the key of what was drawn."""


def is_complete(request: TrainingRequest) -> bool:
    """Tell whether a training has its packages, and every picture."""
    return has_packages(request) and _predicted(request).get("key") == _drawn_key(request)


def has_packages(request: TrainingRequest) -> bool:
    """Tell whether every package of a training is there and whole."""
    key = training_data.packages_key(request)
    return all(packages.is_current(folder, key) for folder in folders(request).values())


def folders(request: TrainingRequest) -> dict[str, Path]:
    """Return the folders of the packages by name."""
    return {name: folder_of(request.out, name) for name in policy_names()}


def steps(request: TrainingRequest) -> tuple[Step, ...]:
    """Return the steps of a training in their order, pictures last."""
    shared = [
        Step("puck modes", partial(training_data.modes, request)),
        Step("strokes", partial(training_data.strokes, request)),
        Step("shots", partial(training_data.targets, request)),
    ]
    if request.settings[Energies].trials:
        shared.append(Step("search", partial(_policy, request, None)))
    own = [Step(name, partial(_policy, request, name)) for name in policy_names()]
    return (*shared, *own, Step("pictures", partial(draw, request)))


def train(request: TrainingRequest, progress: Progress = no_progress) -> None:
    """Have the packages of a training, without pictures."""
    left = () if has_packages(request) else steps(request)[:-1]
    for number, step in enumerate(left):
        step.run(part(progress, number, len(left)))


def draw(request: TrainingRequest, progress: Progress = no_progress) -> None:
    """Draw what a training learnt into `figures`, and compare the modes with unseen episodes."""
    from ricochet.tasks.figures import style
    from ricochet.tasks.systems.air_hockey.figures import training, training_set

    found = _packages(request)
    figures = request.out / "figures"
    training_set.draw(
        {name: packages.from_package(one, where=name) for name, one in found.items()},
        {name: one.checks[HELD_OUT] for name, one in found.items()},
        candidates=request.settings[Energies].candidates,
        aim=request.settings[Energies].aim_sd,
        folder=figures,
    )
    rows = training_data.predictions(request, progress)
    style.write(figures, {"modes": training.predictions(rows)})
    facts = {"key": _drawn_key(request), "rows": [asdict(row) for row in rows]}
    write_json(request.out / PREDICTION, facts)


def describe(request: TrainingRequest) -> dict[str, Any]:
    """Return what `result.json` holds of a training."""
    found = _packages(request)
    return {
        "schema": SCHEMA,
        "energies": {
            name: {k: v for k, v in package.checks.items() if not isinstance(v, list)}
            for name, package in found.items()
        },
        "prediction": _predicted(request)["rows"],
        "settings": dict(next(iter(found.values())).settings["training"]),
        "registered": None,
    }


def lines(result: Mapping[str, Any], out: Path) -> tuple[str, ...]:
    """Return the result in a line a setting for the terminal, and where the contacts are from."""
    recording = result["settings"]["recording"]
    source = "the simulated table" if recording == SIMULATED else f"recording {recording[:12]}"
    return (
        *(
            f"{name}: loses {row['regret_share']:.4f} of the best objective,"
            f" {row['agreement']:.2f} of the modes agree"
            for name, row in result["energies"].items()
        ),
        f"contacts learnt from {source}",
    )


def metrics(result: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the numbers by which policies are compared, by name."""
    return {
        name: {key: row[key] for key in ("regret_share", "agreement")}
        for name, row in result["energies"].items()
    }


def _policy(request: TrainingRequest, name: str | None, progress: Progress) -> None:
    """Train a policy, or search what to train all with."""
    from ricochet.tasks.systems.air_hockey.policies import policy  # torch takes seconds to import

    if name is None:
        policy.chosen(request, progress)
    else:
        policy.train(request, name, progress)


def _packages(request: TrainingRequest) -> dict[str, Package]:
    return {name: read_package(place, reader=READER) for name, place in folders(request).items()}


def _drawn_key(request: TrainingRequest) -> str:
    """Return the digest of everything that decides the pictures and the predictions."""
    drawn = training_data.predictions_key(request), code_digest(__name__)
    return digest_of([training_data.packages_key(request), *drawn])


def _predicted(request: TrainingRequest) -> dict[str, Any]:
    """Return what the last step wrote; nothing where it did not."""
    try:
        return checked_json.load(request.out / PREDICTION, "what a training wrote")
    except (OSError, ValueError, TypeError):
        return {}
