"""Hidden placements of two weights in a box, and what an arm that shakes it records of them.

The box is the same in all. It is recorded empty and with weights, by the motion of the paper or by
one of ours, and with weights once more by a motion that nothing is learnt from.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.hardware.twins import shaken_box
from ricochet.hardware.twins.shaken_box import BoxTruth
from ricochet.models.inference import gauss_newton, stein_newton
from ricochet.models.inference.limits import Limits
from ricochet.models.inference.linear_newton import Settings
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.shooting_density import ShootingDensity
from ricochet.models.inference.stein_newton import Posterior
from ricochet.models.systems.rigid_bodies import (
    box_parameters,
    box_posterior,
    box_shooting,
    shaking,
)
from ricochet.models.systems.rigid_bodies.box_coordinates import BoxCoordinates
from ricochet.models.systems.rigid_bodies.box_parameters import WEIGHTS_HIGH, WEIGHTS_LOW

TRUTH = BoxTruth(
    inertia=(0.07, 0.065, 0.06, 0.002, -0.001, 0.0015),
    centre=(0.002, -0.003, 0.22),
    friction=(0.03, 0.04),
)
"""Of the box, and what the model lacks: dry friction and a lid that bends (`BoxTruth`)."""
PAPER, OURS = "paper", "ours"
MOTIONS = (PAPER, OURS)
RATE = shaking.RATE
HELD_OUT = {"speed": 0.2, "away": 0.15}
"""Joints 6 and 7 in turn, otherwise than in the paper's motion."""
_SEED, _STARTS, _INSIDE = 83_000, 8, 0.01


@dataclass(frozen=True)
class Placement:
    """What is recorded of a placement.

    Attributes:
        places: Of the weights, x and y of each, m: the truth.
        empty: States of the box without weights.
        loaded: And with them, by the same motion.
        further: And by the motion that nothing is learnt from.
    """

    places: Float[ndarray, " 4"]
    joints: Float[ndarray, "frame 7"]
    empty: Float[ndarray, "frame 4"]
    loaded: Float[ndarray, "frame 4"]
    further: Float[ndarray, "other 4"]

    def posterior(
        self, generator: np.random.Generator, settings: Settings, discrepancy: float
    ) -> Posterior:
        """Return ours, by the box empty and loaded, all fifteen parameters unknown."""
        return box_posterior.infer(
            (self.empty, self.loaded),
            [box_shooting.inputs(self.joints, RATE)] * 2,
            RATE,
            (box_parameters.empty_of_both, box_parameters.loaded),
            generator,
            inside=box_shooting.limits(),
            settings=settings,
            discrepancy=discrepancy,
        )

    def alone(self, numbers: Float[Tensor, " 11"], windows: int | None) -> Shooting:
        """Return the loaded box, that without weights given by its numbers, places unknown.

        Args:
            windows: 1 for single shooting; None for those of `box_shooting`.
        """

        def loaded(places: Float[Tensor, "*batch 4"]) -> Float[Tensor, "*batch 11"]:
            return box_parameters.with_weights(numbers.expand(*places.shape[:-1], -1), places)

        return box_shooting.shooting(
            (self.loaded,), (self.joints,), RATE, (loaded,), windows=windows
        )


def joints_of(motion: str) -> Float[ndarray, "frame 7"]:
    """Return the arm's joints."""
    paper = shaking.in_turn()
    return paper if motion == PAPER else shaking.waves(shaking.TELLING, len(paper) / RATE)


@lru_cache(maxsize=64)
def placement(motion: str, seed: int) -> Placement:
    """Return a placement; the weights are the same for both motions."""
    draw = np.random.default_rng([_SEED, seed])
    places = draw.uniform(WEIGHTS_LOW, WEIGHTS_HIGH)
    joints, weights = joints_of(motion), ((places[0], places[1]), (places[2], places[3]))
    recorded = [
        box_shooting.states(shaken_box.record(TRUTH, arm, RATE, draw, weights=load), arm, RATE)
        for arm, load in (
            (joints, ()),
            (joints, weights),
            (shaking.in_turn(**HELD_OUT), weights),
        )
    ]
    return Placement(places, joints, *recorded)


@lru_cache(maxsize=64)
def first_phase(motion: str, seed: int) -> Float[Tensor, " 11"]:
    """Return the numbers of the empty box as the best fit has them, within the paper's limits.

    They are what methods are given that infer the places of the weights alone.
    """
    found = placement(motion, seed)
    kinds, limits = (box_parameters.of_empty,), box_shooting.limits(weights=False)
    shooting = box_shooting.shooting((found.empty,), (found.joints,), RATE, kinds)
    density = ShootingDensity(shooting, BoxCoordinates(limits, fitting=True))
    begun = stein_newton.begun(density, _STARTS, np.random.default_rng([_SEED, 1, seed]))
    fits = gauss_newton.fit(density, begun, Settings().schedule)
    best = stein_newton.residuals(density, fits).argmin()
    theta = density.coordinates.parameters(fits.x[best])
    return box_parameters.of_empty(_within(theta, limits))


def _within(theta: Float[Tensor, " 11"], limits: Limits) -> Float[Tensor, " 11"]:
    """Return a box within the limits: first at the scale at which most parameters are.

    An empty box's motion tells its parameters but for one scale.
    """
    scales = torch.linspace(0.3, 3.0, 271).to(theta)[:, None]
    centre, square = theta[6:9], box_parameters.MASS * box_parameters.about(theta[6:9])
    about = theta[:6] + square
    grown = scales * centre
    inertia = scales * about - box_parameters.MASS * box_parameters.about(grown)
    tried = torch.cat((inertia, grown, scales * theta[9:]), 1)
    away = (tried - tried.clamp(limits.low, limits.high)) / (limits.high - limits.low)
    middle = 0.5 * (limits.low + limits.high)
    centred = ((tried - middle) / (limits.high - limits.low)).square().sum(1)
    best = (away.abs().sum(1) * 1e3 + centred).argmin()
    spare = _INSIDE * (limits.high - limits.low)
    return tried[best].clamp(limits.low + spare, limits.high - spare)
