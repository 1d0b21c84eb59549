"""One policy: its energy trained and checked, with contacts and strokes in a verified package."""

import math
from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE, Table
from ricochet.tasks.console.progress import part
from ricochet.tasks.storage.provenance import git_commit
from ricochet.tasks.systems.air_hockey.policies import energy, packages, regret, training_data
from ricochet.tasks.systems.air_hockey.policies.packages import HELD_OUT, Shooter
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from ricochet.tasks.training.steps import TrainingRequest


def train(request: TrainingRequest, name: str, progress: Progress = no_progress) -> None:
    """Train the energy of a setting, check it and write its package, unless it is there."""
    folder, key = packages.folder_of(request.out, name), training_data.packages_key(request)
    if packages.is_current(folder, key):
        return
    recording = training_data.recorded(request)
    settings, targets = chosen(request), training_data.targets(request)
    setting = energy.setting_of(name)
    training, checking = (part(progress, number, 2) for number in range(2))
    found = energy.fit(settings, targets, setting, seed=request.seed, progress=training)
    shooter = Shooter(
        setting=setting,
        energy=found.energy,
        modes=training_data.modes(request),
        strokes=training_data.strokes(request),
        table=Table(),
        low=np.append(objective.LOW, -LARGEST_ANGLE),
        high=np.append(objective.HIGH, LARGEST_ANGLE),
    )
    checked = regret.check(shooter, settings, seed=request.seed, progress=checking)
    _check_unchanged(request, recording)
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
        key=key,
        git_commit=git_commit(),
        settings={
            **asdict(settings),
            "seed": request.seed,
            "recording": recording,
        },
    )


def chosen(request: TrainingRequest, progress: Progress = no_progress) -> Energies:
    """Return what to train with: the settings, or what a search over them found best."""
    if request.settings[Energies].trials == 0:
        return request.settings[Energies]
    from ricochet.tasks.systems.air_hockey.policies import search  # Optuna takes a second to import

    return search.search(request, progress)


def _check_unchanged(request: TrainingRequest, recording: str) -> None:
    """Refuse a recording that is another than when the training began."""
    if training_data.recorded(request) != recording:
        where, changed = request.settings[Hockey].recording, "other episodes than at the beginning"
        raise BadInput(where, changed, "a recording that stays as it is")


def _finite(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in numbers.items() if math.isfinite(value)}
