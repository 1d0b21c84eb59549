"""Kinematics of the seven-joint Panda: where its flange is, and how it moves.

Joint k turns the frame of link k about its own z; that frame stands to the one before it as Craig's
convention has it,

    T_k = Rx(alpha_k) Tx(a_k) Tz(d_k) Rz(q_k),

and the flange is 0.107 m along the z of link 7. Angles are in rad, the base frame has z up.

Source: Franka Robotics, Franka Control Interface documentation, "Robot and interface
specifications" (Denavit-Hartenberg parameters and limits of the Panda).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

A = np.array((0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088))
D = np.array((0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0))
ALPHA = 0.5 * np.pi * np.array((0.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0))
FLANGE = 0.107
"""m"""
LOW = np.array((-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973))
HIGH = np.array((2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973))
SPEED_LIMIT = np.array((2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61))
"""rad/s"""
ACCELERATION_LIMIT = np.array((15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0))
"""rad/s^2"""
JOINTS = 7


@dataclass(frozen=True)
class Moving:
    """A frame in motion, in coordinates of the base.

    Attributes:
        place: Of its origin, m.
        turn: From its coordinates to those of the base.
        spin: Its angular velocity, rad/s.
        velocity: Of its origin, m/s.
        angular_acceleration: rad/s^2.
        acceleration: Of its origin, m/s^2, gravity not included.
    """

    place: Float[ndarray, "*batch 3"]
    turn: Float[ndarray, "*batch 3 3"]
    spin: Float[ndarray, "*batch 3"]
    velocity: Float[ndarray, "*batch 3"]
    angular_acceleration: Float[ndarray, "*batch 3"]
    acceleration: Float[ndarray, "*batch 3"]


def flange(joints: Float[ndarray, "*batch 7"]) -> Float[ndarray, "*batch 4 4"]:
    """Return the flange's frame in that of the base.

    >>> ready = 0.25 * np.pi * np.array((0.0, -1.0, 0.0, -3.0, 0.0, 2.0, 1.0))
    >>> flange(ready)[:3, 3].round(3) + 0.0  # in front of the base
    array([0.307, 0.   , 0.59 ])
    """
    found = _shifted(np.eye(4), 0.0)
    for number in range(JOINTS):
        found = found @ _fixed(number) @ _turned(joints[..., number])
    return _shifted(found, FLANGE)


def moving(
    joints: Float[ndarray, "*batch 7"],
    rates: Float[ndarray, "*batch 7"],
    accelerations: Float[ndarray, "*batch 7"],
) -> Moving:
    """Return how the flange moves while the joints do.

    >>> rest = moving(np.zeros(7), np.zeros(7), np.zeros(7))
    >>> rest.place.round(3) + 0.0, rest.acceleration
    (array([0.088, 0.   , 0.926]), array([0., 0., 0.]))
    """
    whole = np.zeros((*joints.shape[:-1], 3))
    spin, velocity, turning, pulled = whole, whole, whole, whole
    frame = np.broadcast_to(np.eye(4), (*joints.shape[:-1], 4, 4))
    for number in range(JOINTS + 1):
        last = number == JOINTS
        link = _shifted(np.eye(4), FLANGE) if last else _fixed(number)
        reached = frame @ link
        arm = reached[..., :3, 3] - frame[..., :3, 3]
        pulled = pulled + np.cross(turning, arm) + np.cross(spin, np.cross(spin, arm))
        velocity = velocity + np.cross(spin, arm)
        frame = reached
        if not last:
            axis = reached[..., :3, 2]
            own = axis * rates[..., number, None]
            turning = turning + axis * accelerations[..., number, None] + np.cross(spin, own)
            spin = spin + own
            frame = reached @ _turned(joints[..., number])
    return Moving(frame[..., :3, 3], frame[..., :3, :3], spin, velocity, turning, pulled)


def _fixed(number: int) -> Float[ndarray, "4 4"]:
    """Return Rx(alpha) Tx(a) Tz(d) of a joint."""
    sine, cosine = np.sin(ALPHA[number]), np.cos(ALPHA[number])
    return np.array(
        (
            (1.0, 0.0, 0.0, A[number]),
            (0.0, cosine, -sine, -sine * D[number]),
            (0.0, sine, cosine, cosine * D[number]),
            (0.0, 0.0, 0.0, 1.0),
        )
    )


def _turned(angle: Float[ndarray, "*batch"]) -> Float[ndarray, "*batch 4 4"]:
    """Return Rz of an angle."""
    found = np.zeros((*np.shape(angle), 4, 4))
    found[..., 0, 0] = found[..., 1, 1] = np.cos(angle)
    found[..., 1, 0] = np.sin(angle)
    found[..., 0, 1] = -found[..., 1, 0]
    found[..., 2, 2] = found[..., 3, 3] = 1.0
    return found


def _shifted(frame: Float[ndarray, "*batch 4 4"], by: float) -> Float[ndarray, "*batch 4 4"]:
    """Return a frame that was moved along its own z."""
    found = frame.copy()
    found[..., :3, 3] += by * frame[..., :3, 2]
    return found
