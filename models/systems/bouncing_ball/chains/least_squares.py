"""The path of a take as a least-squares problem: residuals and derivatives.

Unknown of a take are x = (time and place of its first bounce, speed along the surface at the
release, its own deviation of restitution, velocity of every flight), of a session the shared errors
f. Residuals are, in standard deviations,

    times and places predicted less observed,    release speed,    the deviation,
    contacts (`rebounds`): direction and speed of every exit,

so that minus the log density of takes and errors together is half the sum of their squares, an
excess that also pulls the path, and a factor that the search leaves out.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.chains import flight_tables, rebounds
from ricochet.models.systems.bouncing_ball.chains.flight_tables import FlightTable
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED, TILT_SD, Chains
from ricochet.models.systems.bouncing_ball.chains.parameters import Values
from ricochet.models.systems.bouncing_ball.chains.rebounds import Rebounds
from ricochet.models.systems.bouncing_ball.contact import RestitutionLaw

FIRST = 6
"""Unknowns of a take before its velocities: time, place, release speed and deviation."""
_SQUEEZED, _STRETCHED = 0.3, 3.0  # beyond which areas are not followed
_LOG_2PI = np.log(2.0 * np.pi)


@dataclass(frozen=True)
class Group:
    """Takes of one length with what does not change while they are explained.

    Attributes:
        floor: Least relative scatter of each exit's speed (`preparation`).
        decided: By which share each place decides its path (`laplace`).
    """

    chains: Chains
    law: RestitutionLaw
    flights: FlightTable
    falls: FlightTable
    floor: Float[ndarray, "take flight"]
    decided: Float[ndarray, "take bounce"]


@dataclass(frozen=True)
class Problem:
    """The least squares of takes at some parameter points.

    Attributes:
        columns: Residuals, and behind them their derivatives by the shared errors.
        by_path: Derivatives by the path.
        pull, pull_shared: Derivatives of the excess by the path and by the `SHARED` errors.
        excess: What minus the log density has beside half the squares.
        factor: Log of the density's factor.
        contacts: Of each exit.
    """

    columns: Float[ndarray, "point take residual column"]
    by_path: Float[ndarray, "point take residual path"]
    pull: Float[ndarray, "point take path"]
    pull_shared: Float[ndarray, "point take error"]
    excess: Float[ndarray, "point take"]
    factor: Float[ndarray, "point take"]
    contacts: Rebounds
    arrival_by: Float[ndarray, "point take flight 3 3"]

    @property
    def residual(self) -> Float[ndarray, "point take residual"]:
        """The residuals."""
        return self.columns[..., 0]

    @property
    def by_shared(self) -> Float[ndarray, "point take residual error"]:
        """Derivatives by the shared errors."""
        return self.columns[..., 1:]

    @property
    def half_squares(self) -> Float[ndarray, "point take"]:
        """Minus log density but for its factor."""
        return 0.5 * np.einsum("ptr,ptr->pt", self.residual, self.residual) + self.excess


def problem(
    group: Group,
    path: Float[ndarray, "point take path"],
    shared: Float[ndarray, "point take error"],
    values: Values,
    weights: Float[ndarray, "point take flight"] | None = None,
) -> Problem:
    """Form the least squares at a path and shared errors.

    Args:
        weights: Of the squares that stand for redirections, in units of the concentration; None
            takes the redirections' own law.
    """
    chains, points = group.chains, len(path)
    takes, bounces = chains.times.shape
    flights, size = bounces - 1, path.shape[-1]
    rows = 3 * bounces + 3 + 4 * flights
    by_path = np.zeros((points, takes, rows, size))
    columns = np.zeros((points, takes, rows, 1 + shared.shape[-1]))
    residual, by_shared = columns[..., 0], columns[..., 1:]
    velocity = path[..., FIRST:].reshape(points, takes, flights, 3)
    flown = _flown(group, velocity, shared, values)
    _observed(chains, path, flown, shared, values, residual, by_path, by_shared)
    last = 3 * bounces
    _release(path, values, residual[..., last:], by_path[..., last:, :])
    last += 3
    impact, impact_by_shared, fall_by = _impacts(group, path, flown, shared, values)
    speed_sd = np.hypot(values.scatter[:, None, None], group.floor)
    given = None if weights is None else weights * values.concentration[:, None, None]
    found = rebounds.compare(impact, velocity, path[..., 5], values, group.law, speed_sd, given)
    residual[..., last:] = found.residual.reshape(points, takes, -1)
    by = _by_path(found, flown.by, fall_by)
    by_path[..., last:, :] = by[..., :4, :].reshape(points, takes, -1, size)
    own = (found.by[..., :3] @ impact_by_shared).reshape(points, takes, -1, len(SHARED))
    by_shared[..., last:, : len(SHARED)] = own
    return Problem(
        columns,
        by_path,
        by[..., 4, :].sum(-2),
        (found.pull[..., None, :3] @ impact_by_shared)[..., 0, :].sum(-2),
        found.excess.sum(-1),
        _log_factor(chains, values) - found.log_leaving.sum(-1),
        found,
        flown.by[..., 3:6, :],
    )


def _by_path(
    found: Rebounds, flown_by: ndarray, fall_by: ndarray
) -> Float[ndarray, "point take flight 5 path"]:
    """Return derivatives of each contact's residuals, and of its excess, by the path."""
    rows = np.concatenate((found.by, found.pull[..., None, :]), -2)
    points, takes, flights = rows.shape[:3]
    by = np.zeros((points, takes, flights, 5, FIRST + 3 * flights))
    for number in range(flights):
        start = FIRST + 3 * number
        by[:, :, number, :, start : start + 3] = rows[:, :, number, :, 3:6]
        if number:
            before = rows[:, :, number, :, :3] @ flown_by[:, :, number - 1, 3:6]
            by[:, :, number, :, start - 3 : start] = before
    by[:, :, 0, :, 3:5] = rows[:, :, 0, :, :3] @ fall_by[..., :2]
    by[..., 5] = rows[..., 6]
    return by


