"""What `ricochet infer double-pendulum` does: recordings in, posterior and predictions out.

All files are read, and refused where they must be, before anything is computed.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.rigid_bodies.disc_crossing import FASTEST, SLOWEST
from ricochet.tasks.console.progress import part
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.systems.interface import InferenceRequest
from ricochet.tasks.systems.rigid_bodies import (
    motion_files,
    motion_inference,
    motion_results,
    particle_packages,
    pendulum_inference,
    pendulum_predictions,
    predicted_motions,
)
from ricochet.tasks.systems.rigid_bodies.motion_inference import Inferred
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded
from ricochet.tasks.systems.rigid_bodies.settings import Pendulum

METRICS = ("fit_rmse", "starts_at_best", "mixing", "rank")
"""Entries of the result by which revisions are compared."""


def run(request: InferenceRequest) -> dict[str, Any]:
    """Infer, predict, and write `samples.npz`, `package` and figures."""
    settings = request.settings[Pendulum]
    reader = partial(motion_files.read, rate=request.rate)
    learnt, others = motion_inference.read(reader, request.files, request.predicted)
    _refuse_rates(learnt)
    generator = np.random.default_rng(request.seed)
    with motion_inference.refused_limits(str(request.files[0])):
        inferred = pendulum_inference.infer(
            learnt,
            generator,
            span=settings.span,
            instants=settings.instants,
            particles=settings.particles,
            progress=part(request.progress, 0, 2),
        )
    found = predicted_motions.predict(inferred, others, generator)
    request.progress(2, 2)
    result = {
        "schema": "ricochet.motion-posterior/1",
        **motion_results.content(inferred, learnt, settings.particles),
        "prediction": {name: pendulum_predictions.to_json(each) for name, each in found.items()},
        "prediction_together": pendulum_predictions.together(list(found.values())),
        "not_predicted": [name for name in others if name not in found],
    }
    _write(request, inferred, result)
    return result


def lines(result: Mapping[str, Any]) -> list[str]:
    """Return what is shown at the terminal."""
    found = motion_results.lines(result)
    found += [_predicted(Path(name).name, each) for name, each in result["prediction"].items()]
    if len(result["prediction"]) > 1:
        found.append(_predicted("all of them", result["prediction_together"]))
    found += [f"note: {name} is too short to predict" for name in result["not_predicted"]]
    return found


def metrics(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers by which revisions are compared."""
    deviations = np.sqrt(np.diag(result["covariance"]))
    place = result["parameters"].index("length")
    found = {name: float(result[name]) for name in METRICS if result[name] is not None}
    found |= {"length_mean": result["mean"][place], "length_sd": float(deviations[place])}
    ahead = result["prediction_together"] or {}
    for name in ("angle_deg", "coverage_90"):
        found |= {f"{name}_{time}": value for time, value in ahead.get(name, {}).items()}
    return found


def _refuse_rates(learnt: Mapping[str, Recorded]) -> None:
    """Refuse films of which no package can be made: `BadInput`."""
    for name, run in learnt.items():
        if not SLOWEST <= run.rate <= FASTEST:
            expected = f"{SLOWEST:g} to {FASTEST:g} Hz, by which a controller can decide"
            raise BadInput(name, f"a film of {run.rate:g} Hz", expected)


def _predicted(name: str, each: Mapping[str, Any]) -> str:
    parts = (f"{off:.1f} degrees after {t} s" for t, off in each["angle_deg"].items())
    held = ", ".join(f"{share:.2f}" for share in each["coverage_90"].values())
    return f"{name}: off by {', '.join(parts)}; 90 % intervals hold {held}"


def _write(request: InferenceRequest, inferred: Inferred, result: Mapping[str, Any]) -> None:
    draws = pendulum_inference.draws_of(inferred)
    made = motion_results.package(
        request,
        inferred,
        result,
        kind=particle_packages.KIND,
        arrays=particle_packages.arrays_of(draws),
        inputs=particle_packages.watched(draws),
        settings={"pendulum": asdict(request.settings[Pendulum])},
    )
    motion_results.write(request, inferred, made, particle_packages.READER)
    write_json(output_folder(request.out) / "metrics.json", metrics(result))
