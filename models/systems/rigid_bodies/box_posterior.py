r"""The posterior of a box, and of weights in it, which in no recording is quite a rigid body.

In each recording the numbers that motion depends on may be off (`inference.discrepancies`): the
parts of the moment by shares of its size, all of the inertia by shares of the mean moment of
inertia, each friction by a share of itself. They stand for what the equations lack and what acts
alike all the time, as a lid that gives way; what comes and goes is in the departures from window to
window (`inference.linear_newton`). A further recording has shares of its own (`further`).

Source: ours.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import linear_newton
from ricochet.models.inference.discrepancies import WithDiscrepancies
from ricochet.models.inference.limits import Limits
from ricochet.models.inference.linear_newton import Settings
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.stein_newton import Posterior
from ricochet.models.systems.rigid_bodies import box_parameters, box_shooting
from ricochet.models.systems.rigid_bodies.box_coordinates import BoxCoordinates
from ricochet.models.systems.rigid_bodies.box_motion import NUMBERS
from ricochet.models.systems.rigid_bodies.box_parameters import EMPTY, Numbers


def infer(
    runs: Sequence[Float[ndarray, "frame 4"]],
    inputs: Sequence[Float[Tensor, "step ..."]],
    rate: float,
    boxes: Sequence[Numbers],
    generator: np.random.Generator,
    *,
    inside: Limits,
    settings: Settings,
    discrepancy: float,
    progress: Progress = no_progress,
) -> Posterior:
    """Return the posterior of parameters between limits, weights in either order, then of shares.

    Args:
        runs: Angles, rad, and rates to begin with, rad/s, at a rate in Hz (`box_shooting.states`).
        inputs: How the flange moves in each frame (`box_shooting.carried`).
        boxes: How the numbers of each recording follow from the parameters.
        discrepancy: Deviation of a share by which a number may be off.

    Raises:
        ValueError: If a recording ends before its first window, nothing moves in it, or too few
            places within the limits have motions at all.
    """
    count = len(inside.low)
    motions = shooting(runs, inputs, rate, boxes, count)
    within, far = (
        coordinates(inside, len(runs), discrepancy, fitting=fitting) for fitting in (False, True)
    )

    def swapped(theta: Float[Tensor, "particle unknown"]) -> Float[Tensor, "particle unknown"]:
        mine, others = theta[..., :count], theta[..., count:]
        return torch.cat((box_parameters.swapped(mine), others), -1)

    return linear_newton.infer(
        motions,
        within,
        generator,
        fitting=far,
        settings=settings,
        symmetry=swapped if count > len(EMPTY) else None,
        progress=progress,
    )


def coordinates(
    inside: Limits, recordings: int, discrepancy: float, *, fitting: bool = False
) -> WithDiscrepancies:
    """Return those of the parameters within limits and of the shares of some recordings."""
    own = BoxCoordinates(inside, fitting=fitting)
    return WithDiscrepancies(own, NUMBERS * recordings, discrepancy)


def shooting(
    runs: Sequence[Float[ndarray, "frame 4"]],
    inputs: Sequence[Float[Tensor, "step ..."]],
    rate: float,
    boxes: Sequence[Numbers],
    parameters: int,
) -> Shooting:
    """Return recordings as motions of the parameters and, after them, of their own shares.

    Raises:
        ValueError: If a recording ends before its first window, or nothing moves in it.
    """
    own = [off(box, parameters, number) for number, box in enumerate(boxes)]
    return box_shooting.carried_shooting(runs, inputs, rate, own)


def further(
    theta: Float[Tensor, "*batch unknown"],
    parameters: int,
    discrepancy: float,
    generator: np.random.Generator,
) -> Float[Tensor, "*batch further"]:
    """Return the parameters, and shares of a recording that nothing was learnt from."""
    white = generator.normal(size=(*theta.shape[:-1], NUMBERS))
    shares = discrepancy * theta.new_tensor(white)
    return torch.cat((theta[..., :parameters], shares), -1)


def told(
    precision: Float[ndarray, "unknown unknown"], parameters: int, deviation: float
) -> Float[ndarray, "parameter parameter"]:
    """Return what motions tell of the parameters alone, shares being unknown.

    Args:
        precision: What they tell of both.
        deviation: Of the shares, in the coordinates of that precision.
    """
    own, across = precision[:parameters, :parameters], precision[:parameters, parameters:]
    others = precision[parameters:, parameters:]
    others = others + np.eye(len(others)) / deviation**2
    return own - across @ np.linalg.solve(others, across.T)


def off(box: Numbers, parameters: int, recording: int) -> Numbers:
    """Return how the numbers of a recording follow from the parameters and, after them, shares."""
    first = parameters + NUMBERS * recording

    def numbers(unknown: Float[Tensor, "*batch unknown"]) -> Float[Tensor, "*batch 11"]:
        shares = unknown[..., first : first + NUMBERS]
        return moved(box(unknown[..., :parameters]), shares)

    return numbers


def moved(
    numbers: Float[Tensor, "*batch 11"], shares: Float[Tensor, "*batch 11"]
) -> Float[Tensor, "*batch 11"]:
    """Return numbers that are off by shares of their sizes.

    >>> numbers = torch.tensor([0.0, 0.0, 0.2, 0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 0.05, 0.1])
    >>> moved(numbers, torch.full((11,), 0.1))[[0, 2, 3, 6, 9]]
    tensor([0.0200, 0.2200, 0.1200, 0.0200, 0.0550])
    """
    moment, inertia, damping = numbers.split((3, 6, 2), -1)
    size = torch.linalg.vector_norm(moment, dim=-1, keepdim=True).expand_as(moment)
    mean = inertia[..., :3].mean(-1, keepdim=True).expand_as(inertia)
    return numbers + shares * torch.cat((size, mean, damping), -1)
