"""Flights through air near those that were measured, and their derivatives, without integrating.

Without air a flight that leaves a level surface with v = (u, w) has

    T = 2 w / g,    d = u T,    v' = (u, -w).

What air adds is smooth and small: per measured flight v0 it is tabulated with its derivatives at a
few values of the drag k, a polynomial in k through them, and linear in v - v0. The same serves the
fall from the height of release, as a function of the speed along the surface and log height.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import flight
from ricochet.models.systems.bouncing_ball.air import MOST_DRAG

_NODES = MOST_DRAG * np.array([0.0, 0.1, 0.35, 0.7, 1.0])
_SMALL = 1e-5
OUT = 6
"""Of a flight: duration, displacement (2) and velocity on arrival (3)."""


@dataclass(frozen=True)
class FlightTable:
    """What air changes in flights: polynomials in the drag about the velocities measured.

    Attributes:
        about: Velocities at the start, m/s; for falls (u, log height).
        change: Coefficients, by power of k, of the outcome and its three derivatives.
    """

    about: Float[ndarray, "take flight 3"]
    change: Float[ndarray, "power take flight 6 4"]

    def at(
        self, velocity: Float[ndarray, "point take flight 3"], drag: Float[ndarray, " point"]
    ) -> tuple[Float[ndarray, "point take flight 6"], Float[ndarray, "point take flight 6 3"]]:
        """Return what air changes in the outcome and its derivatives."""
        powers = drag[:, None] ** np.arange(len(self.change))
        here = np.einsum("pk,ktfod->ptfod", powers, self.change, optimize=True)
        slopes = here[..., 1:]
        away = velocity - self.about
        return here[..., 0] + np.einsum("ptfod,ptfd->ptfo", slopes, away), slopes


def of_flights(velocity: Float[ndarray, "take flight 3"]) -> FlightTable:
    """Tabulate flights that leave the surface with these velocities."""
    return _table(velocity, lambda v, k: _flown(v, np.zeros(v.shape[:-1]), k))


def of_falls(height: Float[ndarray, " take"]) -> FlightTable:
    """Tabulate falls from a height, at rest."""
    about = np.zeros((len(height), 1, 3))
    about[:, 0, 2] = np.log(height)

    def fall(state: ndarray, k: ndarray) -> ndarray:
        velocity = state.copy()
        velocity[..., 2] = 0.0
        return _flown(velocity, np.exp(state[..., 2]), k)

    return _table(about, fall)


def _table(about: ndarray, outcome) -> FlightTable:  # type: ignore[no-untyped-def]
    steps = np.concatenate((np.zeros((1, 3)), _SMALL * np.eye(3), -_SMALL * np.eye(3)))
    states = about + steps[:, None, None]
    drag = np.broadcast_to(_NODES[:, None, None, None], (len(_NODES), *states.shape[:-1]))
    found = outcome(np.broadcast_to(states, (*drag.shape, 3)), drag)
    found = found - found[:1]  # what air adds
    slopes = (found[:, 1:4] - found[:, 4:7]) / (2.0 * _SMALL)
    table = np.concatenate((found[:, :1], slopes), 1).transpose(0, 2, 3, 4, 1)
    powers = np.vander(_NODES, increasing=True)
    return FlightTable(about, np.tensordot(np.linalg.inv(powers), table, 1))


def _flown(velocity: ndarray, height: ndarray, drag: ndarray) -> ndarray:
    numbers = (torch.from_numpy(np.ascontiguousarray(each)) for each in (velocity, height, drag))
    start, above, k = numbers
    found = flight.fly(start, height=above, drag=k)
    parts = (found.duration[..., None], found.displacement, found.impact)
    return torch.cat(parts, -1).numpy()


def without_air(
    velocity: Float[ndarray, "point take flight 3"],
) -> tuple[Float[ndarray, "point take flight 6"], Float[ndarray, "point take flight 6 3"]]:
    """Return the outcome of flights above a level surface without air, and its derivatives."""
    u, w = velocity[..., :2], velocity[..., 2]
    time = 2.0 * w / GRAVITY
    out, by = np.empty((*w.shape, OUT)), np.zeros((*w.shape, OUT, 3))
    out[..., 0], out[..., 3:5], out[..., 5] = time, u, -w
    out[..., 1:3] = u * time[..., None]
    by[..., 0, 2], by[..., 5, 2] = 2.0 / GRAVITY, -1.0
    by[..., 1, 0] = by[..., 2, 1] = time
    by[..., 1:3, 2] = u * (2.0 / GRAVITY)
    by[..., 3, 0] = by[..., 4, 1] = 1.0
    return out, by


def pull_along(
    out: Float[ndarray, "point take flight 6"],
    by: Float[ndarray, "point take flight 6 3"],
    pull: Float[ndarray, "point take 1 2"],
) -> None:
    """Add, in place, what gravity does along a tilted surface: d + a T^2 / 2 and u + a T."""
    time, time_by = out[..., :1], by[..., :1, :]
    gained = pull * time
    out[..., 1:3] += 0.5 * gained * time
    out[..., 3:5] += gained
    by[..., 1:3, :] += gained[..., None] * time_by
    by[..., 3:5, :] += pull[..., None] * time_by
