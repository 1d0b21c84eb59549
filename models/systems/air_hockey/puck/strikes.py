r"""The strike: what the mallet's touch does to a puck (mode 3).

The velocity after the touch, in (n, t) with n from mallet to puck, is

    v+ = Theta_3p v- + Theta_3m v_mallet + theta_3 + w,      w ~ N(0, U Sigma_3 U),

U as in `dynamics`, of the velocity of the two against each other. The contact is soft: its
instant is `delay` after the touch, and a touch off by d turns the normal by d / contact radius.
The covariance follows by the map's Jacobian.

Source: Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey", Sec. III-A.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.air_hockey.puck.contact_frames import applied, frames, left, sizes
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.table import Table


@dataclass(frozen=True)
class Strike:
    """Velocity after a strike, in the table's axes.

    Attributes:
        mean: m/s.
        covariance: Of the strike alone, m^2/s^2.
        gain: Derivative of the mean by the puck's velocity before, no unit.
        turning: Derivative of the mean by the angle of the normal, m/s per rad.
    """

    mean: Float[ndarray, "*batch 2"]
    covariance: Float[ndarray, "*batch 2 2"]
    gain: Float[ndarray, "*batch 2 2"]
    turning: Float[ndarray, "*batch 2"]


def strike(
    modes: PuckModes,
    mean: Float[ndarray, "*batch 6"],
    mallet_velocity: Float[ndarray, "*batch 2"],
    normal: Float[ndarray, "*batch 2"],
) -> Strike:
    """Return the puck's velocity, m/s, after the mallet's touch (Eq. 3); `normal` points to it."""
    law = modes.mallet
    frame = frames(normal)
    before = np.concatenate(
        (applied(frame, mean[..., 2:4]), applied(frame, mallet_velocity)), axis=-1
    )
    back = frame.swapaxes(-1, -2)
    after = applied(back, before @ law.matrix.T + law.offset)
    turned = np.concatenate((left(before[..., :2]), left(before[..., 2:])), axis=-1)
    turning = left(after) - applied(back, turned @ law.matrix.T)
    into = back * sizes(before[..., 2:] - before[..., :2])[..., None, :]
    noise = into @ law.covariance @ into.swapaxes(-1, -2)
    return Strike(after, noise, back @ law.matrix[:, :2] @ frame, turning)


def struck(
    modes: PuckModes,
    mean: Float[ndarray, "*batch 6"],
    covariance: Float[ndarray, "*batch 6 6"],
    mallet_velocity: Float[ndarray, "*batch 2"],
    normal: Float[ndarray, "*batch 2"],
    *,
    table: Table,
) -> tuple[Float[ndarray, "*batch 6"], Float[ndarray, "*batch 6 6"]]:
    """Return the state after the touch, as if the velocity had changed at once.

    Uncertainty of the puck's place across the normal becomes uncertainty of the direction.

    Args:
        mean: State at the touch.
        covariance: Of that state; add the mallet's own placing error to that of the place.
        normal: Unit vector from the mallet's centre to the puck's.
    """
    hit = strike(modes, mean, mallet_velocity, normal)
    tangent = left(normal)
    jacobian = np.zeros((*mean.shape, 6)) + np.eye(6)
    jacobian[..., 2:4, 0:2] = hit.turning[..., :, None] * tangent[..., None, :]
    jacobian[..., 2:4, 0:2] /= table.contact_radius
    jacobian[..., 2:4, 2:4] = hit.gain
    jacobian[..., 0:2, 0:2] -= modes.delay * jacobian[..., 2:4, 0:2]
    jacobian[..., 0:2, 2:4] = modes.delay * (np.eye(2) - hit.gain)
    after = mean.copy()
    after[..., 2:4] = hit.mean
    after[..., 0:2] += modes.delay * (mean[..., 2:4] - hit.mean)
    into = np.concatenate((-modes.delay * np.eye(2), np.eye(2), np.zeros((2, 2))))
    spread = jacobian @ covariance @ jacobian.swapaxes(-1, -2)
    return after, spread + into @ hit.covariance @ into.T
