"""Kinematics of the UR5 that holds a paddle upright in the robot's plane x = x_R.

Frames follow Denavit and Hartenberg, T(i-1, i) = Rz(q_i) Tz(d_i) Tx(a_i) Rx(alpha_i). The lengths
are those that Universal Robots publish ("DH parameters for calculations of kinematics and
dynamics", UR5 of the CB3 series); joint range +-2 pi and joint speed pi rad/s are those of the UR5
user manual (CB3, version 3.13).

The face of the paddle looks towards -x and its roll does not matter (a disc), so three joints do
all the work. With the wrist's centre p5 = paddle + (mount + d6) along +x, seen from the base,

    a sin q1 - b cos q1 = d4,        (a, b) = horizontal place of p5
    u = a cos q1 + b sin q1,         w = height of p5 + d5 over the shoulder
    u = a2 cos q2 + a3 cos(q2 + q3), w = a2 sin q2 + a3 sin(q2 + q3)
    q4 = -q2 - q3,   q5 = pi/2 + q1,   q6 = 0

(the general solution, e.g. Hawkins, "Analytic inverse kinematics for the Universal Robots", with
the tool's direction put in). One branch is taken: shoulder straight, elbow up, wrist over the tool.
Joint angles are in rad, joint speeds in rad/s, places in m.
"""

import math

import numpy as np
from jaxtyping import Float
from numpy import ndarray

D1, D4, D5, D6 = 0.089159, 0.10915, 0.09465, 0.0823  # m
A2, A3 = -0.425, -0.39225  # m
TWISTS = (0.5 * math.pi, 0.0, 0.0, 0.5 * math.pi, -0.5 * math.pi, 0.0)  # rad
LENGTHS = (0.0, A2, A3, 0.0, 0.0, 0.0)  # m
OFFSETS = (D1, 0.0, 0.0, D4, D5, D6)  # m

JOINT_RANGE = 2.0 * math.pi  # rad, each way
JOINT_SPEED = math.pi  # rad/s

BASE = (0.88, 0.10915, 0.26)  # m, its axes parallel to the table's; chosen by a scan, see `spread`
MOUNT = 0.05  # m, from the flange to the paddle's face
PADDLE_RADIUS = 0.05715  # m, 4.5 inches across


def forward(joints: Float[ndarray, "*batch 6"]) -> Float[ndarray, "*batch 4 4"]:
    """Return the paddle's pose: its centre, and the face's normal as the third axis.

    >>> joints = inverse(np.array((0.3, 0.1, 0.25)))
    >>> forward(joints)[:3, 3].round(6)
    array([0.3 , 0.1 , 0.25])
    """
    return _frames(joints)[-1] @ _shift(0.0, 0.0, MOUNT)


def paddle(
    joints: Float[ndarray, "*batch 6"],
) -> tuple[Float[ndarray, "*batch 3"], Float[ndarray, "*batch 3 6"]]:
    """Return the paddle's centre, m, and its velocity per joint speed (the Jacobian), m/rad.

    >>> centre, rates = paddle(inverse(np.array((0.3, 0.1, 0.25))))
    >>> centre.round(6), rates.shape
    (array([0.3 , 0.1 , 0.25]), (3, 6))
    """
    frames = _frames(joints)
    centre = frames[6][..., :3, 3] + MOUNT * frames[6][..., :3, 2]
    rates = np.empty((*centre.shape, 6))
    for i, frame in enumerate(frames[:6]):
        axis, arm = frame[..., :3, 2], centre - frame[..., :3, 3]
        rates[..., 0, i] = axis[..., 1] * arm[..., 2] - axis[..., 2] * arm[..., 1]
        rates[..., 1, i] = axis[..., 2] * arm[..., 0] - axis[..., 0] * arm[..., 2]
        rates[..., 2, i] = axis[..., 0] * arm[..., 1] - axis[..., 1] * arm[..., 0]
    return centre, rates


def joint_places(joints: Float[ndarray, "6"]) -> Float[ndarray, "8 3"]:
    """Return where the base, the ends of the six links and the paddle's centre are, m.

    >>> places = joint_places(inverse(np.array((0.3, 0.1, 0.25))))
    >>> places[[0, -1]].round(3)
    array([[0.88 , 0.109, 0.26 ],
           [0.3  , 0.1  , 0.25 ]])
    """
    frames = [*_frames(joints), forward(joints)]
    return np.stack([frame[:3, 3] for frame in frames])


