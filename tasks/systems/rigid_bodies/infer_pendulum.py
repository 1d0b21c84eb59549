"""What `ricochet infer double-pendulum` does: recordings in, posterior and predictions out.

All files are read, and refused where they must be, before anything is computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.systems.rigid_bodies.pendulum_parameters import PARAMETERS, UNITS
from ricochet.tasks.console.progress import part
from ricochet.tasks.figures import style
from ricochet.tasks.registry import packages
from ricochet.tasks.registry.packages import Package, Parameter
from ricochet.tasks.storage.files import digest_of, output_folder, sha256, write_arrays, write_json
from ricochet.tasks.storage.provenance import git_commit
from ricochet.tasks.systems.interface import InferenceRequest
from ricochet.tasks.systems.rigid_bodies import (
    motion_files,
    particle_packages,
    pendulum_inference,
    pendulum_predictions,
)
from ricochet.tasks.systems.rigid_bodies.figures import pendulum_inference as figures
from ricochet.tasks.systems.rigid_bodies.motion_files import Recorded
from ricochet.tasks.systems.rigid_bodies.pendulum_inference import Inferred
from ricochet.tasks.systems.rigid_bodies.settings import Pendulum

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
METRICS = ("fit_rmse", "starts_at_best", "mixing", "rank")
"""And those by which revisions are compared."""


def run(request: InferenceRequest) -> dict[str, Any]:
    """Infer, predict, and write `samples.npz`, `package` and figures."""
    settings = request.settings[Pendulum]
    learnt, others = (_read(files, request.rate) for files in (request.files, request.predicted))
    generator = np.random.default_rng(request.seed)
    inferred = pendulum_inference.infer(
        learnt,
        generator,
        span=settings.span,
        instants=settings.instants,
        particles=settings.particles,
        progress=part(request.progress, 0, 2),
    )
    found = pendulum_predictions.predict(inferred, others, generator)
    request.progress(2, 2)
    result = {
        "schema": "ricochet.motion-posterior/1",
        "files": {name: len(run.states) for name, run in learnt.items()},
        "rate": inferred.rate,
        "pieces": len(inferred.shooting.observed),
        "span": inferred.shooting.windows * inferred.shooting.steps / inferred.rate,
        "particles": settings.particles,
        **inferred.to_json(),
        "prediction": {name: each.to_json() for name, each in found.items()},
        "prediction_together": pendulum_predictions.together(list(found.values())).to_json()
        if found
        else None,
        "not_predicted": [name for name in others if name not in found],
    }
    _write(request, inferred, result)
    return result


def lines(result: Mapping[str, Any]) -> list[str]:
    """Return what is shown at the terminal."""
    deviations = np.sqrt(np.diag(result["covariance"]))
    table = zip(result["parameters"], result["mean"], deviations, strict=True)
    found = [f"  {name:14}{mean:12.4g} +- {sd:.2g}" for name, mean, sd in table]
    untold = len(result["parameters"]) - result["rank"]
    found.append(
        f"the motion tells {result['rank']} of {len(result['parameters'])} directions; of the"
        f" other {untold} only the limits are known"
    )
    found += [f"at a limit: {', '.join(result['at_limits'])}"] if result["at_limits"] else []
    found += [f"note: {line}" for line in result["misfit"]]
    found += [_predicted(Path(name).name, each) for name, each in result["prediction"].items()]
    if len(result["prediction"]) > 1:
        found.append(_predicted("all of them", result["prediction_together"]))
    found += [f"note: {name} is too short to predict" for name in result["not_predicted"]]
    return found


def metrics(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers by which revisions are compared."""
    deviations = np.sqrt(np.diag(result["covariance"]))
    place = result["parameters"].index("length")
    found = {name: float(result[name]) for name in METRICS}
    found |= {"length_mean": result["mean"][place], "length_sd": float(deviations[place])}
    ahead = result["prediction_together"] or {}
    for name in ("angle_deg", "coverage_90"):
        found |= {f"{name}_{time}": value for time, value in ahead.get(name, {}).items()}
    return found


def _predicted(name: str, each: Mapping[str, Any]) -> str:
    parts = (f"{off:.1f} degrees after {t} s" for t, off in each["angle_deg"].items())
    held = ", ".join(f"{share:.2f}" for share in each["coverage_90"].values())
    return f"{name}: off by {', '.join(parts)}; 90 % intervals hold {held}"


def _read(files: Sequence[Path], rate: float | None) -> dict[str, Recorded]:
    runs = [motion_files.read(file, rate) for file in files]
    return pendulum_inference.of_files([str(file) for file in files], runs)


def _write(request: InferenceRequest, inferred: Inferred, result: Mapping[str, Any]) -> None:
    posterior, folder = inferred.posterior, output_folder(request.out)
    write_arrays(
        folder / "samples.npz",
        {
            "theta": inferred.theta.numpy(),
            "observation": posterior.sigma.flatten(0, 1).numpy(),
            "departure": posterior.delta.flatten(0, 1).numpy(),
        },
    )
    draws, settings = inferred.draws, request.settings[Pendulum]
    package = Package(
        kind=particle_packages.KIND,
        parameters=tuple(
            Parameter(name, unit, float(low), float(high))
            for name, unit, low, high in zip(
                PARAMETERS, UNITS, inferred.limits.low, inferred.limits.high, strict=True
            )
        ),
        arrays=particle_packages.arrays_of(draws),
        inputs=particle_packages.watched(draws),
        checks={name: result[name] for name in CHECKS},
        data_digest=digest_of([sha256(file) for file in request.files]),
        git_commit=git_commit(),
        settings={"pendulum": asdict(settings), "seed": request.seed, "rate": inferred.rate},
    )
    packages.write_package(folder / "package", package, reader=particle_packages.READER)
    write_json(folder / "metrics.json", metrics(result))
    style.write(folder, {"posterior": figures.posterior(inferred), "fit": figures.fit(inferred)})
