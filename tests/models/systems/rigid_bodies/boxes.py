"""Boxes within the limits, two ways to the same: parameters, and the box that is proved."""

import numpy as np
import torch
from torch import Tensor

from ricochet.models.systems.rigid_bodies import box_parameters, hanging_box, shaking
from ricochet.models.systems.rigid_bodies.box_parameters import DEPTH, MASS, WEIGHT
from ricochet.models.systems.rigid_bodies.hanging_box import Box, Carrier
from ricochet.models.systems.rigid_bodies.shaking import TELLING

LOW = torch.tensor(box_parameters.EMPTY_LOW + box_parameters.WEIGHTS_LOW).double()
HIGH = torch.tensor(box_parameters.EMPTY_HIGH + box_parameters.WEIGHTS_HIGH).double()


def parameters(count: int, seed: int = 0) -> Tensor:
    """Return boxes and weights all over the limits' middle."""
    share = torch.from_numpy(np.random.default_rng(seed).uniform(0.1, 0.9, (count, 15)))
    return LOW + share * (HIGH - LOW)


def empty(theta: Tensor) -> Box:
    """Return the box without weights."""
    xx, yy, zz, xy, xz, yz = theta[..., :6].unbind(-1)
    inertia = torch.stack((xx, xy, xz, xy, yy, yz, xz, yz, zz), -1).unflatten(-1, (3, 3))
    return hanging_box.of_centre(MASS, theta[..., 6:9], inertia, theta[..., 9:11])


def loaded(theta: Tensor) -> Box:
    """Return the box with both weights."""
    depth = torch.full_like(theta[..., :1], DEPTH)
    box = empty(theta)
    for at in (11, 13):
        box = box.with_weight(WEIGHT, torch.cat((theta[..., at : at + 2], depth), -1))
    return box


def carried(short: int, batch: tuple[int, ...] = (), seed: int = 1) -> Tensor:
    """Return spins, turnings and pulls of a flange that looks down, one like the next."""
    draw = np.random.default_rng(seed)
    found = torch.from_numpy(0.3 * draw.normal(size=(*batch, short, 9)))
    found[..., 8] -= 9.81
    return found


def carrier(values: Tensor) -> Carrier:
    """Return the same as a carrier."""
    return Carrier(*values.split(3, -1))


def short_waves(size: float = 1.0, seconds: float = 2.0) -> np.ndarray:
    """Return the arm's joints in shorter and smaller waves of its motion."""
    motion = shaking.Waves(
        tuple(size * each for each in TELLING.sizes), TELLING.frequencies, TELLING.phases
    )
    return shaking.waves(motion, seconds)
