"""A trained density to a package and back (`density_packages`)."""

from dataclasses import asdict
from pathlib import Path

import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference import density_arrays
from ricochet.models.inference.mixture_density_networks import ConditionalDensity
from ricochet.tasks.registry.packages import Package, read_package, write_package
from ricochet.tasks.storage.provenance import git_commit
from ricochet.tasks.systems.bouncing_ball.calibration import density as densities
from ricochet.tasks.systems.bouncing_ball.calibration import density_packages
from ricochet.tasks.systems.bouncing_ball.calibration.density import SEARCHED, Trained
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY


def write(trained: Trained, folder: Path) -> None:
    """Write a density as a package; `BadInput` if the place cannot be written."""
    draw = torch.Generator().manual_seed(0)
    theta, inputs = densities.training_pairs(density_packages.REFERENCES, draw=draw)
    checked = densities.check(trained.density, seed=trained.seed)
    package = Package(
        kind=density_packages.KIND,
        name=DENSITY.pattern,
        parameters=density_packages.parameters(),
        arrays=density_arrays.to_arrays(trained.density),
        inputs={
            "theta": theta.numpy(),
            "values": inputs.values.numpy(),
            "location": inputs.coordinates.location.numpy(),
            "scale": inputs.coordinates.scale.numpy(),
        },
        checks={"held_out": trained.held_out, "history": list(trained.history), **checked},
        data_digest=densities.key(trained.asked, trained.seed),
        git_commit=git_commit(),
        settings={
            **asdict(trained.asked),
            "seed": trained.seed,
            "chosen": {name: getattr(trained.settings, name) for name in SEARCHED},
        },
    )
    write_package(folder, package, reader=density_packages.READER)


def read(folder: Path) -> ConditionalDensity:
    """Read a density from a verified package; `BadInput` if it is damaged or of another kind."""
    package = read_package(folder, reader=density_packages.READER)
    if package.kind != density_packages.KIND:
        raise BadInput(str(folder), f"kind {package.kind}", density_packages.KIND)
    return density_arrays.from_arrays(package.arrays)
