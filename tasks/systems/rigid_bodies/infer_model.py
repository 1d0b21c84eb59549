"""What `ricochet infer --model FILE.xml` does: recordings in, posterior and predictions out.

All files are read, and refused where they must be, before anything is computed.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.rigid_bodies import mujoco_motion
from ricochet.tasks.console.progress import part
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.interface import InferenceRequest
from ricochet.tasks.systems.rigid_bodies import (
    model_files,
    model_inference,
    model_pace,
    model_packages,
    model_parameters,
    model_recordings,
    motion_inference,
    motion_results,
    predicted_motions,
)
from ricochet.tasks.systems.rigid_bodies.model_parameters import Unknown
from ricochet.tasks.systems.rigid_bodies.motion_inference import Amount, Inferred
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded
from ricochet.tasks.systems.rigid_bodies.settings import Model

SCHEMA = "ricochet.model-posterior/1"


@dataclass(frozen=True)
class _Read:
    """What the files hold."""

    model: mujoco.MjModel
    unknown: Unknown
    learnt: dict[str, Recorded]
    others: dict[str, Recorded]


def run(request: InferenceRequest) -> dict[str, Any]:
    """Infer, predict, and write `samples.npz`, `package` and figures."""
    settings, read = request.settings[Model], _read(request)
    problem = model_inference.problem(read.model, read.unknown, settings.window)
    generator = np.random.default_rng(request.seed)
    with model_pace.watched(request.given["model"]):
        inferred = _inferred(request, read, problem, generator)
        found = predicted_motions.predict(inferred, read.others, generator)
    request.progress(2, 2)
    units = model_inference.units(read.model)
    result = {
        "schema": SCHEMA,
        "model": str(request.given["model"]),
        **motion_results.content(inferred, read.learnt, settings.particles),
        "units": list(read.unknown.units),
        "low": read.unknown.limits.low.tolist(),
        "high": read.unknown.limits.high.tolist(),
        "joints": units,
        "timestep": mujoco_motion.stepped(read.model, inferred.rate)[0].opt.timestep,
        "notes": _notes(read, inferred.rate),
        "prediction": {
            name: model_inference.prediction(each, list(units)) for name, each in found.items()
        },
        "prediction_together": model_inference.together(list(found.values()), list(units)),
        "not_predicted": [name for name in read.others if name not in found],
    }
    _write(request, inferred, result)
    return result


def lines(result: Mapping[str, Any]) -> list[str]:
    """Return what is shown at the terminal."""
    found = [f"note: {line}" for line in result["notes"]] + motion_results.lines(result)
    units = result["joints"]
    found += [
        _predicted(Path(name).name, each, units) for name, each in result["prediction"].items()
    ]
    if len(result["prediction"]) > 1:
        found.append(_predicted("all of them", result["prediction_together"], units))
    found += [f"note: {name} is too short to predict" for name in result["not_predicted"]]
    return found


def _predicted(name: str, each: Mapping[str, Any], units: Mapping[str, str]) -> str:
    parts = (
        ", ".join(f"{joint} {off:.2g} {units[joint]}" for joint, off in errors.items())
        + f" after {time} s"
        for time, errors in each["error"].items()
    )
    held = ", ".join(f"{share:.2f}" for share in each["coverage_90"].values())
    return f"{name}: off by {'; '.join(parts)}; 90 % intervals hold {held}"


def _read(request: InferenceRequest) -> _Read:
    file = request.given["model"]
    model = model_files.read(file)
    named = request.given.get("parameters") or model_parameters.beside(file)
    unknown = model_parameters.read(named, model)
    width = request.settings[Model].smoothing
    if width % 2 == 0:
        raise BadInput("model.smoothing", str(width), "an odd number of frames")
    reader = partial(model_recordings.read, model=model, rate=request.rate, width=width)
    learnt, others = motion_inference.read(reader, request.files, request.predicted)
    motions = [each.states for each in (*learnt.values(), *others.values())]
    model_pace.check(file, model, motions)
    draw = np.random.default_rng([request.seed, 1])
    model_pace.check_parameters(named, model, unknown, motions, draw)
    return _Read(model, unknown, learnt, others)


def _inferred(
    request: InferenceRequest,
    read: _Read,
    problem: motion_inference.Problem,
    generator: np.random.Generator,
) -> Inferred:
    settings = request.settings[Model]
    amount = Amount(settings.span, settings.instants, settings.particles, settings.rounds)
    named = request.given.get("parameters") or model_parameters.beside(request.given["model"])
    with motion_inference.refused_limits(str(named)):
        return motion_inference.infer(
            problem, read.learnt, generator, amount=amount, progress=part(request.progress, 0, 2)
        )


def _notes(read: _Read, rate: float) -> list[str]:
    """Return what was taken otherwise than the files have it."""
    own = read.model.opt.timestep
    taken = mujoco_motion.stepped(read.model, rate)[0].opt.timestep
    notes = []
    if abs(taken / own - 1.0) > 2e-3:
        notes.append(f"a step of {taken:.4g} s for the model's {own:g} s, to divide a frame")
    for file, run in {**read.learnt, **read.others}.items():
        for name in run.unrecorded:
            notes.append(f"{file} has no column {name}: its control is taken as 0")
    return notes


def _write(request: InferenceRequest, inferred: Inferred, result: Mapping[str, Any]) -> None:
    made = motion_results.package(
        request,
        inferred,
        result,
        kind=model_packages.KIND,
        arrays=model_packages.arrays_of(inferred),
        inputs=model_packages.inputs(),
        settings={
            "model": asdict(request.settings[Model]),
            "xml": sha256(request.given["model"]),
        },
    )
    motion_results.write(request, inferred, made, model_packages.READER)
