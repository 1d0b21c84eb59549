"""What is inferred of a ball, a surface and a session, with its prior.

Each parameter is inferred in a coordinate in which its law is near to normal; where nothing else is
said its prior is normal there.

    coordinate              prior                     source
    restitution             uniform, 0.30 to 0.99     e at 2 m/s, from clay to a superball
    log10 concentration     uniform, 1 to 5           Matl et al., Sec. 4.1
    slope                   N(0.01, 0.03^2) s/m       balls of sports: 0 to 0.05 (Cross 1999, 2011)
    log drag                by size, or 1e-4 to 0.3   `air`; 1e-5 stands for none
    tangential loss         N(0.1, 0.15^2)            rolling after the contact takes 2/7 or 2/5
    logit tail share        N(-4, 1.5^2)              a seam or a grain met at one bounce in fifty
    log tail ratio          N(-3.5, 1)                they redirect several times more
    log scatter             N(log 0.002, 1.2^2)       of the exit speed, bounce to bounce
    log take scatter        N(log 0.001, 1.5^2)       of restitution, take to take
    log release speed       N(log 0.1, 0.5^2)         of a hand, m/s per axis (Matl et al., Sec. 4)
    log noise of times, of places     N(0, 0.5^2)     relative to what the detector states
"""

import math
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball import restitution_laws as contacts
from ricochet.models.systems.bouncing_ball.air import LEAST_DRAG, MOST_DRAG, Size
from ricochet.models.systems.bouncing_ball.restitution_laws import RestitutionLaw

NAMES = (
    "restitution",
    "log10_concentration",
    "slope",
    "log_drag",
    "tangential_loss",
    "logit_tail_share",
    "log_tail_ratio",
    "log_scatter",
    "log_take_scatter",
    "log_release_speed",
    "log_time_noise",
    "log_place_noise",
)
ABSENT = {"slope": 0.0, "tangential_loss": 0.0, "log_drag": math.log(0.1 * LEAST_DRAG)}
"""What coordinates are that a law does not have."""
BOX = np.array([[0.30, 1.0], [0.99, 5.0]])
"""Bounds of restitution and log10 concentration, rows low and high."""
UNKNOWN_DRAG = (
    0.5 * math.log(LEAST_DRAG * MOST_DRAG),
    0.25 * math.log(MOST_DRAG / LEAST_DRAG),
)
"""Centre and spread of log drag of a ball of unknown size."""
_DRAG_SD = air.DRAG_COEFFICIENT_SD / air.DRAG_COEFFICIENT
_SCATTERS = np.log([0.002, 0.001, 0.1])
_CENTRES = np.array([0.7, 3.0, 0.01, UNKNOWN_DRAG[0], 0.1, -4.0, -3.5, *_SCATTERS, 0.0, 0.0])
_SPREADS = np.array([0.2, 1.2, 0.03, UNKNOWN_DRAG[1], 0.15, 1.5, 1.0, 1.2, 1.5, 0.5, 0.5, 0.5])


@dataclass(frozen=True)
class Prior:
    """Normal laws of the coordinates after the first two, which are uniform in `BOX`.

    Attributes:
        law: Of restitution by speed; the slope belongs to the linear one alone.
        loses: Whether tangential speed is lost at a contact; it is not in the paper's model.
        air: Whether the ball feels it; it does not in the paper's model.
        margin: By which the box is widened, for curvatures at its edge.
        centre, spread: By coordinate; those of the first two only start the search.
    """

    law: RestitutionLaw = contacts.constant
    loses: bool = True
    air: bool = True
    centre: Float[ndarray, " parameter"] = field(default_factory=lambda: _CENTRES.copy())
    spread: Float[ndarray, " parameter"] = field(default_factory=lambda: _SPREADS.copy())
    margin: Float[ndarray, " 2"] = field(default_factory=lambda: np.zeros(2))

    @property
    def free(self) -> Int[ndarray, " free"]:
        """Numbers of the coordinates that the law has."""
        has = {
            "slope": self.law is contacts.linear,
            "tangential_loss": self.loses,
            "log_drag": self.air,
        }
        return np.array([number for number, name in enumerate(NAMES) if has.get(name, True)])

    @property
    def absent(self) -> Int[ndarray, " absent"]:
        """Numbers of the coordinates that the law does not have."""
        return np.setdiff1d(np.arange(len(NAMES)), self.free)

    @property
    def bounds(self) -> Float[ndarray, "2 parameter"]:
        """Where the search stays, rows low and high: six deviations, and the box."""
        reach = 6.0 * self.spread
        found = np.stack((self.centre - reach, self.centre + reach))
        found[:, :2] = BOX + np.outer([-1.0, 1.0], self.margin)
        return found

    def log_density(self, theta: Float[ndarray, "point parameter"]) -> Float[ndarray, " point"]:
        """Return the log prior density of points, -inf outside of the box."""
        low, high = self.bounds
        inside = ((theta > low) & (theta < high)).all(1)
        rest = self.free[2:]
        z = (theta[:, rest] - self.centre[rest]) / self.spread[rest]
        normal = -0.5 * z**2 - np.log(self.spread[rest]) - 0.5 * np.log(2.0 * np.pi)
        uniform = -np.log(np.prod(BOX[1] - BOX[0]))
        return np.where(inside, normal.sum(1) + uniform, -np.inf)


@dataclass(frozen=True)
class Values:
    """The parameters in their own units, an array each, one value a point."""

    restitution: Float[ndarray, " point"]
    concentration: Float[ndarray, " point"]
    slope: Float[ndarray, " point"]
    drag: Float[ndarray, " point"]
    tangential_loss: Float[ndarray, " point"]
    tail_share: Float[ndarray, " point"]
    tail_ratio: Float[ndarray, " point"]
    scatter: Float[ndarray, " point"]
    take_scatter: Float[ndarray, " point"]
    release_speed: Float[ndarray, " point"]
    time_noise: Float[ndarray, " point"]
    place_noise: Float[ndarray, " point"]


def drag_prior(size: Size | None, temperature: float) -> tuple[float, float]:
    """Return centre and spread of log drag, by the size of the ball if it is known."""
    if size is None:
        return UNKNOWN_DRAG
    return float(np.log(air.drag(size, temperature))), _DRAG_SD


def values(theta: Float[ndarray, "point parameter"]) -> Values:
    """Bring coordinates to units."""
    columns = list(theta.T)
    columns[1] = 10.0 ** columns[1]
    columns[3] = np.clip(np.exp(columns[3]), np.exp(ABSENT["log_drag"]), MOST_DRAG)
    columns[5] = 1.0 / (1.0 + np.exp(-columns[5]))
    for number in (6, 7, 8, 9, 10, 11):
        columns[number] = np.exp(columns[number])
    columns[6] = np.minimum(columns[6], 1.0)
    return Values(*columns)
