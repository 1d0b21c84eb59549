"""Kinematics of the seven-joint iiwa14 that holds a mallet by a rod, in the robot's frame.

Joint axes alternate, R(q) = Rz(q1) Ry(q2) Rz(q3) Ry(-q4) Rz(q5) Ry(q6) Rz(q7), and all lengths lie
along the links' own z, so with Z, Z', Z'' the directions of upper arm, forearm and rod

    elbow = d_bs e_z + d_se Z,   wrist = elbow + d_ew Z',   tip = wrist + d_wt Z'',
    J_k = axis_k x (tip - origin_k).

The rod turns about itself with q7: that column is zero and the tip has a null space of three. The
tip is the universal joint, under which the mallet hangs upright; heights of link 4 (elbow) and link
7 (0.081 m along the rod from the wrist) are limited. Lengths, limits and home posture: 2023 Robot
Air Hockey Challenge, public files. The mirror y -> -y turns the signs of q1, q3, q5 and q7. Joint
angles are in rad. Links are placed as machine code (`models.core.compiled`).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.compiled import compiled

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


_SHOULDER, _ELBOW, _WRIST, _LINK7, _TIP = range(5)  # points of the arm


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
    return _links(joints)[0][..., _TIP, :]


def places(
    joints: Float[ndarray, "*batch 7"],
) -> tuple[Float[ndarray, "*batch 3"], Float[ndarray, "*batch"], Float[ndarray, "*batch"]]:
    """Return where the tip is and the heights of link 4 and of link 7, m.

    >>> _, link4, link7 = places(np.zeros(7))
    >>> round(float(link4), 3), round(float(link7), 3)
    (0.78, 1.261)
    """
    points, _ = _links(joints)
    return points[..., _TIP, :], *_heights(points)


def pose(joints: Float[ndarray, "*batch 7"]) -> Pose:
    """Return the tip, the limited heights, the Jacobian and the axes.

    >>> round(float(pose(np.zeros(7)).jacobian[0, 1]), 3)  # upright, joint 2 moves the tip along x
    1.486
    """
    points, axes = _links(joints)
    return Pose(points[..., _TIP, :], *_heights(points), _jacobian(points, axes, _TIP), axes)


def tip_slope(
    joints: Float[ndarray, "*batch 7"],
) -> tuple[Float[ndarray, "*batch 3"], Float[ndarray, "*batch 7"]]:
    """Return where the tip is, m, and how fast its height changes with each joint, m/rad.

    >>> _, slope = tip_slope(HOME)
    >>> slope[[1, 3, 5]].round(3)
    array([-0.65 ,  0.732, -0.333])
    """
    points, axes = _links(joints)
    return points[..., _TIP, :], _jacobian(points, axes, _TIP)[..., 2, :]


def link_gradients(
    joints: Float[ndarray, "*batch 7"],
) -> tuple[Float[ndarray, "*batch 7"], Float[ndarray, "*batch 7"]]:
    """Return how fast the heights of link 4 and link 7 change with each joint, m/rad.

    >>> link4, link7 = link_gradients(HOME)
    >>> link4[[1, 3, 5]].round(3), link7[[1, 3, 5]].round(3)
    (array([0.082, 0.   , 0.   ]), array([-0.357,  0.439, -0.041]))
    """
    points, axes = _links(joints)
    link4, link7 = (_jacobian(points, axes, point)[..., 2, :] for point in (_ELBOW, _LINK7))
    return link4, link7


def _links(
    joints: Float[ndarray, "*batch 7"],
) -> tuple[Float[ndarray, "*batch 5 3"], Float[ndarray, "*batch 7 3"]]:
    """Return the points of the arm, m, and the axes of the joints."""
    flat = np.array(joints, dtype=float, order="C").reshape(-1, 7)
    points, axes = np.zeros((len(flat), 5, 3)), np.zeros((len(flat), 7, 3))
    _place(np.cos(flat), np.sin(flat), points, axes)
    shape = joints.shape[:-1]
    return points.reshape(*shape, 5, 3), axes.reshape(*shape, 7, 3)


def _heights(
    points: Float[ndarray, "*batch 5 3"],
) -> tuple[Float[ndarray, "*batch"], Float[ndarray, "*batch"]]:
    """Return the heights of link 4 and of link 7, m."""
    return np.asarray(points[..., _ELBOW, 2]), np.asarray(points[..., _LINK7, 2])


def _jacobian(
    points: Float[ndarray, "*batch 5 3"], axes: Float[ndarray, "*batch 7 3"], point: int
) -> Float[ndarray, "*batch 3 7"]:
    """Return how fast a point moves with each joint, m/rad."""
    found = np.zeros((*axes.shape[:-2], 3, 7))
    _turn(points.reshape(-1, 5, 3), axes.reshape(-1, 7, 3), point, found.reshape(-1, 3, 7))
    return found


@compiled
def _place(cosines: ndarray, sines: ndarray, points: ndarray, axes: ndarray) -> None:
    """Fill in points and axes of so many postures."""
    for row in range(len(cosines)):
        c1, c2, c3, c4, c5, c6, _ = cosines[row]
        s1, s2, s3, s4, s5, s6, _ = sines[row]
        at, axis, ahead = points[row], axes[row], (c1 * c2, s1 * c2, -s2)
        axis[0, 2] = 1.0
        axis[1, 0], axis[1, 1] = -s1, c1
        axis[2, 0], axis[2, 1], axis[2, 2] = c1 * s2, s1 * s2, c2
        at[_SHOULDER, 2] = BASE_SHOULDER
        for k in range(3):
            x = c3 * ahead[k] + s3 * axis[1, k]
            axis[3, k] = s3 * ahead[k] - c3 * axis[1, k]
            axis[4, k] = c4 * axis[2, k] - s4 * x
            across = c5 * (c4 * x + s4 * axis[2, k]) - s5 * axis[3, k]
            axis[5, k] = -s5 * (c4 * x + s4 * axis[2, k]) - c5 * axis[3, k]
            axis[6, k] = s6 * across + c6 * axis[4, k]
            at[_ELBOW, k] = at[_SHOULDER, k] + SHOULDER_ELBOW * axis[2, k]
            at[_WRIST, k] = at[_ELBOW, k] + ELBOW_WRIST * axis[4, k]
            at[_LINK7, k] = at[_WRIST, k] + WRIST_LINK * axis[6, k]
            at[_TIP, k] = at[_WRIST, k] + WRIST_TIP * axis[6, k]


@compiled
def _turn(points: ndarray, axes: ndarray, point: int, found: ndarray) -> None:
    """Fill in the Jacobians of one of the points; joints beyond it do not move it."""
    for row in range(len(points)):
        at, to = points[row], found[row]
        for k in range(3 if point == _ELBOW else 7):
            origin = _SHOULDER if k < 3 else (_ELBOW if k < 5 else _WRIST)
            x = at[point, 0] - at[origin, 0]
            y = at[point, 1] - at[origin, 1]
            z = at[point, 2] - at[origin, 2]
            u, v, w = axes[row, k]
            to[0, k], to[1, k], to[2, k] = v * z - w * y, w * x - u * z, u * y - v * x