def areas(
    chains: Chains, shared: Float[ndarray, "point take error"]
) -> tuple[Float[ndarray, "point take bounce"], Float[ndarray, "point take bounce error"]]:
    """Return |dP / dx| of every place, in units of what is located, and its derivatives."""
    found = 1.0 - np.einsum("tbe,pte->ptb", chains.areas, shared)
    kept = np.clip(found, _SQUEEZED, _STRETCHED)
    return kept, -np.where(kept == found, 1.0, 0.0)[..., None] * chains.areas


@dataclass(frozen=True)
class _Flown:
    """Outcome of all flights, its derivatives, and the pull along the surface."""

    out: ndarray
    by: ndarray
    pull: ndarray


def _flown(group: Group, velocity: ndarray, shared: ndarray, values: Values) -> _Flown:
    pull = GRAVITY * TILT_SD * shared[:, :, None, 1:3]
    out, by = flight_tables.without_air(velocity)
    air, air_by = group.flights.at(velocity, values.drag)
    air += out
    air_by += by
    flight_tables.pull_along(air, air_by, pull)
    return _Flown(air, air_by, pull)


def _observed(
    chains: Chains,
    path: ndarray,
    flown: _Flown,
    shared: ndarray,
    values: Values,
    residual: ndarray,
    by_path: ndarray,
    by_shared: ndarray,
) -> None:
    """Fill the rows of times and places."""
    points, takes, flights = flown.out.shape[:3]
    bounces = flights + 1
    time_weight = chains.time_weight / values.time_noise[:, None, None]
    place_weight = chains.place_weight / values.place_noise[:, None, None]
    before = np.tril(np.ones((bounces, flights)), -1)  # flights before each bounce
    steps = np.einsum("bf,ptfo->ptbo", before, flown.out[..., :3])
    times = path[..., :1] + steps[..., 0]
    places = path[:, :, None, 1:3] + steps[..., 1:]
    places = places + np.einsum("tbce,pte->ptbc", chains.distortion, shared)
    residual[..., :bounces] = (times - chains.times) * time_weight
    plain = (places - chains.places) * place_weight[..., None]
    area, area_by = areas(chains, shared)
    scale = 1.0 / np.sqrt(area)
    place_weight = place_weight * scale
    residual[..., bounces : 3 * bounces] = (plain * scale[..., None]).reshape(points, takes, -1)
    by_path[..., :bounces, 0] = time_weight
    by_place = by_path[..., bounces : 3 * bounces, :].reshape(points, takes, bounces, 2, -1)
    for axis in range(2):
        by_place[..., axis, 1 + axis] = place_weight
    for number in range(flights):  # each moves the bounces after it
        by, start = flown.by[:, :, number, None], FIRST + 3 * number
        after, here = slice(number + 1, bounces), slice(start, start + 3)
        by_path[..., after, here] = time_weight[..., after, None] * by[..., 0, :]
        by_place[:, :, after, :, here] = place_weight[..., after, None, None] * by[..., 1:3, :]
    moved = by_shared[..., bounces : 3 * bounces, :].reshape(points, takes, bounces, 2, -1)
    np.multiply(chains.distortion, place_weight[..., None, None], out=moved)
    moved -= (0.5 * scale / area)[..., None, None] * plain[..., None] * area_by[..., None, :]
    fallen = np.einsum("bf,ptf->ptb", before, 0.5 * flown.out[..., 0] ** 2)
    for axis in range(2):
        moved[..., axis, 1 + axis] += GRAVITY * TILT_SD * fallen * place_weight


