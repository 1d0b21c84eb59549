r"""Dynamics of the iiwa14: the inertia of its links, and the law of its motors.

Links are rods of the stated masses along the lines between the joints (`iiwa`). A rod of mass m
between A and B has the kinetic energy m (v_A^2 + v_A v_B + v_B^2) / 6, so that

    M(q) = sum m (J_A' J_A + J_B' J_B + (J_A' J_B + J_B' J_A) / 2) / 3 + I_motor 1.

Against an error e = q - q* a motor gives -K_p e - K_d de. Masses and gains: public files of the
2023 Robot Air Hockey Challenge; the motors' inertia is ours.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa

STIFFNESS = np.array((1500.0, 1500.0, 1200.0, 1200.0, 1000.0, 1000.0, 500.0))  # N m/rad
DAMPING = np.array((60.0, 80.0, 60.0, 30.0, 10.0, 1.0, 0.5))  # N m s/rad
TORQUE_LIMIT = np.array((320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0))  # N m
MOTOR_INERTIA = 0.03  # kg m^2
UPPER_ARM, FOREARM, ROD = 2, 4, 6
"""How many joints move each."""
RODS = (
    (UPPER_ARM, 6.3579, 0.0, 0.2045),
    (UPPER_ARM, 4.0428, 0.2045, 0.42),
    (FOREARM, 3.6422, 0.0, 0.1845),
    (FOREARM, 2.5809, 0.1845, 0.40),
    (ROD, 2.7606, 0.0, 0.081),
    (ROD, 1.2854, 0.081, 0.641),
    (ROD, 0.1, 0.666, 0.666),
)
"""Of links 2 to 7 and the universal joint: line, mass, kg, and from where to where along it, m."""
_LINES = ((UPPER_ARM, 2, iiwa.SHOULDER_ELBOW), (FOREARM, 4, iiwa.ELBOW_WRIST), (ROD, 6, 0.0))
"""How many joints move each line, the axis along it, and its length, m."""


def inertia(joints: Float[ndarray, " 7"]) -> Float[ndarray, "7 7"]:
    """Return the mass matrix M(q), kg m^2, at joint angles in rad.

    >>> inertia(np.zeros(7)).diagonal().round(2)  # upright: no link turns about its own line
    array([0.03, 6.91, 0.03, 1.73, 0.03, 0.28, 0.03])
    """
    pose = iiwa.pose(joints)
    starts, ends = _lines(pose)
    total = MOTOR_INERTIA * np.eye(7)
    for line, mass, begin, end in RODS:
        first, last = starts[line] + begin * ends[line], starts[line] + end * ends[line]
        cross = 0.5 * first.T @ last
        total += mass / 3.0 * (first.T @ first + last.T @ last + cross + cross.T)
    return total


def _lines(pose: iiwa.Pose) -> tuple[dict[int, ndarray], dict[int, ndarray]]:
    """Return the Jacobian of each line's start, and how it grows along the line."""
    starts, along = {}, {}
    velocity, moved = np.zeros((3, 7)), pose.axes
    for line, row, length in _LINES:
        turning = np.zeros((3, 7))
        turning[:, :line] = np.cross(moved[:line], moved[row]).T
        starts[line], along[line] = velocity, turning
        velocity = velocity + length * turning
    return starts, along
