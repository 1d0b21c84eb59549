"""A trained density as a verified package: arrays alone, and a self-test at fixed inputs.

numpy is enough to read, check and evaluate it; `density_files` makes one of a trained network. The
self-test evaluates log q(theta | x) at `REFERENCES` simulated drops.
"""

from pathlib import Path

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference import density_evaluation
from ricochet.models.probability import mixture_arrays
from ricochet.models.systems.bouncing_ball.paper_prior import HIGH, LOW, PARAMETERS
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import MANIFEST, Arrays, Package
from ricochet.tasks.registry.quantities import Quantity
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.bouncing_ball.calibration import density_checks
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY

KIND = "conditional-density"
MOST_OUTPUTS = 2**21
"""Numbers that a layer gives in the self-test, in all members and rows: 16 MB."""
REFERENCES = 16


def parameters() -> tuple[Parameter, ...]:
    """Describe the parameters of the bouncing ball in the order of theta."""
    named = zip(PARAMETERS, LOW, HIGH, strict=True)
    return tuple(Parameter(name, "1", low, high) for name, low, high in named)


def evaluate(arrays: Arrays, inputs: Arrays) -> Arrays:
    """Return `log_density`, nats, at `theta`, `values`, `location`, `scale`, one row a case.

    Raises:
        ValueError: Layers and rows are too many together.
    """
    layers = range(density_evaluation.depth(arrays))
    shapes = [arrays[f"weight_{layer}"].shape for layer in layers]
    widest, rows = max(shape[0] * shape[-1] for shape in shapes), len(inputs["theta"])
    if widest * rows > MOST_OUTPUTS:
        raise ValueError(f"{widest} units for {rows} rows")
    cases = (inputs[name] for name in ("values", "location", "scale"))
    batch = density_evaluation.mixtures(arrays, *cases)
    return {"log_density": mixture_arrays.log_density(batch, inputs["theta"])}


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
    density_checks.check_arrays(package.arrays, np.array((LOW, HIGH)), where)
    density_checks.check_normalised(package.arrays, package.inputs, where)


READER = Reader(evaluate, describe=describe, check=check, made_by=DENSITY.made_by)
"""The reader of this kind."""


def local_version(package: Path) -> str:
    """Name a package that is in no registry: `local-` and the start of its manifest's digest."""
    return f"local-{sha256(package / MANIFEST)[:12]}"