def inverse(point: Float[ndarray, "*batch 3"]) -> Float[ndarray, "*batch 6"]:
    """Return the joint angles that put the paddle's centre at a point, its face towards -x.

    They are NaN where the arm is too short or the point too near its axis.

    >>> inverse(np.array((0.3, 0.1, 0.25)))[:5].round(3)
    array([-0.226, -0.937,  2.024, -1.086,  1.345])
    """
    x, y, z = (np.asarray(point, np.float64)[..., axis] - BASE[axis] for axis in range(3))
    a, b, w = x + MOUNT + D6, y, z - D1 + D5
    with np.errstate(invalid="ignore"):
        q1 = np.arctan2(-b, -a) - np.arcsin(D4 / np.hypot(a, b))
        u = -np.sqrt(a**2 + b**2 - D4**2)
        q3 = np.arccos((u**2 + w**2 - A2**2 - A3**2) / (2.0 * A2 * A3))
    q2 = np.arctan2(-w, -u) - np.arctan2(-A3 * np.sin(q3), -A2 - A3 * np.cos(q3))
    return np.stack((q1, q2, q3, -q2 - q3, 0.5 * math.pi + q1, 0.0 * q1), -1)


def joint_speeds(
    joints: Float[ndarray, "*batch 6"], velocity: Float[ndarray, "*batch 2"]
) -> Float[ndarray, "*batch 6"]:
    """Return the joint speeds that move the upright paddle within the robot's plane.

    The derivative of `inverse`: dq1 = dy cos q1 / u, and so on down the chain.

    Args:
        joints: Those of an upright paddle, as `inverse` gives them.
        velocity: Velocity (dy, dz) of the paddle's centre, m/s.

    >>> joints, velocity = inverse(np.array((0.3, 0.1, 0.25))), np.array((0.2, 1.0))
    >>> (paddle(joints)[1] @ joint_speeds(joints, velocity))[1:].round(6)
    array([0.2, 1. ])
    """
    q1, q2, q3 = joints[..., 0], joints[..., 1], joints[..., 2]
    dy, dw = velocity[..., 0], velocity[..., 1]
    c2, s2, c23, s23 = np.cos(q2), np.sin(q2), np.cos(q2 + q3), np.sin(q2 + q3)
    dq1 = dy * np.cos(q1) / (A2 * c2 + A3 * c23)
    du = dy * np.sin(q1) - D4 * dq1
    dq2 = (du * c23 + dw * s23) / (A2 * np.sin(q3))
    dq23 = -(du * c2 + dw * s2) / (A3 * np.sin(q3))
    return np.stack((dq1, dq2, dq23 - dq2, -dq23, dq1, 0.0 * dq1), -1)


def spread(joints: Float[ndarray, "*batch 6"]) -> Float[ndarray, "*batch"]:
    """Return how far an upright arm is from its singularities, m.

    The smallest of: distance of the wrist from the first axis's plane |u|, and the elbow's
    leverage |a sin q3| with a the shorter link. At zero some paddle velocity in the plane needs
    infinite joint speed. The base stands where, over the workspace y in [-0.35, 0.35] and z in
    [0, 0.50] m, this stays over 0.35 m and a paddle speed of 1 m/s asks for at most 3.5 rad/s.

    >>> spread(inverse(np.array([(0.3, 0.1, 0.25)]))).round(3).tolist()
    [0.353]
    """
    q2, q3 = joints[..., 1], joints[..., 2]
    u = A2 * np.cos(q2) + A3 * np.cos(q2 + q3)
    return np.minimum(np.abs(u), np.abs(A3 * np.sin(q3)))


def _frames(joints: Float[ndarray, "*batch 6"]) -> list[Float[ndarray, "*batch 4 4"]]:
    """Return the base's frame and that after each joint."""
    angles = np.asarray(joints, np.float64)
    frames = [np.broadcast_to(_shift(*BASE), (*angles.shape[:-1], 4, 4))]
    for i, (d, a, alpha) in enumerate(zip(OFFSETS, LENGTHS, TWISTS, strict=True)):
        frames.append(frames[-1] @ _link(angles[..., i], d, a, alpha))
    return frames


def _link(
    angle: Float[ndarray, "*batch"], d: float, a: float, alpha: float
) -> Float[ndarray, "*batch 4 4"]:
    """Return Rz(angle) Tz(d) Tx(a) Rx(alpha)."""
    c, s, ca, sa = np.cos(angle), np.sin(angle), math.cos(alpha), math.sin(alpha)
    pose = np.zeros((*angle.shape, 4, 4))
    pose[..., 0, 0], pose[..., 0, 1], pose[..., 0, 2], pose[..., 0, 3] = c, -s * ca, s * sa, a * c
    pose[..., 1, 0], pose[..., 1, 1], pose[..., 1, 2], pose[..., 1, 3] = s, c * ca, -c * sa, a * s
    pose[..., 2, 1], pose[..., 2, 2], pose[..., 2, 3], pose[..., 3, 3] = sa, ca, d, 1.0
    return pose


def _shift(x: float, y: float, z: float) -> Float[ndarray, "4 4"]:
    """Return a translation."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose
