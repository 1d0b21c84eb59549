"""The posterior of a double pendulum from recordings of its motion (`motion_inference`)."""

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference.limits import Limits
from ricochet.models.inference.multiple_shooting import Simulator
from ricochet.models.systems.rigid_bodies import double_pendulum
from ricochet.models.systems.rigid_bodies.pendulum_coordinates import PendulumCoordinates
from ricochet.models.systems.rigid_bodies.pendulum_limits import HIGH, LOW, PARAMETERS, UNITS
from ricochet.models.systems.rigid_bodies.pendulum_tracking import Draws
from ricochet.tasks.systems.rigid_bodies import motion_inference
from ricochet.tasks.systems.rigid_bodies.motion_inference import Amount, Inferred, Inputs, Problem
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded

STEP = 6.25e-4
"""Longest step of the simulation, s: four to a frame at 400 Hz."""
INERTIA_LOW = 1e-5
"""Least moment of inertia, kg m^2: the paper's limit of 2e-3 leaves the filmed pendulum out."""
STATES = ("angle 1 / rad", "angle 2 / rad", "rate 1 / (rad/s)", "rate 2 / (rad/s)")
_DOUBT = (
    "columns may be swapped (gravity along the first of each pair), angles in degrees, the rate"
    " wrong, or it is no double pendulum"
)


def problem() -> Problem:
    """Return what moves, and its eleven parameters."""
    inside = limits()
    return Problem(
        PARAMETERS,
        UNITS,
        inside,
        inertias(),
        STATES,
        _simulator,
        _DOUBT,
        spread_in=PendulumCoordinates(inside),
    )


def limits() -> Limits:
    """Return those of the paper, moments of inertia from 1e-5 kg m^2 on."""
    low = torch.from_numpy(LOW.copy())
    low[inertias()] = INERTIA_LOW
    return Limits(low, torch.from_numpy(HIGH.copy()))


def inertias() -> Bool[Tensor, " 11"]:
    """Return which parameters are moments of inertia: their order of magnitude is unknown."""
    return torch.tensor(["inertia" in name for name in PARAMETERS])


def substeps_of(rate: float) -> int:
    """Return into how many steps a frame is divided."""
    return max(1, math.ceil(1.0 / (rate * STEP) - 1e-6))


def infer(
    runs: Mapping[str, Recorded],
    generator: np.random.Generator,
    *,
    span: float,
    instants: Sequence[float],
    particles: int,
    progress: Progress = no_progress,
) -> Inferred:
    """Return the posterior of the pendulum of some recordings, by file."""
    amount = Amount(span, instants, particles)
    return motion_inference.infer(problem(), runs, generator, amount=amount, progress=progress)


def draws_of(inferred: Inferred) -> Draws:
    """Return all draws, for a controller."""
    posterior = inferred.posterior
    return Draws(
        inferred.theta.numpy(),
        posterior.sigma.flatten(0, 1).numpy(),
        posterior.delta.flatten(0, 1).numpy(),
        rate=inferred.rate,
        window=inferred.shooting.steps,
        substeps=substeps_of(inferred.rate),
    )


def _simulator(rate: float, inputs: Inputs) -> Simulator:
    """Return the simulator of pendulums, on which nothing acts, in steps that are short enough."""
    substeps = substeps_of(rate)
    return partial(double_pendulum.move, duration=1.0 / rate, substeps=substeps)
