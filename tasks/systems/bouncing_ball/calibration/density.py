"""The bouncing ball's conditional density as a trained, verified package.

Training pairs are drawn from prior and simulator; the noise of each drop is drawn too, from a wide
range, so that one network serves a good rig and a poor one. A package holds arrays alone; its
self-test evaluates log q(theta | x) at fixed inputs.
"""

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference import calibration_checks, density_arrays, mixture_density_networks
from ricochet.models.inference.mixture_density_networks import ConditionalDensity, Inputs, Training
from ricochet.models.probability import truncated_mixtures
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import drop_posterior, network_features
from ricochet.models.systems.bouncing_ball.calibration.drop_posterior import NoiseRange
from ricochet.tasks.console.progress import Progress, silent
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.packages import (
    MANIFEST,
    Arrays,
    Package,
    Parameter,
    read_package,
    write_package,
)
from ricochet.tasks.storage.files import digest_of, sha256, write_json
from ricochet.tasks.storage.provenance import code_digest, git_commit
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY
from ricochet.tasks.systems.bouncing_ball.settings import Density

NAME = DENSITY.pattern
KIND = "conditional-density"
REFERENCES = 16
SEARCHED = ("hidden", "components", "learning_rate")
"""Settings that a search may choose."""
CASES, DRAWS = 1000, 200
"""Drops on which a density is checked, and draws for each."""


@dataclass(frozen=True)
class Trained:
    """A trained density with the record of its training.

    Attributes:
        density: The density.
        held_out: Mean negative log density of held-out pairs, nats.
        history: The same at each look during training.
        cpu_time: Processor time, s.
        settings: What it was trained with.
        asked: What was asked for; a search chose `settings` starting from it.
        seed: Seed of all randomness.
    """

    density: ConditionalDensity
    held_out: float
    history: tuple[float, ...]
    cpu_time: float
    settings: Density
    asked: Density
    seed: int


def parameters() -> tuple[Parameter, ...]:
    """Describe the parameters of the bouncing ball.

    Returns:
        Names, units and bounds in the order of theta.
    """
    prior = problem.PRIOR
    named = zip(problem.PARAMETERS, prior.low, prior.high, strict=True)
    return tuple(Parameter(name, "1", low, high) for name, low, high in named)


def training_pairs(count: int, *, draw: torch.Generator) -> tuple[torch.Tensor, Inputs]:
    """Draw parameters, and what the network is told of a drop of each.

    Args:
        count: Number of pairs.
        draw: Source of randomness.

    Returns:
        Parameters, shape (count, 2), and inputs.
    """
    noise = drop_posterior.draw_noise(NoiseRange(), count, draw=draw)
    drops = problem.simulate_drops(noise, draw=draw)
    return drops.theta, network_features.from_both(drops.features, drops.noise)


def train(settings: Density, *, seed: int) -> Trained:
    """Train a density as the settings say.

    Args:
        settings: Size and schedule.
        seed: Seed of all randomness; the same seed gives the same density.

    Returns:
        The density.
    """
    draw = torch.Generator().manual_seed(seed)
    theta, inputs = training_pairs(settings.simulations, draw=draw)
    fit = mixture_density_networks.fit(
        theta, inputs, box=problem.PRIOR, training=_training(settings), draw=draw
    )
    held_out = min(fit.held_out)
    return Trained(fit.density, held_out, fit.held_out, fit.cpu_time, settings, settings, seed)


def key(settings: Density, seed: int) -> str:
    """Name everything that decides a trained density.

    Args:
        settings: Size and schedule.
        seed: Seed of all randomness.

    Returns:
        A digest.
    """
    return digest_of({"settings": asdict(settings), "seed": seed, "code": code_digest(__name__)})


def write(trained: Trained, folder: Path) -> None:
    """Write a density as a package.

    Args:
        trained: The density.
        folder: The package to make.

    Raises:
        BadInput: If the place cannot be written.
    """
    draw = torch.Generator().manual_seed(0)
    theta, inputs = training_pairs(REFERENCES, draw=draw)
    checked = check(trained.density, seed=trained.seed)
    package = Package(
        kind=KIND,
        parameters=parameters(),
        arrays=density_arrays.to_arrays(trained.density),
        inputs={
            "theta": theta.numpy(),
            "values": inputs.values.numpy(),
            "location": inputs.coordinates.location.numpy(),
            "scale": inputs.coordinates.scale.numpy(),
        },
        checks={"held_out": trained.held_out, "history": list(trained.history), **checked},
        data_digest=key(trained.asked, trained.seed),
        git_commit=git_commit(),
        settings={
            **asdict(trained.asked),
            "seed": trained.seed,
            "chosen": {name: getattr(trained.settings, name) for name in SEARCHED},
        },
    )
    write_package(folder, package, reader=READER)


