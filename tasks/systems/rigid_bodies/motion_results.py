"""What every inference from motion writes and says: numbers, draws, a package and figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.tasks.figures import style
from ricochet.tasks.registry import packages
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import Arrays, Package
from ricochet.tasks.storage.files import digest_of, output_folder, sha256, write_arrays
from ricochet.tasks.storage.provenance import git_commit
from ricochet.tasks.systems.interface import InferenceRequest
from ricochet.tasks.systems.rigid_bodies.figures import motion_inference as figures
from ricochet.tasks.systems.rigid_bodies.motion_inference import Inferred
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded

CHECKS = (
    "fit_rmse",
    "starts_at_best",
    "mixing",
    "rank",
    "at_limits",
    "misfit",
    "prediction_together",
)
"""Entries of the result that its package keeps."""


def content(inferred: Inferred, learnt: Mapping[str, Recorded], particles: int) -> dict[str, Any]:
    """Return what `result.json` says of a posterior and of what it was learnt from."""
    shooting = inferred.shooting
    return {
        "files": {name: len(run.states) for name, run in learnt.items()},
        "rate": inferred.rate,
        "pieces": len(shooting.observed),
        "span": shooting.windows * shooting.steps / inferred.rate,
        "particles": particles,
        "draws": len(inferred.theta),
        **inferred.to_json(),
    }


def package(
    request: InferenceRequest,
    inferred: Inferred,
    result: Mapping[str, Any],
    *,
    kind: str,
    arrays: Arrays,
    inputs: Arrays,
    settings: Mapping[str, Any],
    further: Sequence[Path] = (),
) -> Package:
    """Return the package of a posterior.

    Args:
        further: Recordings that were learnt from beside the files of the request.
        inputs: Of its self-test.
        settings: By section, seed and rate apart.
    """
    problem, limits = inferred.problem, inferred.limits
    table = zip(problem.names, problem.units, limits.low, limits.high, strict=True)
    return Package(
        kind=kind,
        name=request.name,
        parameters=tuple(
            Parameter(name, unit, float(low), float(high)) for name, unit, low, high in table
        ),
        arrays=arrays,
        inputs=inputs,
        checks={name: result[name] for name in CHECKS},
        data_digest=digest_of([sha256(file) for file in (*request.files, *further)]),
        git_commit=git_commit(),
        settings={**settings, "seed": request.seed, "rate": inferred.rate},
    )


def write(request: InferenceRequest, inferred: Inferred, made: Package, reader: Reader) -> None:
    """Write `samples.npz`, `package` and figures."""
    posterior, folder = inferred.posterior, output_folder(request.out)
    write_arrays(
        folder / "samples.npz",
        {
            "theta": inferred.theta.numpy(),
            "observation": posterior.sigma.flatten(0, 1).numpy(),
            "departure": posterior.delta.flatten(0, 1).numpy(),
        },
    )
    packages.write_package(folder / "package", made, reader=reader)
    style.write(folder, {"posterior": figures.posterior(inferred), "fit": figures.fit(inferred)})


def lines(result: Mapping[str, Any]) -> list[str]:
    """Return what is shown of a posterior at the terminal."""
    deviations = np.sqrt(np.diag(result["covariance"]))
    table = zip(result["parameters"], result["mean"], deviations, strict=True)
    found = [f"  {name:14}{mean:12.4g} +- {sd:.2g}" for name, mean, sd in table]
    count, rank = len(result["parameters"]), result["rank"]
    found.append(
        f"the motion tells {rank} of {count} directions; of the other {count - rank} only the"
        " limits are known"
        if rank < count
        else "the motion tells all parameters"
    )
    found += [f"at a limit: {', '.join(result['at_limits'])}"] if result["at_limits"] else []
    found += [f"note: {line}" for line in result["misfit"]]
    return found
