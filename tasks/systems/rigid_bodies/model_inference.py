"""A MuJoCo model as what moves in `motion_inference`, and what results say of its predictions."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from ricochet.models.inference.limits import Shares
from ricochet.models.inference.multiple_shooting import Simulator
from ricochet.models.systems.rigid_bodies import mujoco_motion
from ricochet.models.systems.rigid_bodies.mujoco_motion import SLIDE, MujocoSimulator
from ricochet.models.systems.rigid_bodies.mujoco_parameters import names
from ricochet.tasks.systems.rigid_bodies import predicted_motions
from ricochet.tasks.systems.rigid_bodies.model_compiling import LONGEST
from ricochet.tasks.systems.rigid_bodies.model_parameters import Unknown
from ricochet.tasks.systems.rigid_bodies.motion_inference import Inputs, Problem
from ricochet.tasks.systems.rigid_bodies.predicted_motions import AHEAD, Prediction

_DOUBT = (
    "signs or zeros of columns may be others than the model's, the rate wrong, limits too narrow,"
    " or the model moves otherwise"
)

APART = 2
"""Frames from which on errors count as independent. They are from the next on; but at 1 departures
from the equations would be next to nothing where residuals are white, and particles hardly mix."""


@dataclass(frozen=True)
class Making:
    """Makes simulators of a model.

    Attributes:
        threads: That simulate side by side.
    """

    model: mujoco.MjModel
    unknown: Unknown
    threads: int

    def __call__(self, rate: float, inputs: Inputs) -> Simulator:
        """Return the simulator of windows at a rate, with what actuators are told."""
        stepped, substeps = mujoco_motion.stepped(self.model, rate)
        shares = Shares(self.unknown.limits, self.unknown.logarithmic)
        return MujocoSimulator(
            stepped,
            self.unknown.places,
            shares,
            substeps,
            inputs,
            threads=self.threads,
            longest=LONGEST,
        )


def problem(model: mujoco.MjModel, unknown: Unknown, window: float) -> Problem:
    """Return what moves: positions are seen, each frame's with errors of its own, rates are not.

    Args:
        window: Of the trajectory, s.
    """
    return Problem(
        unknown.names,
        unknown.units,
        unknown.limits,
        unknown.logarithmic,
        _states(model),
        Making(model, unknown, os.cpu_count() or 1),
        _DOUBT,
        spread_in=Shares(unknown.limits, unknown.logarithmic),
        window=window,
        width=APART,
        seen=model.nq,
    )


def units(model: mujoco.MjModel) -> dict[str, str]:
    """Return the unit of each joint's position."""
    slides = model.jnt_type == SLIDE
    joints = names(model, "joint")
    return {name: "m" if slide else "rad" for name, slide in zip(joints, slides, strict=True)}


def prediction(found: Prediction, joints: Sequence[str]) -> dict[str, Any]:
    """Return the median error of each joint, and how often intervals of all held."""
    off, held = np.median(found.errors, 0), found.inside.mean((0, 2))
    return {
        "places": len(found.errors),
        "error": {
            f"{t:g}": dict(zip(joints, row.tolist(), strict=True))
            for t, row in zip(AHEAD, off, strict=True)
        },
        "coverage_90": {f"{t:g}": float(x) for t, x in zip(AHEAD, held, strict=True)},
    }


def together(found: Sequence[Prediction], joints: Sequence[str]) -> dict[str, Any] | None:
    """Return the same of all, if there are some."""
    return prediction(predicted_motions.together(found), joints) if found else None


def _states(model: mujoco.MjModel) -> tuple[str, ...]:
    places = units(model)
    rates = tuple(f"{name}' / ({unit}/s)" for name, unit in places.items())
    return (*(f"{name} / {unit}" for name, unit in places.items()), *rates)
