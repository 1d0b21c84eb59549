r"""How good a law of the weights' places is: against the hidden ones, and by a further recording.

Weights may change places without a difference, so that draws are first brought into one order: each
into that nearer to the mean of all, until none changes. The truth is then taken in the nearer
order. It is inside the region of 90 % if at most 90 % of the draws are nearer to the mean, in the
metric of their covariance.

`log_p_obs` is the mean over frames of log 1/K sum_k N(x | x_k, sigma^2) of both angles in a further
recording, simulated from the mean of its first frames, at rest, by each of K draws; sigma is that
of the angles' errors.

Source: Heiden et al., section V-C and Table III (log p_obs); order and region: ours.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.systems.rigid_bodies import (
    box_motion,
    box_parameters,
    box_shooting,
    carried_box,
    shaking,
)
from ricochet.tasks.systems.rigid_bodies.studies import box_placements
from ricochet.tasks.systems.rigid_bodies.studies.box_placements import RATE, Placement

SIGMA = box_shooting.POINT_ERROR / math.sqrt(2.0)
"""Of an angle, rad."""
_LEAST, _INSIDE = 1e-4, 0.9
NUMBERS = (
    "inside_90", "sum_error_mm", "weight_error_mm", "sd_mm", "log_p_obs", "order_share", "cpu_s",
)  # fmt: skip


@dataclass(frozen=True)
class Law:
    """Draws of boxes and weights.

    Attributes:
        places: x and y of each weight, m.
        numbers: Of the boxes, weights included (`box_parameters`).
        departures: Of states from window to window, where they were inferred, rad and rad/s.
    """

    places: Float[ndarray, "draw 4"]
    numbers: Float[Tensor, "draw 11"]
    departures: Float[Tensor, "draw 4"] | None = None


def numbers(law: Law, placement: Placement, draw: np.random.Generator) -> dict[str, Any]:
    """Return how good a law is."""
    ordered = box_parameters.in_order(law.places)
    mean = ordered.mean(0)
    truth = box_parameters.nearer(placement.places[None], mean)[0]
    covariance = np.cov(ordered.T) + _LEAST**2 * np.eye(4)
    away = np.linalg.inv(covariance)
    distances = np.einsum("ni,ij,nj->n", ordered - mean, away, ordered - mean)
    own = (truth - mean) @ away @ (truth - mean)
    error = mean - truth
    swapped = np.roll(truth, 2)
    first = ((law.places - truth) ** 2).sum(1) < ((law.places - swapped) ** 2).sum(1)
    return {
        "inside_90": float((distances < own).mean() <= _INSIDE),
        "sum_error_mm": 1e3 * float(np.hypot(*(error[:2] + error[2:]))),
        "weight_error_mm": 1e3 * float(max(np.hypot(*error[:2]), np.hypot(*error[2:]))),
        "sd_mm": 1e3 * float(np.sqrt(ordered.var(0).mean())),
        "order_share": float(first.mean()),
        "log_p_obs": log_p_obs(law, placement, draw),
    }


def log_p_obs(law: Law, placement: Placement, draw: np.random.Generator) -> float:
    """Return the mean log density of the angles of a frame of the further recording."""
    came = torch.from_numpy(placement.further[1:, : box_shooting.SEEN])
    moved = rolled(law, placement.further, draw)[..., : box_shooting.SEEN]
    moved = moved[:, : len(came)]
    squares = ((came[: moved.shape[1]] - moved) / SIGMA).square().sum(-1)
    each = -0.5 * squares - math.log(2.0 * math.pi * SIGMA**2)
    together = torch.logsumexp(each, 0) - math.log(len(moved))
    return float(together.mean())


def rolled(
    law: Law, further: Float[ndarray, "frame 4"], draw: np.random.Generator
) -> Float[Tensor, "draw frame 4"]:
    """Return where each draw goes from the first frames, displaced by its departures."""
    joints = shaking.in_turn(**box_placements.HELD_OUT)
    substeps = box_shooting.substeps(RATE)
    carried = carried_box.carried(joints, RATE, substeps)
    still = round(shaking.REST * RATE)
    first = torch.from_numpy(further[: still // 2, : box_shooting.SEEN]).mean(0)
    count = len(law.numbers)
    state = torch.cat((first, torch.zeros(2).to(first))).expand(count, -1)
    steps = round(box_shooting.WINDOW * RATE) * substeps
    found: list[Tensor] = []
    for part in carried.split(steps):
        if law.departures is not None and found:
            white = state.new_tensor(draw.normal(size=state.shape))
            state = state + white * law.departures
        motion = box_motion.move(
            law.numbers, state, part, short=1.0 / (RATE * substeps), substeps=substeps
        )
        found.append(motion.states)
        state = motion.states[:, -1]
    return torch.cat(found, 1)
