"""Kinematics of the seven-joint iiwa14 that holds a mallet by a rod, in the robot's frame.

Joint axes alternate, R(q) = Rz(q1) Ry(q2) Rz(q3) Ry(-q4) Rz(q5) Ry(q6) Rz(q7), and all lengths lie
along the links' own z, so with Z, Z', Z'' the directions of upper arm, forearm and rod

    elbow = d_bs e_z + d_se Z,   wrist = elbow + d_ew Z',   tip = wrist + d_wt Z'',
    J_k = axis_k x (tip - origin_k).

The rod turns about itself with q7: that column is zero and the tip has a null space of three. The
tip is the universal joint, under which the mallet hangs upright; heights of link 4 (elbow) and link
7 (0.081 m along the rod from the wrist) are limited. Lengths, limits and home posture: 2023 Robot
Air Hockey Challenge, public files. The mirror y -> -y turns the signs of q1, q3, q5 and q7. Joint
angles are in rad.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

BASE_SHOULDER, SHOULDER_ELBOW, ELBOW_WRIST, WRIST_TIP = 0.36, 0.42, 0.40, 0.666  # m
WRIST_LINK = 0.081  # m, from the wrist to the origin of link 7

JOINT_LIMIT = np.array((2.96706, 2.0944, 2.96706, 2.0944, 2.96706, 2.0944, 3.05433))  # rad, +-
SPEED_LIMIT = np.radians((85.0, 85.0, 100.0, 75.0, 130.0, 135.0, 135.0))  # rad/s
ACCELERATION_LIMIT = 10.0 * SPEED_LIMIT  # rad/s^2
USABLE = 0.95
"""Share of a joint's range and speed that may be used before it counts as a violation."""
LINK_HEIGHT = 0.25
"""Links 4 and 7 stay above this, m."""
TIP_HEIGHT, TIP_TOLERANCE = 0.1645, 0.02  # m
HOME = np.array((0.0, -0.19607, 0.0, -1.84364, 0.0, 0.97042, 0.0))
"""Posture at the start, the tip at (0.65, 0, 0.1645) m."""


@dataclass(frozen=True)
class Pose:
    """Tip of the rod and heights of two links, m, Jacobian of the tip, m/rad, and joint axes."""

    tip: Float[ndarray, "*batch 3"]
    link4: Float[ndarray, "*batch"]
    link7: Float[ndarray, "*batch"]
    jacobian: Float[ndarray, "*batch 3 7"]
    axes: Float[ndarray, "*batch 7 3"]


def tip(joints: Float[ndarray, "*batch 7"]) -> Float[ndarray, "*batch 3"]:
    """Return where the end of the rod is, m.

    >>> tip(np.zeros(7))  # upright
    array([0.   , 0.   , 1.846])
    """
    return _vectors(_chain(joints).tip)


def places(
    joints: Float[ndarray, "*batch 7"],
) -> tuple[Float[ndarray, "*batch 3"], Float[ndarray, "*batch"], Float[ndarray, "*batch"]]:
    """Return where the tip is and the heights of link 4 and of link 7, m.

    >>> _, link4, link7 = places(np.zeros(7))
    >>> round(float(link4), 3), round(float(link7), 3)
    (0.78, 1.261)
    """
    chain = _chain(joints)
    return _vectors(chain.tip), np.asarray(chain.elbow[2]), np.asarray(chain.link7[2])


def pose(joints: Float[ndarray, "*batch 7"]) -> Pose:
    """Return the tip, the limited heights, the Jacobian and the axes.

    >>> round(float(pose(np.zeros(7)).jacobian[0, 1]), 3)  # upright, joint 2 moves the tip along x
    1.486
    """
    chain = _chain(joints)
    tip = chain.tip
    arms = [_minus(tip, origin) for origin in chain.origins]
    axes, shape = chain.axes, joints.shape[:-1]
    moves = [_cross(axis, arm) for axis, arm in zip(axes, arms, strict=True)]
    link4, link7 = np.asarray(chain.elbow[2]), np.asarray(chain.link7[2])
    jacobian = _matrices(list(zip(*moves, strict=True)), shape)
    return Pose(_vectors(tip), link4, link7, jacobian, _matrices(axes, shape))


def tip_slope(
    joints: Float[ndarray, "*batch 7"],
) -> tuple[Float[ndarray, "*batch 3"], Float[ndarray, "*batch 7"]]:
    """Return where the tip is, m, and how fast its height changes with each joint, m/rad.

    >>> _, slope = tip_slope(HOME)
    >>> slope[[1, 3, 5]].round(3)
    array([-0.65 ,  0.732, -0.333])
    """
    chain = _chain(joints)
    tip = chain.tip
    return _vectors(tip), _vectors(_lift(chain, tip, 6))


