"""A trained density as a verified package: arrays alone, and a self-test at fixed inputs.

The self-test evaluates log q(theta | x) at `REFERENCES` simulated drops.
"""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference import density_arrays
from ricochet.models.inference.mixture_density_networks import ConditionalDensity, Inputs
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.systems.bouncing_ball import problem
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import MANIFEST, Arrays, Package, read_package, write_package
from ricochet.tasks.registry.quantities import Quantity
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.storage.provenance import git_commit
from ricochet.tasks.systems.bouncing_ball.calibration import density as densities
from ricochet.tasks.systems.bouncing_ball.calibration import density_checks
from ricochet.tasks.systems.bouncing_ball.calibration.density import SEARCHED, Trained
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY

KIND = "conditional-density"
MOST_OUTPUTS = 2**21
"""Numbers that a layer gives in the self-test, in all members and rows: 16 MB."""
REFERENCES = 16


def parameters() -> tuple[Parameter, ...]:
    """Describe the parameters of the bouncing ball in the order of theta."""
    prior = problem.PRIOR
    named = zip(problem.PARAMETERS, prior.low, prior.high, strict=True)
    return tuple(Parameter(name, "1", low, high) for name, low, high in named)


def write(trained: Trained, folder: Path) -> None:
    """Write a density as a package; `BadInput` if the place cannot be written."""
    draw = torch.Generator().manual_seed(0)
    theta, inputs = densities.training_pairs(REFERENCES, draw=draw)
    checked = densities.check(trained.density, seed=trained.seed)
    package = Package(
        kind=KIND,
        name=DENSITY.pattern,
        parameters=parameters(),
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
    write_package(folder, package, reader=READER)


def read(folder: Path) -> ConditionalDensity:
    """Read a density from a verified package; `BadInput` if it is damaged or of another kind."""
    package = read_package(folder, reader=READER)
    if package.kind != KIND:
        raise BadInput(str(folder), f"kind {package.kind}", KIND)
    return density_arrays.from_arrays(package.arrays)


def evaluate(arrays: Arrays, inputs: Arrays) -> Arrays:
    """Return `log_density`, nats, at `theta`, `values`, `location`, `scale`, one row a case."""
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in inputs.items()}
    where = Coordinates(tensors["location"], tensors["scale"])
    density = density_arrays.from_arrays(arrays)
    widest = max(weight.shape[0] * weight.shape[-1] for weight in density.layers.weights)
    if widest * len(tensors["theta"]) > MOST_OUTPUTS:
        raise ValueError(f"{widest} units for {len(tensors['theta'])} rows")
    value = density.log_density(tensors["theta"], Inputs(tensors["values"], where))
    return {"log_density": value.numpy()}


def describe(package: Package) -> tuple[Quantity, ...]:
    """Return the score by which a density is known, on pairs that it never met: less is better."""
    held_out = package.checks.get("held_out")
    if not isinstance(held_out, int | float):
        return ()
    return (Quantity("held-out negative log density", "nats", float(held_out)),)


def check(package: Package, where: str) -> None:
    """Refuse a package of another kind or other parameters, or that is no density: `BadInput`."""
    if (package.kind, package.parameters) != (KIND, parameters()):
        names = ", ".join(each.name for each in package.parameters)
        raise BadInput(where, f"kind {package.kind} of {names}"[:200], f"{KIND} of a ball")
    if package.name != DENSITY.pattern:
        raise BadInput(where, f"the package of {package.name}", DENSITY.pattern)
    density = density_checks.check_arrays(package.arrays, problem.PRIOR, where)
    density_checks.check_normalised(density, package.inputs, where)


READER = Reader(evaluate, describe=describe, check=check, made_by=DENSITY.made_by)
"""The reader of this kind."""


def local_version(package: Path) -> str:
    """Name a package that is in no registry: `local-` and the start of its manifest's digest."""
    return f"local-{sha256(package / MANIFEST)[:12]}"
