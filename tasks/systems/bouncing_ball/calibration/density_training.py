"""From settings to a verified density: what `ricochet train density` does.

A package that is there with the key of these settings is not trained again.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.general_settings import Search
from ricochet.tasks.registry.packages import read_package
from ricochet.tasks.systems.bouncing_ball.calibration import density, density_files
from ricochet.tasks.systems.bouncing_ball.calibration.density import Trained
from ricochet.tasks.systems.bouncing_ball.calibration.density_packages import READER, local_version
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY
from ricochet.tasks.systems.bouncing_ball.settings import Density
from ricochet.tasks.training.steps import Step, TrainingRequest


def package_folder(request: TrainingRequest) -> Path:
    """Return the folder of the package."""
    return request.out / "package"


def is_complete(request: TrainingRequest) -> bool:
    """Tell whether the package of these settings is there and whole."""
    try:
        package = read_package(package_folder(request), reader=READER)
    except (BadInput, SafetensorError):
        return False  # absent, of another size, or damaged
    return package.data_digest == density.key(request.settings[Density], request.seed)


def steps(request: TrainingRequest) -> tuple[Step, ...]:
    """Return the steps of a training: a search where one is wanted, then the density."""
    search = [Step("search", partial(_chosen, request))] if request.settings[Density].trials else []
    return (*search, Step("density", partial(find_or_train, request)))


def find_or_train(request: TrainingRequest, progress: Progress = no_progress) -> Path:
    """Return the package of these settings, trained now unless it is there."""
    if not is_complete(request):
        density_files.write(_train(request, progress), package_folder(request))
    return package_folder(request)


def describe(request: TrainingRequest) -> dict[str, Any]:
    """Return what `result.json` holds of a trained density."""
    package = package_folder(request)
    found = read_package(package, reader=READER)
    return {
        "schema": "ricochet.density/1",
        "model": f"{DENSITY.pattern}/{local_version(package)}",
        "package": package.name,
        "held_out": found.checks["held_out"],
        "settings": dict(found.settings),
        "registered": None,
    }


def lines(result: Mapping[str, Any], out: Path) -> tuple[str, ...]:
    """Return the result in a line for the terminal."""
    held_out = f"held-out {result['held_out']:.3f} nats"
    return (f"{result['model']}: {held_out}, {out / result['package']}",)


def _train(request: TrainingRequest, progress: Progress) -> Trained:
    chosen = _chosen(request, no_progress)
    trained = density.train(chosen, seed=request.seed, progress=progress)
    return replace(trained, asked=request.settings[Density])


def _chosen(request: TrainingRequest, progress: Progress) -> Density:
    """Return what to train with: the settings, or what a search over them found best."""
    settings = request.settings[Density]
    if settings.trials == 0:
        return settings
    from ricochet.tasks.systems.bouncing_ball.calibration import density_search  # Optuna: a second

    return density_search.search(
        settings,
        request.out,
        seed=request.seed,
        rules=request.settings[Search],
        progress=progress,
    )


def metrics(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the number by which densities are compared, nats: less is better."""
    return {"held_out_nats": result["held_out"]}