def check(density: ConditionalDensity, *, seed: int, cases: int = CASES) -> dict[str, Any]:
    """Measure on fresh simulated drops whether the density is honest.

    Args:
        density: The density.
        seed: Seed of the drops, which are not those of the training.
        cases: Number of drops.

    Returns:
        `cases`, `ranks` of the truth by parameter, and `coverage` by level.
    """
    draw = torch.Generator().manual_seed(seed + 2**32)
    theta, inputs = training_pairs(cases, draw=draw)
    mixture = density.mixture(inputs)
    samples = truncated_mixtures.sample(mixture, DRAWS, draw=draw)
    levels = calibration_checks.credibility(
        truncated_mixtures.log_density(mixture, samples).T.numpy(),
        truncated_mixtures.log_density(mixture, theta).numpy(),
    )
    ranks = calibration_checks.ranks(
        samples.transpose(0, 1).numpy(), theta.numpy(), draw=np.random.default_rng(seed)
    )
    names = problem.PARAMETERS
    return {
        "cases": cases,
        "ranks": {
            name: np.round(row, 4).tolist() for name, row in zip(names, ranks.T, strict=True)
        },
        "coverage": {str(row.nominal): row.found for row in calibration_checks.coverage(levels)},
    }


def read(folder: Path) -> ConditionalDensity:
    """Read a density from a verified package.

    Args:
        folder: The package.

    Returns:
        The density.

    Raises:
        BadInput: If the package is not exactly what its manifest promises.
    """
    return from_package(read_package(folder, reader=READER), where=str(folder))


def from_package(package: Package, *, where: str) -> ConditionalDensity:
    """Rebuild a density from a package that was read.

    Args:
        package: The package.
        where: Its name, for an error.

    Returns:
        The density.

    Raises:
        BadInput: If the package is of another kind.
    """
    if package.kind != KIND:
        raise BadInput(where, f"kind {package.kind}", KIND)
    return density_arrays.from_arrays(package.arrays)


def evaluate(arrays: Arrays, inputs: Arrays) -> Arrays:
    """Evaluate a package of this kind at its reference inputs.

    Args:
        arrays: The arrays of the density.
        inputs: `theta`, `values`, `location` and `scale`, one row a case.

    Returns:
        `log_density`, nats.
    """
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in inputs.items()}
    where = Coordinates(tensors["location"], tensors["scale"])
    density = density_arrays.from_arrays(arrays)
    value = density.log_density(tensors["theta"], Inputs(tensors["values"], where))
    return {"log_density": value.numpy()}


READER = Reader(evaluate)
"""The reader of this kind."""


def find_or_train(
    settings: Density, folder: Path, *, seed: int, progress: Progress = silent
) -> tuple[Path, bool]:
    """Return the package of these settings, training it where it is not there yet.

    Args:
        settings: Size and schedule.
        folder: Where the package lies or shall lie, as `folder/package`.
        seed: Seed of all randomness.
        progress: Told of each trial of a search.

    Returns:
        The package, and whether it was trained now.

    Raises:
        BadInput: If the place cannot be written.
    """
    package = folder / "package"
    try:
        if read_package(package, reader=READER).data_digest == key(settings, seed):
            return package, False
    except (BadInput, SafetensorError):
        pass  # absent, of another size, or damaged: made again
    write(_best(settings, folder, seed=seed, progress=progress), package)
    return package, True


def run(
    settings: Density, folder: Path, *, seed: int, progress: Progress = silent
) -> dict[str, Any]:
    """Do what `ricochet train density --no-publish` promises.

    Args:
        settings: Size and schedule.
        folder: Folder of the results.
        seed: Seed of all randomness.
        progress: Told of each trial of a search.

    Returns:
        What `result.json` holds.
    """
    package, trained = find_or_train(settings, folder, seed=seed, progress=progress)
    result = summary(package, trained=trained)
    write_json(folder / "result.json", result)
    return result


def summary(package: Path, *, trained: bool) -> dict[str, Any]:
    """Describe a package of a density.

    Args:
        package: The package.
        trained: Whether it was trained now.

    Returns:
        What `result.json` holds.
    """
    found = read_package(package, reader=READER)
    return {
        "schema": "ricochet.density/1",
        "model": f"{NAME}/{local_version(package)}",
        "package": package.name,
        "trained": trained,
        "held_out": found.checks["held_out"],
        "settings": dict(found.settings),
        "registered": None,
    }


def local_version(package: Path) -> str:
    """Name a package that is in no registry.

    Args:
        package: The package.

    Returns:
        `local-` and the start of its manifest's digest.
    """
    return f"local-{sha256(package / MANIFEST)[:12]}"


def _best(settings: Density, folder: Path, *, seed: int, progress: Progress) -> Trained:
    if settings.trials == 0:
        return train(settings, seed=seed)
    from ricochet.tasks.systems.bouncing_ball.calibration import (
        density_search,  # Optuna takes a second to import
    )

    best = density_search.search(settings, folder, seed=seed, progress=progress).best
    return replace(train(best, seed=seed), asked=settings)


def _training(settings: Density) -> Training:
    steps = math.ceil(settings.epochs * settings.simulations / settings.batch)
    return Training(
        components=settings.components,
        hidden=settings.hidden,
        steps=steps,
        batch=settings.batch,
        rate=settings.learning_rate,
    )
