r"""A mass at the tip that the motors' law does not know: its estimate, and the correction for it.

Where the law neglects a mass m at the tip, the joints are off their commands by e,

    M e'' + K_d e' + K_p e = -m J' (a + g),

a being the acceleration of the tip: the arm hangs through, and lags in fast strokes, by 2 to 6 mm.
The error is linear in m: e = m r, with r the response of one kilogram, which is followed along the
commands. m is estimated from observed joints by least squares on torques, in every period,

    m = sum (K_p r)'(K_p e) / (prior + sum |K_p r|^2),

zero where the law neglects nothing, and -m r is added to the commands: the error of that is m r
again, and the arm is where it was planned to be. Only m is estimated from what is observed;
commands follow from commands. Observed joints are those at the end of the last command's period.
What the joints' friction holds, up to 0.5 N m, is taken for a mass too: a tenth of it at most.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa, iiwa_dynamics
from ricochet.models.core.constants import GRAVITY

LARGEST_MASS = 0.6
"""Largest mass believed, kg."""
PRIOR = 60.0
"""Weight of the prior, a mass of zero, in least squares, (N m/kg)^2: it slows the estimate down."""
LARGEST_TORQUE = 20.0
"""Torque of an error, N m, from which on its cause is no mass."""
_STEPS = 4
_GRAVITY = np.array((0.0, 0.0, GRAVITY))


@dataclass(frozen=True)
class Payload:
    """The estimate of the mass.

    Attributes:
        response: Error of the joints for one kilogram, rad/kg.
        rate: Its change, rad/s/kg.
        velocity: Of the tip at the last command's end, m/s.
        match: Sum of products of torques, observed and of one kilogram, (N m)^2/kg.
        weight: Sum of squares of those of one kilogram, and the prior's, (N m/kg)^2.
        corrected: Mass that the last command was corrected for, kg.
        growth: Of that in the last period, kg/s.
    """

    response: Float[ndarray, " 7"] = field(default_factory=lambda: np.zeros(7))
    rate: Float[ndarray, " 7"] = field(default_factory=lambda: np.zeros(7))
    velocity: Float[ndarray, " 3"] = field(default_factory=lambda: np.zeros(3))
    match: float = 0.0
    weight: float = PRIOR
    corrected: float = 0.0
    growth: float = 0.0

    @property
    def mass(self) -> float:
        """The mass, kg."""
        return float(np.clip(self.match / self.weight, 0.0, LARGEST_MASS))

    @property
    def correction(self) -> Float[ndarray, "2 7"]:
        """Return what to add to joint angles, rad, and speeds, rad/s."""
        speed = self.corrected * self.rate + self.growth * self.response
        return -np.stack((self.corrected * self.response, speed))


def learn(payload: Payload, error: Float[ndarray, " 7"]) -> Payload:
    """Return the estimate after the joints' error, rad, was observed; not used if not finite."""
    torque = iiwa_dynamics.STIFFNESS * error
    if not np.abs(torque).max() < LARGEST_TORQUE:
        return payload
    single = iiwa_dynamics.STIFFNESS * payload.response
    return replace(
        payload,
        match=payload.match + float(single @ torque),
        weight=payload.weight + float(single @ single),
    )


def follow(
    payload: Payload,
    joints: Float[ndarray, " 7"],
    joint_speeds: Float[ndarray, " 7"],
    *,
    period: float,
) -> Payload:
    """Return the estimate a period, s, later: the response after another command."""
    pose = iiwa.pose(joints)
    velocity = pose.jacobian @ joint_speeds
    pushed = -pose.jacobian.T @ ((velocity - payload.velocity) / period + _GRAVITY)
    inertia, step = iiwa_dynamics.inertia(joints), period / _STEPS
    stiffness, damping = iiwa_dynamics.STIFFNESS, iiwa_dynamics.DAMPING
    solve = np.linalg.inv(inertia + np.diag(step * damping + step**2 * stiffness))
    response, rate = payload.response, payload.rate
    for _ in range(_STEPS):
        rate = solve @ (inertia @ rate + step * (pushed - stiffness * response))
        response = response + step * rate
    moved = replace(payload, response=response, rate=rate, velocity=velocity)
    return replace(
        moved, corrected=payload.mass, growth=(payload.mass - payload.corrected) / period
    )
