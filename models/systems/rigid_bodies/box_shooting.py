r"""Recordings of a carried box as motions to learn from, and what a motion of the arm would tell.

Angles alone are observed, with errors that are all but independent (`carried_box`); rates of
Savitzky and Golay are where fits begin. A box is recorded empty and with weights, by the same
motion: what the first says of the box enters the second with its doubt, in one density.

What would be known of the weights has, as the errors and the departures from the equations are
assumed, the covariance S^{-1} of `inference.collapsed_moves`, box and starts of windows unknown.

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

from ricochet.models.inference import collapsed_moves
from ricochet.models.inference.limits import Limits
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns
from ricochet.models.systems.rigid_bodies import box_motion, box_parameters, carried_box
from ricochet.models.systems.rigid_bodies.box_coordinates import BoxCoordinates
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
_LIKELY = ((slice(3, 6), 0.35, 0.65), (8, 0.1, 0.6), (slice(9, 11), 0.1, 0.5))
"""Shares of the limits' range of products of inertia, centre and friction that plans assume."""
DEPARTURE = (2e-4, 2e-4, 5e-3, 5e-3)
"""Of angles and rates from window to window, rad and rad/s, as a motion is planned with."""


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
        ValueError: If there are fewer frames than a rate is taken from.
    """
    frames = 2 * round(0.5 * SLOPES * rate) + 1
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
    parts = substeps(rate)
    inputs = [carried_box.carried(arm, rate, parts).unflatten(0, (-1, parts)) for arm in joints]
    return carried_shooting(runs, inputs, rate, boxes, windows=windows)


def carried_shooting(
    runs: Sequence[Float[ndarray, "frame 4"]],
    inputs: Sequence[Float[Tensor, "step ..."]],
    rate: float,
    boxes: Sequence[Numbers],
    *,
    windows: int | None = None,
) -> Shooting:
    """Return the same, given how the flange moves in each frame (`carried_box.carried`)."""
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


def planned_deviation(
    joints: Float[ndarray, "frame 7"], rate: float, theta: Float[Tensor, "box 15"]
) -> float:
    """Return how well a motion would tell the places of the weights: their deviation, m.

    It is the root mean square over the four places, and the geometric mean over boxes: those whose
    weights lie close together are known least, whatever moves them.

    Args:
        theta: Boxes with weights as they may be.
    """
    kinds = (box_parameters.empty_of_both, box_parameters.loaded)
    motions = torch.stack([from_rest(kind(theta), joints, rate) for kind in kinds], 1)
    plan = shooting(list(motions[0].numpy()), (joints, joints), rate, kinds)
    begins = motions[:, :, :: plan.steps][:, :, : plan.windows]
    density = ShootingDensity(plan, BoxCoordinates(limits(), fitting=True))
    unknowns = Unknowns(density.coordinates.of(theta), begins / plan.scale)
    sigma = POINT_ERROR / 2.0**0.5 / plan.scale[:SEEN]
    delta = torch.tensor(DEPARTURE).to(plan.scale) / plan.scale
    noise = Noise(*(each.expand(len(theta), -1) for each in (sigma, delta)))
    here = collapsed_moves.collapsed(density, unknowns, noise, steps=0)
    chain = density.coordinates.slopes(unknowns.x)[:, -4:]
    root = torch.linalg.solve_triangular(here.factor, chain.mT, upper=False)
    return float(root.square().sum(1).mean(1).log().mean().mul(0.5).exp())


def likely(count: int) -> Float[Tensor, "{count} 15"]:
    """Return boxes and weights all over the middle of the limits, for plans: always the same."""
    inside = limits()
    engine = torch.quasirandom.SobolEngine(len(inside.low), scramble=True, seed=0)
    share = 0.15 + 0.7 * engine.draw(count, dtype=inside.low.dtype)
    for place, low, high in _LIKELY:
        share[:, place] = low + (high - low) * share[:, place]
    return inside.low + share * (inside.high - inside.low)
