r"""How far the mallet is off the rod's tip while the arm moves.

The universal joint under the tip is held by a soft law at the angles at which the mallet is
upright. While the rod turns with angular velocity w and the tip accelerates by a, the mallet's
centre, a length l below the tip, is off the tip by d in the plane,

    J d'' + K_d d' + (K_p + m g b) d = l (K_d (-w_y, w_x) - m b a) =: J u,

with J the inertia about the tip and b how far below it the centre of mass is. Its roots are a pair
s, s* (a period of 0.64 s that fades within 44 ms), so that one complex number an axis holds offset
and rate,

    z' = s z + u,      d = Im z / Im s.

In fast strokes d is 2 to 5 mm; across the shot a millimetre turns the contact's normal by 0.7
degrees. Law, masses and lengths: public files of the 2023 Robot Air Hockey Challenge.
"""

import cmath
from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.core.constants import GRAVITY

LENGTH = 0.0505  # m, l
MASS, CENTRE = 0.283, 0.0683  # kg, m; what hangs below the tip, and its centre of mass
STIFFNESS, DAMPING = 4.0, 0.31  # N m/rad, N m s/rad
INERTIA = 0.005 + MASS * CENTRE**2 + 0.5 * 0.001
"""About the tip, kg m^2; one of the two hinges turns the joint's 0.001 too."""
_FADING = 0.5 * DAMPING / INERTIA
ROOT = -_FADING + cmath.sqrt(_FADING**2 - (STIFFNESS + MASS * GRAVITY * CENTRE) / INERTIA)
"""s, 1/s."""


@dataclass(frozen=True)
class MalletState:
    """The mallet now: z of its centre's offset, m/s, and the tip's velocity, m/s."""

    swing: Complex[ndarray, " 2"]
    velocity: Float[ndarray, " 2"]

    @property
    def offset(self) -> Float[ndarray, " 2"]:
        """Of the mallet's centre from the tip, m."""
        return np.asarray(self.swing.imag / ROOT.imag)


REST = MalletState(np.zeros(2, complex), np.zeros(2))


def deflected(offset: Float[ndarray, " 2"]) -> MalletState:
    """Return the mallet held at an offset from a tip at rest, m."""
    return MalletState(-ROOT.conjugate() * offset, np.zeros(2))


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
    turned = DAMPING * np.stack((-turning[:, 1], turning[:, 0]), -1)
    driven = LENGTH / INERTIA * (turned - MASS * CENTRE * pushed)
    kept = cmath.exp(ROOT * period)
    fading = kept ** np.arange(len(driven))[::-1]
    swing = kept ** len(driven) * mallet.swing + (kept - 1.0) / ROOT * fading @ driven
    return MalletState(swing, velocity[-1])
