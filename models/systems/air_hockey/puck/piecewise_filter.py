r"""Where the puck is and how it moves, from noisy places: a Kalman filter over its modes.

Each period the state s ~ N(m, P) goes through the mode that its mean is in (`dynamics`; Eqs. 6-8
of Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air Hockey"):
floating, a bank when it went beyond a wall, a strike when the mallet met it within the period, at
the instant of either. Then the observed place y = x + N(0, noise^2 I) corrects it,

    K = P H' (H P H' + R)^-1,    m + K (y - H m),    P - K H P,

unless it is an outlier (d^2 > 16.3: three in ten thousand). A few outliers in a row mean that the
puck did what no mode describes: the filter starts anew from the next place. A puck that was not
seen for long is lost until it is seen again. States are in m, m/s, m/s^2 in the table's frame.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.filters import kalman
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import dynamics, strikes
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.table import Table

Mode = Literal["floating", "bank", "strike"]

GATE = 16.3
RESET_AFTER = 3  # outliers in a row, until the filter starts anew
LOST_AFTER = 15  # periods unseen, until the puck counts as lost
_FIRST_SPEED = 1.0  # m/s, prior standard deviation of a puck's velocity
_SOFT = 0.003  # s, by which a soft contact is not at its one instant
_MARGIN = 0.01  # m, off the table, where a place still counts
_SLOWEST = 1e-3  # m/s against each other, less is no strike
_PLACE = np.eye(2, 6)  # H, the place of a state


@dataclass(frozen=True)
class State:
    """The estimate of the puck's state.

    Attributes:
        noise: Standard deviation of an observed place, m per axis.
        mode: That of the last period.
        unseen: Periods since the last place.
        refused: Outliers in a row.
    """

    mean: Float[ndarray, " 6"]
    covariance: Float[ndarray, "6 6"]
    modes: PuckModes
    table: Table
    noise: float
    mode: Mode = "floating"
    unseen: int = 0
    refused: int = 0

    @property
    def lost(self) -> bool:
        """Whether the puck was not seen for too long to know where it is."""
        return self.unseen >= LOST_AFTER


def init(
    modes: PuckModes, table: Table, *, position: Float[ndarray, " 2"], noise: float = 2e-3
) -> State:
    """Return the state given a first observed place on the table, m, with noise in m per axis."""
    if not table.contains(position, _MARGIN):
        raise ValueError(f"position: must be on the table, got {position.tolist()}")
    sd = np.repeat((noise, _FIRST_SPEED, modes.airflow_sd), 2)
    mean = np.concatenate((position, np.zeros(4)))
    return State(mean, np.diag(sd**2), modes, table, noise)


def update(
    state: State,
    position: Float[ndarray, " 2"] | None,
    *,
    mallet: Float[ndarray, " 2"] | None = None,
    mallet_velocity: Float[ndarray, " 2"] | None = None,
) -> State:
    """Return the state a period later, given what was then observed.

    Args:
        position: Observed place, m; None or not finite when the puck was not seen.
        mallet: Where the mallet's centre now is, m; None or not finite if it is nowhere near.
        mallet_velocity: Its velocity, m/s; None or not finite strikes nothing.
    """
    state = _forward(state, _known(mallet), _known(mallet_velocity))
    position = _known(position)
    if position is None:
        return replace(state, unseen=state.unseen + 1)
    if state.lost and state.table.contains(position, _MARGIN):
        return _anew(state, position)
    return _correct(state, position)


def predict(state: State, seconds: float) -> tuple[Float[ndarray, " 6"], Float[ndarray, "6 6"]]:
    """Return mean and covariance of the state a time >= 0 ahead, banks included."""
    if not 0.0 <= seconds < np.inf:
        raise ValueError(f"seconds: must be finite and not negative, got {seconds}")
    steps = int(seconds / PERIOD + 1e-9)
    share = seconds / PERIOD - steps
    mean, covariance = dynamics.leap(
        state.modes, state.mean, state.covariance, steps=steps, table=state.table
    )
    if share < 1e-9:
        return mean, covariance
    one = state.modes.transition
    part = np.eye(6) + share * (one.matrix - np.eye(6))
    after, spread = kalman.predict(
        mean[None],
        covariance[None],
        transition=part,
        noise=share * one.covariance,
        offset=share * one.offset,
    )
    dynamics.bank(state.modes.wall, after, spread, state.table)
    return after[0], spread[0]


def _known(vector: Float[ndarray, " 2"] | None) -> Float[ndarray, " 2"] | None:
    """Return a vector, or None if it is not finite."""
    return vector if vector is not None and np.isfinite(vector).all() else None


def _forward(
    state: State,
    mallet: Float[ndarray, " 2"] | None,
    mallet_velocity: Float[ndarray, " 2"] | None,
) -> State:
    """Return the state a period later, before anything is observed."""
    one = state.modes.transition
    mean, covariance = kalman.predict(
        state.mean,
        state.covariance,
        transition=one.matrix,
        noise=one.covariance,
        offset=one.offset,
    )
    if mallet is not None and mallet_velocity is not None:
        ago = _met(mean, mallet, mallet_velocity, state.table)
        if ago is not None:
            return _struck(state, mean, covariance, (mallet, mallet_velocity, ago))
    if not dynamics.beyond(mean, state.table).any():
        return replace(state, mean=mean, covariance=covariance, mode="floating")
    means, spreads = mean[None], covariance[None].copy()
    dynamics.bank(state.modes.wall, means, spreads, state.table)
    return replace(state, mean=means[0], covariance=spreads[0], mode="bank")


def _met(
    mean: Float[ndarray, " 6"],
    mallet: Float[ndarray, " 2"],
    mallet_velocity: Float[ndarray, " 2"],
    table: Table,
) -> float | None:
    """Return how long ago in this period the mallet first touched the puck, s, or None."""
    apart, speed = mean[0:2] - mallet, mean[2:4] - mallet_velocity
    square, product = float(speed @ speed), float(apart @ speed)
    room = float(apart @ apart) - table.contact_radius**2
    if room >= 0.0 or square < _SLOWEST**2:
        return None
    ago = (product + (product**2 - square * room) ** 0.5) / square  # |apart - ago speed| = radius
    if ago > PERIOD and product >= 0.0:
        return None  # they part again: a strike of an earlier period
    return min(ago, PERIOD)


def _struck(
    state: State,
    mean: Float[ndarray, " 6"],
    covariance: Float[ndarray, "6 6"],
    meeting: tuple[Float[ndarray, " 2"], Float[ndarray, " 2"], float],
) -> State:
    """Return the state after a strike some time ago in this period."""
    mallet, velocity, ago = meeting
    back, forth = np.eye(6), np.eye(6)
    back[0:2, 2:4], forth[0:2, 2:4] = -ago * np.eye(2), ago * np.eye(2)
    before = back @ mean
    normal = before[0:2] - (mallet - ago * velocity)
    normal = normal / np.linalg.norm(normal)
    after, spread = strikes.struck(
        state.modes, before, back @ covariance @ back.T, velocity, normal, table=state.table
    )
    spread = forth @ spread @ forth.T
    change = after[2:4] - before[2:4]
    spread[0:2, 0:2] += _SOFT**2 * (change @ change) * np.eye(2)
    return replace(state, mean=forth @ after, covariance=spread, mode="strike")


def _correct(state: State, position: Float[ndarray, " 2"]) -> State:
    """Return the state given an observed place."""
    found = kalman.update(
        state.mean,
        state.covariance,
        position,
        observation=_PLACE,
        noise=state.noise**2 * np.eye(2),
    )
    if found.squared_distance > GATE:
        again = state.refused + 1 >= RESET_AFTER and state.table.contains(position, _MARGIN)
        if again:
            return _anew(state, position)
        return replace(state, refused=state.refused + 1, unseen=state.unseen + 1)
    covariance = 0.5 * (found.covariance + found.covariance.T)
    return replace(state, mean=found.mean, covariance=covariance, unseen=0, refused=0)


def _anew(state: State, position: Float[ndarray, " 2"]) -> State:
    """Return the state given a place when all but the airflow is forgotten."""
    mean = np.concatenate((position, np.zeros(2), state.mean[4:6]))
    sd = np.repeat((state.noise, _FIRST_SPEED, 0.0), 2)
    covariance = np.diag(sd**2)
    covariance[4:6, 4:6] = state.covariance[4:6, 4:6]
    return replace(state, mean=mean, covariance=covariance, mode="floating", unseen=0, refused=0)
