"""Recordings of a carried box as motions to learn from.

Angles alone are observed, with errors that are all but independent (`carried_box`); rates of
Savitzky and Golay are where fits begin. A box is recorded empty and with weights, by the same
motion: what the first says of the box enters the second with its doubt, in one density.

Source: Heiden et al., appendix II-E (two phases, there one after the other); the rest: ours.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy import signal
from torch import Tensor

from ricochet.models.inference.limits import Limits
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.systems.rigid_bodies import box_motion, box_parameters, carried_box
from ricochet.models.systems.rigid_bodies.box_parameters import BoxSimulator, Numbers

WINDOW = 0.2
"""Seconds."""
SHORT = 1e-2
"""Longest step of the simulation, s."""
SEEN = 2
"""States that are observed: the angles."""
SLOPES, ORDER = 0.2, 3
"""Seconds of the frames that a rate is taken from, and of what order."""
POINT_ERROR = 2e-3
"""Of a coordinate of a point, m, as a motion capture system states it."""


def states(
    points: Float[ndarray, "frame 4 3"], joints: Float[ndarray, "frame 7"], rate: float
) -> Float[ndarray, "frame 4"]:
    """Return angles, and rates to begin with, of points in the world.

    Raises:
        ValueError: If there are fewer frames than a rate is taken from.
    """
    angles = carried_box.angles(carried_box.in_flange(points, joints))
    return np.concatenate((angles, slopes(angles, rate)), 1)


def slopes(angles: Float[ndarray, "*batch frame 2"], rate: float) -> ndarray:
    """Return rates of angles at a rate in Hz, rad/s (Savitzky and Golay).

    Raises:
        ValueError: If there are fewer frames than a rate is taken from, or so few a second.
    """
    frames = 2 * round(0.5 * SLOPES * rate) + 1
    if frames <= ORDER:
        raise ValueError(f"{rate:g} Hz, expected at least {(ORDER - 1.5) / (0.5 * SLOPES):g} Hz")
    if angles.shape[-2] < frames:
        raise ValueError(f"{angles.shape[-2]} frames, expected at least {frames}")
    return signal.savgol_filter(angles, frames, ORDER, deriv=1, delta=1.0 / rate, axis=-2)


def substeps(rate: float) -> int:
    """Return into how many short steps a frame is divided, of a rate in Hz."""
    return max(1, math.ceil(1.0 / (rate * SHORT) - 1e-6))


def shooting(
    runs: Sequence[Float[ndarray, "frame 4"]],
    joints: Sequence[Float[ndarray, "frame 7"]],
    rate: float,
    boxes: Sequence[Numbers],
    *,
    windows: int | None = None,
) -> Shooting:
    """Return recordings as motions, each of a box whose numbers follow from the parameters.

    Args:
        windows: Of each; as many as are `WINDOW` long when absent.

    Raises:
        ValueError: If a recording ends before its first window, or nothing moves in it.
    """
    moved = [inputs(arm, rate) for arm in joints]
    return carried_shooting(runs, moved, rate, boxes, windows=windows)


def inputs(joints: Float[ndarray, "frame 7"], rate: float) -> Float[Tensor, "step short 9"]:
    """Return how the flange moves in each frame, by the arm's joints in rad."""
    parts = substeps(rate)
    return carried_box.carried(joints, rate, parts).unflatten(0, (-1, parts))


def carried_shooting(
    runs: Sequence[Float[ndarray, "frame 4"]],
    inputs: Sequence[Float[Tensor, "step ..."]],
    rate: float,
    boxes: Sequence[Numbers],
    *,
    windows: int | None = None,
) -> Shooting:
    """Return the same, given how the flange moves in each frame (`inputs`)."""
    steps, parts = max(1, round(WINDOW * rate)), substeps(rate)
    count = min(len(run) - 1 for run in runs) // steps
    if count < 1:
        raise ValueError(f"{min(map(len, runs))} frames, expected at least {steps + 1}")
    whole, divided = count * steps, count if windows is None else windows
    seen = torch.from_numpy(np.stack([run[: whole + 1] for run in runs]))
    carried = torch.cat([each[:whole].reshape(divided, -1, 9) for each in inputs])
    kinds = list(dict.fromkeys(boxes))
    which = torch.tensor([kinds.index(box) for box in boxes]).repeat_interleave(divided)
    simulate = BoxSimulator(carried, tuple(kinds), which, 1.0 / (rate * parts), parts)
    scale = (seen - seen.mean(1, keepdim=True)).flatten(0, 1).std(0)
    if not bool((scale > 0.0).all()):
        raise ValueError("nothing that moves, expected a shaken box")
    return Shooting(simulate, seen, divided, scale, seen=SEEN)


def limits(*, weights: bool = True) -> Limits:
    """Return those of the paper (Table IV), of the box and, last, of the weights."""
    low, high = [*box_parameters.EMPTY_LOW], [*box_parameters.EMPTY_HIGH]
    if weights:
        low, high = [*low, *box_parameters.WEIGHTS_LOW], [*high, *box_parameters.WEIGHTS_HIGH]
    return Limits(torch.tensor(low).double(), torch.tensor(high).double())


def from_rest(
    numbers: Float[Tensor, "box 11"], joints: Float[ndarray, "frame 7"], rate: float
) -> Float[Tensor, "box frame 4"]:
    """Return how boxes of some numbers move that hang still at first."""
    parts = substeps(rate)
    carried = carried_box.carried(joints, rate, parts)
    start = at_rest(numbers, -carried[0, 6:])
    motion = box_motion.move(numbers, start, carried, short=1.0 / (rate * parts), substeps=parts)
    return torch.cat((start[:, None], motion.states), 1)


def at_rest(
    numbers: Float[Tensor, "*batch 11"], gravity: Float[Tensor, " 3"]
) -> Float[Tensor, "*batch 4"]:
    """Return the angles, and rates of nothing, of boxes that hang still from a flange that does.

    R(q) turns the moment u to where gravity points.

    >>> hanging = torch.tensor([0.1, 0.0, 1.0, *[0.1] * 8])
    >>> at_rest(hanging, torch.tensor([0.0, 0.0, 9.81])).round(decimals=4) + 0.0
    tensor([ 0.0000, -0.0997,  0.0000,  0.0000])

    Args:
        gravity: In coordinates of the flange, m/s^2.
    """
    x, y, z = (numbers[..., :3] / numbers[..., :3].norm(dim=-1, keepdim=True)).unbind(-1)
    down_x, down_y, down_z = gravity / gravity.norm()
    second = torch.asin((down_x / torch.hypot(x, z)).clamp(-1.0, 1.0)) - torch.atan2(x, z)
    level = z * second.cos() - x * second.sin()
    first = torch.atan2(down_z, down_y) - torch.atan2(level, y)
    first = torch.remainder(first + torch.pi, 2.0 * torch.pi) - torch.pi
    return torch.stack((first, second, torch.zeros_like(x), torch.zeros_like(x)), -1)
