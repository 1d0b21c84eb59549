"""Steps of a double pendulum in numpy alone, for controllers: many pendulums at once.

The equations and their steps are those of `double_pendulum`.

Source: Heiden et al., Eq. 12.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

GRAVITY = 9.81
"""m/s^2"""


@dataclass(frozen=True)
class Bodies:
    """What the motion of pendulums depends on (`pendulum_parameters`), a number a pendulum."""

    a: Float[ndarray, " pendulum"]
    b: Float[ndarray, " pendulum"]
    u: Float[ndarray, " pendulum"]
    v: Float[ndarray, " pendulum"]
    p: Float[ndarray, " pendulum"]
    q: Float[ndarray, " pendulum"]
    length: Float[ndarray, " pendulum"]
    d1: Float[ndarray, " pendulum"]
    d2: Float[ndarray, " pendulum"]

    @classmethod
    def of(cls, theta: Float[ndarray, "pendulum 11"]) -> "Bodies":
        """Return those of parameters, in the order of `pendulum_limits.PARAMETERS`.

        >>> Bodies.of(np.array([[1.0, 0.0, 0.5, 0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.1]])).a
        array([12.25])
        """
        m1, i1, x1, y1, d1, length, m2, i2, x2, y2, d2 = theta.T
        a = i1 + m1 * (x1**2 + y1**2) + m2 * length**2
        b = i2 + m2 * (x2**2 + y2**2)
        return cls(a, b, m1 * x1 + m2 * length, m1 * y1, m2 * x2, m2 * y2, length, d1, d2)

    def repeated(self, count: int) -> "Bodies":
        """Return each of them some times, all of them one time after the other."""
        return Bodies(*(np.tile(each, count) for each in vars(self).values()))


def roll_out(
    bodies: Bodies,
    starts: Float[ndarray, "pendulum 4"],
    *,
    steps: int,
    duration: float,
    substeps: int,
) -> Float[ndarray, "{steps} pendulum 4"]:
    """Return the states after each step of a duration in s, by semi-implicit Euler.

    Args:
        starts: Angles, rad, of link 1 from straight down and of link 2 from link 1; then rates.
        substeps: Into which each step is divided.
    """
    short = duration / substeps
    angle_1, angle_2, rate_1, rate_2 = starts.T.copy()
    found = np.empty((steps, len(angle_1), 4))
    with np.errstate(over="ignore", invalid="ignore"):  # pendulums that run away stay what they are
        for step in range(steps):
            for _ in range(substeps):
                by_1, by_2 = _accelerations(bodies, angle_1, angle_2, rate_1, rate_2)
                rate_1 += short * by_1
                rate_2 += short * by_2
                angle_1 += short * rate_1
                angle_2 += short * rate_2
            found[step] = np.stack((angle_1, angle_2, rate_1, rate_2), 1)
    return found


def _accelerations(
    bodies: Bodies, angle_1: ndarray, angle_2: ndarray, rate_1: ndarray, rate_2: ndarray
) -> tuple[ndarray, ndarray]:
    """Solve both equations of motion."""
    sine_1, cosine_1, sine_2, cosine_2 = (
        np.sin(angle_1), np.cos(angle_1), np.sin(angle_2), np.cos(angle_2)
    )  # fmt: skip
    along = bodies.p * cosine_2 - bodies.q * sine_2
    across = bodies.p * sine_2 + bodies.q * cosine_2
    coupled, slope = bodies.length * along, -bodies.length * across
    weight_2 = GRAVITY * (sine_1 * along + cosine_1 * across)
    weight_1 = GRAVITY * (bodies.u * sine_1 + bodies.v * cosine_1)
    drive_2 = slope * rate_1**2 - weight_2 - bodies.d2 * rate_2
    drive_1 = -slope * rate_2 * (2.0 * rate_1 + rate_2) - weight_1 - weight_2 - bodies.d1 * rate_1
    mixed = bodies.b + coupled
    whole = bodies.a + mixed + coupled
    scale = 1.0 / (whole * bodies.b - mixed**2)
    return (
        scale * (bodies.b * drive_1 - mixed * drive_2),
        scale * (whole * drive_2 - mixed * drive_1),
    )
