r"""How far the mallet is off the rod's tip while the arm moves.

The universal joint under the tip is held by a soft law at the angles at which the mallet is
upright. While the rod turns with angular velocity w and the tip accelerates by a, the mallet's
centre, a length l below the tip, is off the tip by d in the plane,

    d' = l (-w_y, w_x) - (m l^2 / K_d) a - d / tau,      tau = K_d / (K_p + m g l),

its inertia left out (3 ms against tau = 75 ms). In fast strokes d is 2 to 5 mm; across the shot a
millimetre turns the contact's normal by 0.7 degrees. Law and lengths: public files of the 2023
Robot Air Hockey Challenge.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.core.constants import GRAVITY

LENGTH, MASS = 0.0505, 0.283  # m, kg
STIFFNESS, DAMPING = 4.0, 0.31  # N m/rad, N m s/rad
TIME_CONSTANT = DAMPING / (STIFFNESS + MASS * GRAVITY * LENGTH)
_DRAG = MASS * LENGTH**2 / DAMPING


@dataclass(frozen=True)
class MalletState:
    """The mallet now: its centre's offset from the tip, m, and the tip's velocity, m/s."""

    offset: Float[ndarray, " 2"]
    velocity: Float[ndarray, " 2"]


REST = MalletState(np.zeros(2), np.zeros(2))


def follow(
    mallet: MalletState,
    joints: Float[ndarray, "time 7"],
    joint_speeds: Float[ndarray, "time 7"],
    *,
    period: float,
) -> MalletState:
    """Return the mallet after a motion sampled at each period's end, from that at its start."""
    if len(joints) == 0:
        return mallet
    pose = iiwa.pose(joints)
    turning = np.einsum("tka,tk->ta", pose.axes, joint_speeds)
    velocity = np.einsum("tak,tk->ta", pose.jacobian[:, :2], joint_speeds)
    pushed = np.diff(velocity, axis=0, prepend=mallet.velocity[None]) / period
    rate = LENGTH * np.stack((-turning[:, 1], turning[:, 0]), -1) - _DRAG * pushed
    kept = math.exp(-period / TIME_CONSTANT)
    fading = kept ** np.arange(len(rate))[::-1]
    offset = kept ** len(rate) * mallet.offset + TIME_CONSTANT * (1.0 - kept) * fading @ rate
    return MalletState(offset, velocity[-1])
