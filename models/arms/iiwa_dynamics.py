r"""Dynamics of the iiwa14: the inertia of its links, and the law of its motors.

Link k has a mass m_k, a centre of mass c_k and an inertia I_k about it, both in the link's own
frame R_k (`LINKS`). With J_k the Jacobian of c_k, and W_k the axes of the joints that turn it,

    M(q) = sum m_k J_k' J_k + W_k R_k I_k R_k' W_k' + diag(armature).

At the rod's tip the universal joint weighs `TIP_MASS`; what hangs under it turns by itself and is
no part of M. Against an error e = q - q* a motor gives -K_p e - K_d de. Masses, centres, inertias
and gains: public files of the 2023 Robot Air Hockey Challenge.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa

STIFFNESS = np.array((1500.0, 1500.0, 1200.0, 1200.0, 1000.0, 1000.0, 500.0))  # N m/rad
DAMPING = np.array((60.0, 80.0, 60.0, 30.0, 10.0, 1.0, 0.5))  # N m s/rad
TORQUE_LIMIT = np.array((320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0))  # N m
ARMATURE = np.array((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.01))  # kg m^2
TIP_MASS = 0.1  # kg


@dataclass(frozen=True)
class Link:
    """A link, in its own frame, whose z axis is its joint's.

    Attributes:
        mass: kg.
        centre: Of mass, m.
        inertia: xx, yy, zz and yz about the centre, kg m^2; xy and xz are zero.
    """

    mass: float
    centre: tuple[float, float, float]
    inertia: tuple[float, float, float, float]


LINKS = (
    Link(8.2405, (0.0, -0.0339, 0.1225), (0.02198, 0.02218, 0.00823, 0.00329)),
    Link(6.3579, (0.0034, 0.0348, 0.0467), (0.01557, 0.00518, 0.01548, 0.00254)),
    Link(4.0428, (-0.0015, 0.0315, 0.1336), (0.01091, 0.01038, 0.00314, -0.00213)),
    Link(3.6422, (-0.0025, 0.0535, 0.0372), (0.00754, 0.00254, 0.00721, 0.00126)),
    Link(2.5809, (0.0019, 0.0246, 0.0801), (0.00520, 0.00449, 0.00224, -0.00161)),
    Link(2.7606, (-0.0017, -0.0020, -0.0025), (0.00253, 0.00182, 0.00239, 0.00013)),
    Link(1.2854, (0.0007, 0.0004, 0.0265), (0.00015, 0.00015, 0.00019, 0.0)),
)
_MASSES = np.array([*(link.mass for link in LINKS), TIP_MASS])
_CENTRES = np.array([link.centre for link in LINKS])
_INERTIAS = np.array(
    [
        ((xx, 0.0, 0.0), (0.0, yy, yz), (0.0, yz, zz))
        for xx, yy, zz, yz in (k.inertia for k in LINKS)
    ]
)
_ORIGINS = np.array(
    (
        (0.1575, 0.0, 0.0, 0.0),
        (iiwa.BASE_SHOULDER, 0.0, 0.0, 0.0),
        (iiwa.BASE_SHOULDER, 0.2045, 0.0, 0.0),
        (iiwa.BASE_SHOULDER, iiwa.SHOULDER_ELBOW, 0.0, 0.0),
        (iiwa.BASE_SHOULDER, iiwa.SHOULDER_ELBOW, 0.1845, 0.0),
        (iiwa.BASE_SHOULDER, iiwa.SHOULDER_ELBOW, iiwa.ELBOW_WRIST, 0.0),
        (iiwa.BASE_SHOULDER, iiwa.SHOULDER_ELBOW, iiwa.ELBOW_WRIST, iiwa.WRIST_LINK),
    )
)
"""Of the links' frames: how far along base, upper arm, forearm and rod, m."""
_MOVES = np.tril(np.ones((7, 7)))[:, None, :]
"""Which joints move which link."""


def inertia(joints: Float[ndarray, " 7"]) -> Float[ndarray, "7 7"]:
    """Return the mass matrix M(q), kg m^2, at joint angles in rad.

    >>> inertia(iiwa.HOME).diagonal().round(3)
    array([0.665, 2.617, 0.873, 1.014, 0.047, 0.062, 0.01 ])
    """
    pose = iiwa.pose(joints)
    frames = _frames(pose.axes, float(joints[6]))
    origins = _ORIGINS @ pose.axes[[0, 2, 4, 6]]
    centres = origins + (frames @ _CENTRES[..., None])[..., 0]
    arms = centres[:, None] - origins
    moved = _MOVES * np.cross(pose.axes, arms).swapaxes(-1, -2)
    moved = np.concatenate((moved, pose.jacobian[None]))
    turned = frames.swapaxes(-1, -2) @ (_MOVES * pose.axes.T)
    shifted = moved.swapaxes(-1, -2) @ (_MASSES[:, None, None] * moved)
    return np.asarray(
        shifted.sum(0) + (turned.swapaxes(-1, -2) @ _INERTIAS @ turned).sum(0) + np.diag(ARMATURE)
    )


def _frames(axes: Float[ndarray, "7 3"], last: float) -> Float[ndarray, "7 3 3"]:
    """Return the links' frames: their x, y and z axes as columns.

    Each z axis is the joint's own, and y the next joint's, against it for links 3 and 5: they are
    at right angles; the last joint has no next.
    """
    frames = np.empty((7, 3, 3))
    frames[:, :, 2] = axes
    frames[:6, :, 1] = axes[1:]
    frames[[2, 4], :, 1] *= -1.0
    frames[:6, :, 0] = np.cross(frames[:6, :, 1], axes[:6])
    cosine, sine = np.cos(last), np.sin(last)
    frames[6, :, 0] = sine * axes[5] - cosine * frames[5, :, 0]
    frames[6, :, 1] = cosine * axes[5] + sine * frames[5, :, 0]
    return frames
