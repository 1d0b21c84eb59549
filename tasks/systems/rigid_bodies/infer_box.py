"""What `ricochet infer box` does: recordings in, posterior and predictions out.

Of an empty box the eleven parameters are inferred; with `--empty FILE`, a recording of it without
weights, the other files are of the box with two weights, and all fifteen parameters are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference import identifiability
from ricochet.models.inference.discrepancies import FURTHEST
from ricochet.models.inference.limits import Shares
from ricochet.models.inference.linear_newton import Settings
from ricochet.models.inference.multiple_shooting import Shooting, Simulator
from ricochet.models.inference.residual_whiteness import WHITE
from ricochet.models.systems.rigid_bodies import box_parameters, box_posterior, box_shooting
from ricochet.models.systems.rigid_bodies.box_parameters import (
    DEPTH,
    EMPTY,
    EMPTY_UNITS,
    MASS,
    WEIGHT,
    WEIGHTS,
    WEIGHTS_UNITS,
    BoxSimulator,
    Numbers,
)
from ricochet.tasks.console.progress import part
from ricochet.tasks.systems.interface import InferenceRequest
from ricochet.tasks.systems.rigid_bodies import (
    box_recordings,
    model_inference,
    model_packages,
    motion_inference,
    motion_results,
    predicted_motions,
)
from ricochet.tasks.systems.rigid_bodies.motion_inference import Inferred, Problem
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded
from ricochet.tasks.systems.rigid_bodies.predicted_motions import Prediction
from ricochet.tasks.systems.rigid_bodies.settings import ShakenBox

SCHEMA = "ricochet.box-posterior/1"
JOINTS = {"angle_1": "rad", "angle_2": "rad"}
"""What is predicted: the angles of the universal joint."""
STATES = ("angle 1 / rad", "angle 2 / rad", "rate 1 / rad/s", "rate 2 / rad/s")
ASSUMED = {
    "box_kg": "a box of {} kg",
    "discrepancy": "moment, inertia and friction within about {:.2%} each time (box.discrepancy)",
    "weight_kg": "two weights of {} kg",
    "depth_m": "{} m below the joint",
}
DOUBT = "points may be in another frame than the arm's base, times of arm and points may differ"


def run(request: InferenceRequest) -> dict[str, Any]:
    """Infer, predict, and write `samples.npz`, `package` and figures."""
    settings, empty = request.settings[ShakenBox], request.given.get("empty")
    reader = partial(box_recordings.read, rate=request.rate)
    groups = [empty] if empty else [], request.files, request.predicted
    before, learnt, others = motion_inference.read(reader, *groups)
    both = [*before.values(), *learnt.values()]
    generator = np.random.default_rng(request.seed)
    problem = _problem(weights=empty is not None)
    inferred = _inferred(problem, both, len(before), settings, request, generator)
    found: dict[str, Prediction] = {}
    for name, run in others.items():
        own = _further(inferred, settings.discrepancy, generator)
        found |= predicted_motions.predict(own, {name: run}, generator)
    request.progress(2, 2)
    content = motion_results.content(inferred, before | learnt, settings.particles)
    content["misfit"] += _unfit(inferred, settings.discrepancy)
    result = {
        "schema": SCHEMA,
        **content,
        "units": list(problem.units),
        "empty": None if empty is None else str(empty),
        "notes": _notes(before | learnt, inferred),
        "assumed": {"box_kg": MASS, "discrepancy": settings.discrepancy}
        | ({"weight_kg": WEIGHT, "depth_m": DEPTH} if empty else {}),
        "prediction": {
            name: model_inference.prediction(each, list(JOINTS)) for name, each in found.items()
        },
        "prediction_together": model_inference.together(list(found.values()), list(JOINTS)),
        "not_predicted": [name for name in others if name not in found],
    }
    _write(request, inferred, result)
    return result


def lines(result: Mapping[str, Any]) -> list[str]:
    """Return what is shown at the terminal."""
    assumed = ", ".join(ASSUMED[name].format(value) for name, value in result["assumed"].items())
    found = [f"note: {line}" for line in (f"assumed: {assumed}", *result["notes"])]
    found += motion_results.lines(result)
    if result["empty"] is not None:
        found.append("the weights may be in each other's place: no motion tells them apart")
    for name, each in result["prediction"].items():
        found.append(f"{Path(name).name}: off by {_off(each)}")
    found += [f"note: {name} is too short to predict" for name in result["not_predicted"]]
    return found


def _off(each: Mapping[str, Any]) -> str:
    parts = (
        f"{max(errors.values()):.2g} rad after {time} s" for time, errors in each["error"].items()
    )
    held = ", ".join(f"{share:.2f}" for share in each["coverage_90"].values())
    return f"{', '.join(parts)}; 90 % intervals hold {held}"


def _notes(runs: Mapping[str, Recorded], inferred: Inferred) -> list[str]:
    """Return what of the recordings was not learnt from."""
    used = inferred.shooting.observed.shape[1]
    return [
        f"{name}: the first {used} of {len(run.states)} frames are learnt from, as many as the"
        " shortest recording has in whole windows"
        for name, run in runs.items()
        if len(run.states) - used > inferred.shooting.steps
    ]


def _unfit(inferred: Inferred, discrepancy: float) -> list[str]:
    """Return how far regions allow for equations that were seen to fail."""
    if inferred.posterior.white >= WHITE:
        return []
    return [
        "regions may be too narrow: what the equations lack may act otherwise than from window to"
        f" window, or than as a box that is off by {discrepancy:.2%} (box.discrepancy), as dry"
        " friction does where swings are small; shake faster, by"
        " ricochet.models.systems.rigid_bodies.shaking.TELLING for one"
    ]


def _problem(*, weights: bool, shares: bool = False) -> Problem:
    """Return what moves: a box, with two weights or without, off by shares or not."""
    rigid = box_parameters.loaded if weights else box_parameters.of_empty
    limits = box_shooting.limits(weights=weights)
    numbers = box_posterior.off(rigid, len(limits.low), 0) if shares else rigid

    def simulator(rate: float, inputs: Tensor) -> Simulator:
        parts, count = box_shooting.substeps(rate), inputs.shape[0]
        carried = inputs.reshape(count, -1, 9)
        which = torch.zeros(count, dtype=torch.long)
        return BoxSimulator(carried, (numbers,), which, 1.0 / (rate * parts), parts)

    return Problem(
        names=EMPTY + WEIGHTS if weights else EMPTY,
        units=EMPTY_UNITS + WEIGHTS_UNITS if weights else EMPTY_UNITS,
        limits=limits,
        logarithmic=torch.zeros(len(limits.low), dtype=torch.bool),
        states=STATES,
        simulator=simulator,
        doubt=DOUBT,
        window=box_shooting.WINDOW,
        width=1,
    )


def _inferred(
    problem: Problem,
    runs: Sequence[Recorded],
    empty: int,
    settings: ShakenBox,
    request: InferenceRequest,
    generator: np.random.Generator,
) -> Inferred:
    """Infer from recordings, those of the empty box first."""
    kinds = [box_parameters.empty_of_both] * empty
    kinds += [box_parameters.loaded if empty else box_parameters.of_empty] * (len(runs) - empty)
    shooting, rate = _shooting(runs, kinds, len(problem.names), request)
    inside, count = problem.limits, len(problem.names)
    with motion_inference.refused_limits(str(request.given.get("empty") or request.files[0])):
        posterior = box_posterior.infer(
            *_recorded(runs),
            rate,
            kinds,
            generator,
            inside=inside,
            settings=Settings(
                particles=settings.particles, settling=settings.rounds, rounds=settings.rounds
            ),
            discrepancy=settings.discrepancy,
            progress=part(request.progress, 0, 2),
        )
    if empty:
        theta = posterior.theta.clone()
        places = theta[..., count - 4 : count].reshape(-1, 4).numpy()
        ordered = torch.from_numpy(box_parameters.in_order(places))
        theta[..., count - 4 : count] = ordered.unflatten(0, theta.shape[:2])
        posterior = replace(posterior, theta=theta)
    whole = box_posterior.coordinates(inside, len(runs), settings.discrepancy).limits
    precision = motion_inference.precision(shooting, whole, posterior)
    known = identifiability.of_posterior(
        box_posterior.told(precision, count, 0.5 / FURTHEST),
        Shares(inside).of(posterior.theta[..., :count]).flatten(0, 1).numpy(),
        problem.names,
    )
    return Inferred(problem, posterior, shooting, known, rate, whole)


def _further(inferred: Inferred, discrepancy: float, generator: np.random.Generator) -> Inferred:
    """Return what predicts a recording that nothing was learnt from, off by shares of its own."""
    problem, posterior = inferred.problem, inferred.posterior
    count = len(problem.names)
    theta = box_posterior.further(posterior.theta, count, discrepancy, generator)
    return replace(
        inferred,
        problem=_problem(weights=count > len(EMPTY), shares=True),
        posterior=replace(posterior, theta=theta),
        inside=box_posterior.coordinates(problem.limits, 1, discrepancy).limits,
    )


def _recorded(runs: Sequence[Recorded]) -> tuple[list[ndarray], list[Tensor]]:
    """Return states, and how the flange moves."""
    return [run.states for run in runs], [torch.from_numpy(run.inputs) for run in runs]


def _shooting(
    runs: Sequence[Recorded],
    kinds: Sequence[Numbers],
    parameters: int,
    request: InferenceRequest,
) -> tuple[Shooting, float]:
    """Return all recordings in windows, as long as the shortest of them."""
    rate, names = runs[0].rate, [*map(str, request.files)]
    if any(abs(run.rate / rate - 1.0) > 1e-3 for run in runs):
        found = ", ".join(f"{run.rate:g}" for run in runs)
        raise BadInput(names[0], f"rates of {found} Hz", "one rate for all recordings")
    try:
        shooting = box_posterior.shooting(*_recorded(runs), rate, kinds, parameters)
    except ValueError as error:
        found, _, expected = str(error).partition(", expected ")
        raise BadInput(names[0], found, expected) from error
    return shooting, rate


def _write(request: InferenceRequest, inferred: Inferred, result: Mapping[str, Any]) -> None:
    made = motion_results.package(
        request,
        inferred,
        result,
        kind=model_packages.KIND,
        arrays=model_packages.arrays_of(inferred),
        inputs=model_packages.inputs(),
        further=[each for each in (request.given.get("empty"),) if each is not None],
        settings={"box": asdict(request.settings[ShakenBox]), "assumed": result["assumed"]},
    )
    motion_results.write(request, inferred, made, model_packages.READER)
