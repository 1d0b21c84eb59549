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

from dataclasses import dataclass

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
    return np.moveaxis(_chain(joints)[2], 0, -1)


def places(
    joints: Float[ndarray, "*batch 7"],
) -> tuple[Float[ndarray, "*batch 3"], Float[ndarray, "*batch"], Float[ndarray, "*batch"]]:
    """Return where the tip is and the heights of link 4 and of link 7, m.

    >>> _, link4, link7 = places(np.zeros(7))
    >>> round(float(link4), 3), round(float(link7), 3)
    (0.78, 1.261)
    """
    elbow, wrist, end, _ = _chain(joints)
    link7 = wrist[2] + WRIST_LINK / WRIST_TIP * (end[2] - wrist[2])
    return np.moveaxis(end, 0, -1), elbow[2, ...], np.asarray(link7)


def pose(joints: Float[ndarray, "*batch 7"]) -> Pose:
    """Return the tip, the limited heights, the Jacobian and the axes.

    >>> round(float(pose(np.zeros(7)).jacobian[0, 1]), 3)  # upright, joint 2 moves the tip along x
    1.486
    """
    elbow, wrist, end, axes = _chain(joints)
    shoulder = np.zeros_like(elbow)
    shoulder[2] = BASE_SHOULDER
    origins = np.stack((shoulder, shoulder, shoulder, elbow, elbow, wrist, wrist))
    arms = end - origins
    jacobian = np.empty((*end.shape[1:], 3, 7))
    for row, (a, b) in enumerate(((1, 2), (2, 0), (0, 1))):
        cross = axes[:, a] * arms[:, b] - axes[:, b] * arms[:, a]
        jacobian[..., row, :] = np.moveaxis(cross, 0, -1)
    link7 = wrist[2] + WRIST_LINK / WRIST_TIP * (end[2] - wrist[2])
    directions = np.moveaxis(axes, (0, 1), (-2, -1))
    return Pose(np.moveaxis(end, 0, -1), elbow[2, ...], np.asarray(link7), jacobian, directions)


def tip_slope(
    joints: Float[ndarray, "*batch 7"],
) -> tuple[Float[ndarray, "*batch 3"], Float[ndarray, "*batch 7"]]:
    """Return where the tip is, m, and how fast its height changes with each joint, m/rad.

    >>> _, slope = tip_slope(HOME)
    >>> slope[[1, 3, 5]].round(3)
    array([-0.65 ,  0.732, -0.333])
    """
    elbow, wrist, end, axes = _chain(joints)
    slope = np.zeros((7, *end.shape[1:]))
    slope[1:3] = axes[1:3, 0] * end[1] - axes[1:3, 1] * end[0]
    slope[3:5] = axes[3:5, 0] * (end - elbow)[1] - axes[3:5, 1] * (end - elbow)[0]
    slope[5] = axes[5, 0] * (end - wrist)[1] - axes[5, 1] * (end - wrist)[0]
    return np.moveaxis(end, 0, -1), np.moveaxis(slope, 0, -1)


def link_gradients(
    joints: Float[ndarray, "*batch 7"],
) -> tuple[Float[ndarray, "*batch 7"], Float[ndarray, "*batch 7"]]:
    """Return how fast the heights of link 4 and link 7 change with each joint, m/rad.

    >>> link4, link7 = link_gradients(HOME)
    >>> link4[[1, 3, 5]].round(3), link7[[1, 3, 5]].round(3)
    (array([0.082, 0.   , 0.   ]), array([-0.357,  0.439, -0.041]))
    """
    elbow, wrist, end, axes = _chain(joints)
    shoulder = np.zeros_like(elbow)
    shoulder[2] = BASE_SHOULDER
    link7 = wrist + WRIST_LINK / WRIST_TIP * (end - wrist)
    first, second = np.zeros((2, *elbow.shape[1:], 7))
    for joint, origin in enumerate((shoulder, shoulder, shoulder, elbow, elbow, wrist)):
        x, y = axes[joint, 0], axes[joint, 1]
        if joint < 3:
            first[..., joint] = x * (elbow - origin)[1] - y * (elbow - origin)[0]
        second[..., joint] = x * (link7 - origin)[1] - y * (link7 - origin)[0]
    return first, second


def _chain(
    joints: Float[ndarray, "*batch 7"],
) -> tuple[
    Float[ndarray, " 3 *batch"],
    Float[ndarray, " 3 *batch"],
    Float[ndarray, " 3 *batch"],
    Float[ndarray, " 7 3 *batch"],
]:
    """Return elbow, wrist, tip and the joints' axes, the components first."""
    angles = np.moveaxis(np.asarray(joints, np.float64), -1, 0)
    (c1, c2, c3, c4, c5, c6, _), (s1, s2, s3, s4, s5, s6, _) = np.cos(angles), np.sin(angles)
    axes = np.zeros((7, 3, *angles.shape[1:]))
    axes[0, 2] = 1.0
    axes[1, 0], axes[1, 1] = -s1, c1
    upper = axes[2]
    upper[0], upper[1], upper[2] = c1 * s2, s1 * s2, c2
    x = c3 * np.stack((c1 * c2, s1 * c2, -s2)) + s3 * axes[1]
    axes[3] = s3 * np.stack((c1 * c2, s1 * c2, -s2)) - c3 * axes[1]
    axes[4] = c4 * upper - s4 * x
    x = c5 * (c4 * x + s4 * upper) - s5 * axes[3]
    axes[5] = axes[4][[1, 2, 0]] * x[[2, 0, 1]] - axes[4][[2, 0, 1]] * x[[1, 2, 0]]
    axes[6] = s6 * x + c6 * axes[4]
    elbow = SHOULDER_ELBOW * upper
    elbow[2] += BASE_SHOULDER
    wrist = elbow + ELBOW_WRIST * axes[4]
    return elbow, wrist, wrist + WRIST_TIP * axes[6], axes
