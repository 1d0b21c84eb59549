r"""What a recording of a carried box says: how its flange moves, and which angles its joints have.

The arm's joints, seen at even times, are joined by a cubic spline; the flange's motion follows
(`models.arms.panda`). Four points of the box are seen: its origin o, at the joint, and points e_k a
metre from it along its axes. In coordinates of the flange they are R(q) e_k, R = Rx(q1) Ry(q2), and

    sum_k |p_k - R(q) e_k|^2

is least at the angles that are likeliest, for errors alike in all directions. Errors of both are
then all but independent and sigma / sqrt(2), for points that err by sigma.

Source: Heiden et al., appendix II-E (the points); angles from them: ours.
"""

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy.interpolate import CubicSpline
from torch import Tensor

from ricochet.models.arms import panda
from ricochet.models.core.constants import GRAVITY

POINTS = 4
"""Origin and the ends of three axes."""
_NEWTON = 8


def carried(
    joints: Float[ndarray, "frame 7"], rate: float, substeps: int
) -> Float[Tensor, "short 9"]:
    """Return spin, turning and pull at the start of each short step, in the flange's coordinates.

    Args:
        joints: Angles of the arm, rad.
        rate: Frames a second.
        substeps: Short steps from frame to frame.
    """
    spline = CubicSpline(np.arange(len(joints)) / rate, joints)
    times = np.arange((len(joints) - 1) * substeps) / (rate * substeps)
    moved = panda.moving(spline(times), spline(times, 1), spline(times, 2))
    pull = moved.acceleration + np.array((0.0, 0.0, GRAVITY))
    own = (moved.spin, moved.angular_acceleration, pull)
    return torch.from_numpy(
        np.concatenate([np.einsum("nji,nj->ni", moved.turn, each) for each in own], 1)
    )


def in_flange(
    points: Float[ndarray, "frame 4 3"], joints: Float[ndarray, "frame 7"]
) -> Float[ndarray, "frame 4 3"]:
    """Return points of the world in coordinates of the flange, m."""
    frame = panda.flange(joints)
    return np.einsum("nji,nkj->nki", frame[:, :3, :3], points - frame[:, None, :3, 3])


def angles(points: Float[ndarray, "frame 4 3"]) -> Float[ndarray, "frame 2"]:
    """Return the angles of both joints, rad, from points in coordinates of the flange.

    >>> turned = np.array([[[0, 0, 0], [1, 0, 0], [0, 0, 1.0], [0, -1.0, 0]]])
    >>> angles(turned).round(4) + 0.0  # a quarter turn about x
    array([[1.5708, 0.    ]])
    """
    axes = points[:, 1:].swapaxes(1, 2)
    found = np.stack(
        (np.arctan2(axes[:, 2, 1], axes[:, 1, 1]), np.arctan2(axes[:, 0, 2], axes[:, 0, 0])), 1
    )
    for _ in range(_NEWTON):
        across, level = _slopes(found)
        slope = np.stack([np.einsum("nij,nij->n", each, axes) for each in across], 1)
        bend = np.einsum("abnij,nij->nab", level, axes)
        found = found - np.linalg.solve(bend, slope[..., None])[..., 0]
    return found


def turned(angles: Float[ndarray, "frame 2"]) -> Float[ndarray, "frame 4 3"]:
    """Return where the four points are, in coordinates of the flange."""
    found = np.zeros((len(angles), POINTS, 3))
    found[:, 1:] = _product(_about_x(angles[:, 0]), _about_y(angles[:, 1])).swapaxes(1, 2)
    return found


def _slopes(angles: Float[ndarray, "frame 2"]) -> tuple[list[ndarray], ndarray]:
    """Return the first derivatives of R, and the second."""
    x, y = ([turn(angles[:, n], order) for order in range(3)] for n, turn in _TURNS)
    first = [_product(x[1], y[0]), _product(x[0], y[1])]
    mixed = _product(x[1], y[1])
    second = [[_product(x[2], y[0]), mixed], [mixed, _product(x[0], y[2])]]
    return first, np.array(second)


def _about_x(angle: Float[ndarray, " frame"], order: int = 0) -> Float[ndarray, "frame 3 3"]:
    """Return the rotation about x, or a derivative of it."""
    return _plane(angle, order, 1, 2)


def _about_y(angle: Float[ndarray, " frame"], order: int = 0) -> Float[ndarray, "frame 3 3"]:
    return _plane(angle, order, 2, 0)


_TURNS = ((0, _about_x), (1, _about_y))


def _plane(angle: ndarray, order: int, first: int, second: int) -> Float[ndarray, "frame 3 3"]:
    shifted = angle + 0.5 * np.pi * order
    found = np.zeros((len(angle), 3, 3))
    fixed = 3 - first - second
    found[:, fixed, fixed] = float(order == 0)
    found[:, first, first] = found[:, second, second] = np.cos(shifted)
    found[:, second, first] = np.sin(shifted)
    found[:, first, second] = -found[:, second, first]
    return found


def _product(a: ndarray, b: ndarray) -> Float[ndarray, "frame 3 3"]:
    return np.einsum("nij,njk->nik", a, b)