def _release(path: ndarray, values: Values, residual: ndarray, by_path: ndarray) -> None:
    """Fill the rows of the release speed and the take's deviation."""
    speed = values.release_speed[:, None]
    residual[..., 0], residual[..., 1] = path[..., 3] / speed, path[..., 4] / speed
    residual[..., 2] = path[..., 5]
    by_path[..., 0, 3] = by_path[..., 1, 4] = 1.0 / speed
    by_path[..., 2, 5] = 1.0


def _impacts(
    group: Group, path: ndarray, flown: _Flown, shared: ndarray, values: Values
) -> tuple[ndarray, ndarray, ndarray]:
    """Return impact velocities, and their derivatives by `SHARED` errors and by the release."""
    chains = group.chains
    points, takes, flights = flown.out.shape[:3]
    log_height = np.log(chains.height) + chains.height_error * shared[..., 0]
    state = np.concatenate((path[..., 3:5], log_height[..., None]), -1)[:, :, None]
    air, air_by = group.falls.at(state, values.drag)
    speed = np.sqrt(2.0 * GRAVITY * np.exp(log_height))
    duration = speed / GRAVITY
    first = air[:, :, 0, 3:6].copy()
    first[..., :2] += path[..., 3:5] + flown.pull[:, :, 0] * duration[..., None]
    first[..., 2] -= speed
    fall_by = air_by[:, :, 0, 3:6].copy()
    fall_by[..., 0, 0] += 1.0
    fall_by[..., 1, 1] += 1.0
    fall_by[..., 2, 2] -= 0.5 * speed
    impact = np.concatenate((first[:, :, None], flown.out[:, :, :-1, 3:6]), 2)
    by_shared = np.zeros((points, takes, flights, 3, len(SHARED)))
    by_shared[:, :, 0, :, 0] = fall_by[..., 2] * chains.height_error[:, None]
    times = np.concatenate((duration[..., None], flown.out[:, :, :-1, 0]), -1)
    for axis in range(2):
        by_shared[..., axis, 1 + axis] = GRAVITY * TILT_SD * times
    return impact, by_shared, fall_by


def _log_factor(chains: Chains, values: Values) -> Float[ndarray, "point take"]:
    """Return the constants of the normal laws of times, places, release and deviation."""
    total = np.zeros((len(values.scatter), len(chains.times)))
    for weight, noise, axes in (
        (chains.time_weight, values.time_noise, 1),
        (chains.place_weight, values.place_noise, 2),
    ):
        seen = weight > 0.0
        logs = np.where(seen, np.log(np.where(seen, weight, 1.0)), 0.0).sum(1)
        total = total + axes * (logs - seen.sum(1) * (np.log(noise)[:, None] + 0.5 * _LOG_2PI))
    return total - 2.0 * np.log(values.release_speed)[:, None] - 1.5 * _LOG_2PI


def sizes(group: Group) -> tuple[int, int]:
    """Return the numbers of unknowns of a take and of shared errors."""
    return FIRST + 3 * group.chains.flights, max(len(SHARED), group.chains.distortion.shape[-1])