def link_gradients(
    joints: Float[ndarray, "*batch 7"],
) -> tuple[Float[ndarray, "*batch 7"], Float[ndarray, "*batch 7"]]:
    """Return how fast the heights of link 4 and link 7 change with each joint, m/rad.

    >>> link4, link7 = link_gradients(HOME)
    >>> link4[[1, 3, 5]].round(3), link7[[1, 3, 5]].round(3)
    (array([0.082, 0.   , 0.   ]), array([-0.357,  0.439, -0.041]))
    """
    chain = _chain(joints)
    return _vectors(_lift(chain, chain.elbow, 3)), _vectors(_lift(chain, chain.link7, 6))


_Number = float | ndarray
_Vector = tuple[_Number, _Number, _Number]


@dataclass(frozen=True)
class _Chain:
    """The links' ends, m, and directions, by components: numbers, or arrays of a batch.

    Of one posture they are plain numbers, which take a quarter of the time of small arrays.
    """

    elbow: _Vector
    wrist: _Vector
    second: _Vector
    upper: _Vector
    fourth: _Vector
    forearm: _Vector
    across: _Vector
    rod: _Vector

    @property
    def link7(self) -> _Vector:
        """The origin of link 7."""
        return _onwards(self.wrist, WRIST_LINK, self.rod)

    @property
    def tip(self) -> _Vector:
        """The end of the rod."""
        return _onwards(self.wrist, WRIST_TIP, self.rod)

    @property
    def axes(self) -> tuple[_Vector, ...]:
        """Of the joints."""
        sixth = _cross(self.forearm, self.across)
        return _UP, self.second, self.upper, self.fourth, self.forearm, sixth, self.rod

    @property
    def origins(self) -> tuple[_Vector, ...]:
        """Of the joints, a point on each axis."""
        return *(_SHOULDER,) * 3, *(self.elbow,) * 2, *(self.wrist,) * 2


_UP: _Vector = (0.0, 0.0, 1.0)
_SHOULDER: _Vector = (0.0, 0.0, BASE_SHOULDER)


def _chain(joints: Float[ndarray, "*batch 7"]) -> _Chain:
    c1, c2, c3, c4, c5, c6, _ = _parts(np.cos(joints))
    s1, s2, s3, s4, s5, s6, _ = _parts(np.sin(joints))
    upper, ahead = (c1 * s2, s1 * s2, c2), (c1 * c2, s1 * c2)
    x = (c3 * ahead[0] - s3 * s1, c3 * ahead[1] + s3 * c1, -c3 * s2)
    fourth = (s3 * ahead[0] + c3 * s1, s3 * ahead[1] - c3 * c1, -s3 * s2)
    forearm, x = _mixed(c4, upper, -s4, x), _mixed(c4, x, s4, upper)
    across = _mixed(c5, x, -s5, fourth)
    rod = _mixed(s6, across, c6, forearm)
    elbow = _onwards(_SHOULDER, SHOULDER_ELBOW, upper)
    wrist = _onwards(elbow, ELBOW_WRIST, forearm)
    return _Chain(elbow, wrist, (-s1, c1, 0.0), upper, fourth, forearm, across, rod)


def _parts(values: Float[ndarray, "*batch 7"]) -> Any:
    """Return the seven columns; of one posture plain numbers."""
    return values.tolist() if values.ndim == 1 else [values[..., k] for k in range(7)]


def _mixed(a: _Number, first: _Vector, b: _Number, second: _Vector) -> _Vector:
    """Return a times the first and b times the second."""
    (x, y, z), (u, v, w) = first, second
    return a * x + b * u, a * y + b * v, a * z + b * w


def _onwards(start: _Vector, length: float, way: _Vector) -> _Vector:
    """Return the point so far along a unit vector."""
    return start[0] + length * way[0], start[1] + length * way[1], start[2] + length * way[2]


def _minus(first: _Vector, second: _Vector) -> _Vector:
    return first[0] - second[0], first[1] - second[1], first[2] - second[2]


def _cross(first: _Vector, second: _Vector) -> _Vector:
    (x, y, z), (u, v, w) = first, second
    return y * w - z * v, z * u - x * w, x * v - y * u


def _lift(chain: _Chain, point: _Vector, moving: int) -> tuple[_Number, ...]:
    """Return how fast a point's height changes with each joint, the first so many moving it."""
    found: list[_Number] = [0.0 * point[2]] * 7
    for k, (axis, origin) in enumerate(
        zip(chain.axes[:moving], chain.origins[:moving], strict=True)
    ):
        if k > 0:
            found[k] = axis[0] * (point[1] - origin[1]) - axis[1] * (point[0] - origin[0])
    return tuple(found)


def _vectors(parts: Sequence[_Number]) -> Float[ndarray, "*batch n"]:
    """Return components as an array, along its last axis."""
    found = np.empty((*np.shape(parts[0]), len(parts)))
    for k, part in enumerate(parts):
        found[..., k] = part
    return found


def _matrices(
    rows: Sequence[Sequence[_Number]], shape: tuple[int, ...]
) -> Float[ndarray, "*batch m n"]:
    """Return rows of components as an array, along its last two axes."""
    if not shape:
        return np.array(rows)
    found = np.empty((*shape, len(rows), len(rows[0])))
    for k, row in enumerate(rows):
        for i, part in enumerate(row):
            found[..., k, i] = part
    return found
