r"""Where pucks on their way cross the goal line, followed from bank to bank.

The state s = (x, y, vx, vy, ax, ay), in m, m/s, m/s^2, and its covariance are propagated by Eq. 8
until the mean crosses the goal line x = L. Floating is linear, so k periods of it are one
(`PuckModes.flights`),

    m_k = M_k m + b_k,    P_k = M_k P M_k^T + C_k,

and a puck goes from bank to bank in a few leaps instead of a period at a time. With x_k the first
mean beyond the line, the path was on it at y = y_k - (x_k - L) v_y / v_x, of which the Jacobian J
makes a Gaussian y ~ N(y, J P_k J^T). Banks at the rims are those of `dynamics`. Where a puck misses
the goal, there is an end wall, which is left out: where the line is crossed decides.

The first bank follows one of several laws (`PuckModes.rebounds`), later banks have one law. Pucks
are followed one by one as machine code (`models.core.compiled`).

Source: Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey", Sec. III-D.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck.contact_frames import LEAST_SLIDING
from ricochet.models.systems.air_hockey.puck.dynamics import SLOWEST_BANK, PuckModes
from ricochet.models.systems.air_hockey.table import Table

MOST_BANKS = 2
"""Of the long rims; pucks that need more are not followed: their Gaussian promises too much."""
LONGEST = 200
"""Periods for which a puck is followed."""
_WINDOW = 32  # periods looked ahead in one leap


@dataclass(frozen=True)
class Crossing:
    """Where and how a puck crosses the goal line.

    Attributes:
        arrives: Whether the mean does; where not, the rest is NaN or 0.
        y, sd: Mean and standard deviation of the place on the line, m.
        velocity, time: Mean velocity there, m/s, and when, s.
        banks: Banks of the long rims before.
    """

    arrives: Bool[ndarray, "*batch"]
    y: Float[ndarray, "*batch"]
    sd: Float[ndarray, "*batch"]
    velocity: Float[ndarray, "*batch 2"]
    banks: Int[ndarray, "*batch"]
    time: Float[ndarray, "*batch"]


class _Course(NamedTuple):
    """Table, flights of 0, 1, 2.. periods and laws of banks: those of a first one, then the rest.

    Attributes:
        line, rim: L and the largest |y| of the puck's centre, m.
    """

    line: float
    rim: float
    matrix: ndarray
    offset: ndarray
    covariance: ndarray
    bank_matrix: ndarray
    bank_offset: ndarray
    bank_covariance: ndarray


def follow(
    modes: PuckModes,
    mean: Float[ndarray, "row 6"],
    covariance: Float[ndarray, "row 6 6"] | None,
    table: Table,
    firsts: Sequence[LinearGaussian],
) -> list[Crossing]:
    """Return the crossings after each law of the first bank.

    Those of the second and further laws are filled in where there was a bank. Without a covariance
    means alone are followed, and no deviation is known.

    Raises:
        ValueError: There are not as many covariances as means.
    """
    if covariance is not None and len(covariance) != len(mean):
        raise ValueError(f"covariance: found {len(covariance)}, expected {len(mean)}")
    course, kinds, count = _course(modes, table, firsts), len(firsts), len(mean)
    wide = covariance is not None
    spread = np.zeros((1, 6, 6)) if covariance is None else _own(covariance)
    found, counts = np.full((kinds, count, 5), np.nan), np.zeros((kinds, count, 2), np.int64)
    _follow_all(_own(mean), spread, wide, course, found, counts)
    return [
        Crossing(
            arrives=marks[:, 0] > 0,
            y=numbers[:, 0],
            sd=numbers[:, 1],
            velocity=numbers[:, 2:4],
            banks=marks[:, 1],
            time=numbers[:, 4],
        )
        for numbers, marks in zip(found, counts, strict=True)
    ]


def _own(values: ndarray) -> ndarray:
    """Return a copy: machine code is compiled anew for arrays of another layout."""
    return np.array(values, dtype=float, order="C")


def _course(modes: PuckModes, table: Table, firsts: Sequence[LinearGaussian]) -> _Course:
    flights, laws = modes.flights, (*firsts, modes.wall)
    fields = ("matrix", "offset", "covariance")
    banks = (np.stack([getattr(law, name) for law in laws]) for name in fields)
    legs = (flights.matrix, flights.offset, flights.covariance)
    return _Course(table.half_length, table.wall_y, *legs, *banks)


@compiled
def _follow_all(
    mean: ndarray,
    covariance: ndarray,
    wide: bool,
    course: _Course,
    found: ndarray,
    counts: ndarray,
) -> None:
    """Fill in y, sd, velocity and time, and whether a puck arrives after how many banks."""
    for row in range(len(mean)):
        spread = covariance[row if wide else 0]
        for kind in range(len(found)):
            _follow(mean[row], spread, wide, kind, course, found[kind, row], counts[kind, row])
            if counts[kind, row, 1] == 0:
                break  # no bank that another law could be of


@compiled
def _follow(
    mean: ndarray,
    covariance: ndarray,
    wide: bool,
    kind: int,
    course: _Course,
    found: ndarray,
    counts: ndarray,
) -> None:
    state, spread, periods = mean.copy(), covariance.copy(), 0
    while True:
        leap, event = _next_event(state, course)
        periods += leap
        state = _applied(course.matrix[leap], state) + course.offset[leap]
        if wide:
            spread = _congruent(course.matrix[leap], spread) + course.covariance[leap]
        if event == 1:
            counts[0] = 1
            _note(state, spread, wide, periods, course, found)
            return
        if event == 2:
            counts[1] += 1
            if counts[1] > MOST_BANKS:
                return
            law = kind if counts[1] == 1 else len(course.bank_matrix) - 1
            spread = _bank(state, spread, wide, law, course)
        if state[2] <= 0.0 or periods >= LONGEST:
            return


@compiled
def _next_event(state: ndarray, course: _Course) -> tuple[int, int]:
    """Return how many periods to leap, and if then the line is crossed (1) or a rim met (2)."""
    for k in range(1, _WINDOW + 1):
        x, y, vy = course.offset[k, 0], course.offset[k, 1], course.offset[k, 3]
        for j in range(6):
            x += course.matrix[k, 0, j] * state[j]
            y += course.matrix[k, 1, j] * state[j]
            vy += course.matrix[k, 3, j] * state[j]
        if x >= course.line:
            return k, 1
        if abs(y) > course.rim and y * vy > 0.0:
            return k, 2
    return _WINDOW, 0


@compiled
def _bank(
    state: ndarray, spread: ndarray, wide: bool, law: int, course: _Course
) -> Float[ndarray, "6 6"]:
    """Turn back, in place, a mean that is beyond a rim; return its covariance (`dynamics`)."""
    side, vx, vy = np.sign(state[1]), state[2], state[3]
    of, offset = course.bank_matrix[law], course.bank_offset[law]
    matrix = np.array(((of[1, 1], -of[1, 0]), (-of[0, 1], of[0, 0])))  # of (x, y)
    state[2] = matrix[0, 0] * vx + matrix[0, 1] * vy - side * offset[1]
    state[3] = matrix[1, 0] * vx + matrix[1, 1] * vy + side * offset[0]
    ago = min((abs(state[1]) - course.rim) / abs(vy), 2.0 * PERIOD)
    turned = np.array((vx - state[2], vy - state[3]))
    state[0] -= ago * turned[0]
    state[1] -= ago * turned[1]
    if not wide:
        return spread
    jacobian, into = np.eye(6), np.zeros((6, 2))
    slowest = side * max(abs(vy), SLOWEST_BANK)
    into[2, 1], into[3, 0] = -side * max(abs(vx), LEAST_SLIDING * abs(vy)), side * abs(vy)
    for i in range(2):
        jacobian[2 + i, 2:4] = matrix[i]
        jacobian[i, 1] -= turned[i] / slowest
        jacobian[i, 2:4] = ago * matrix[i]
        jacobian[i, 2 + i] -= ago
        jacobian[i, 3] += ago * turned[i] / slowest
        into[i] = ago * into[2 + i]
    return _congruent(jacobian, spread) + _congruent(into, course.bank_covariance[law])


@compiled
def _applied(matrix: ndarray, vector: ndarray) -> ndarray:
    """Return matrix times vector."""
    found = np.zeros(len(matrix))
    for i in range(len(matrix)):
        for j in range(len(vector)):
            found[i] += matrix[i, j] * vector[j]
    return found


@compiled
def _congruent(matrix: ndarray, spread: ndarray) -> ndarray:
    """Return A P A^T for a symmetric P: what is zero in A, and most is, costs nothing."""
    rows, columns = matrix.shape
    half, found = np.zeros((columns, rows)), np.zeros((rows, rows))
    for i in range(rows):
        for k in range(columns):
            share = matrix[i, k]
            if share != 0.0:
                for j in range(columns):
                    half[j, i] += share * spread[k, j]
    for i in range(rows):
        for k in range(columns):
            share = matrix[i, k]
            if share != 0.0:
                for j in range(rows):
                    found[i, j] += share * half[k, j]
    return found


@compiled
def _note(
    state: ndarray, spread: ndarray, wide: bool, periods: int, course: _Course, found: ndarray
) -> None:
    """Note where and how a puck that is beyond the line crossed it."""
    slope, ago = state[3] / state[2], (state[0] - course.line) / state[2]
    found[0], found[1] = state[1] - ago * state[3], np.nan
    found[2], found[3], found[4] = state[2], state[3], periods * PERIOD - ago
    if wide:
        jacobian = np.array(((-slope, 1.0, ago * slope, -ago, 0.0, 0.0),))
        found[1] = np.sqrt(max(_congruent(jacobian, spread)[0, 0], 0.0))
