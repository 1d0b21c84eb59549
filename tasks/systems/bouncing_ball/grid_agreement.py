"""Whether a grid is a density, and whether draws, mean and covariance can be those of it.

With the rows b_i, the interval [l_i, h_i] of a in each and the log density t_ij, trapezia give

    m_i = (h_i - l_i) / (J - 1) sum_j (p_ij + p_i,j+1) / 2,    p = exp(t)
    Z   = sum_i (b_i+1 - b_i) (m_i + m_i+1) / 2

and likewise the moments and the distributions of b and of a given b. At draws of the density these
are independent and uniform (Rosenblatt 1952): each is held against that by its largest distance,

    D > sqrt(log(2 / p) / (2 N)) + `GRID_ERROR`,    p = `CHANCE`

(Massart 1990). What is written has a mean and a covariance of the density itself. On its 121 by 121
points it integrates to one within 3e-5, its mean is met within 1e-3 deviations and its covariance
within 3e-3 (1 to 200 drops, `benchmarks.bouncing_ball.grid_agreement`).
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.packages import Arrays

NORMALISATION = 0.005
"""By which the integral may differ from one."""
MEAN_ERROR, VARIANCE_ERROR = 0.02, 0.03
"""By which mean and covariance may differ from those of the grid, of its deviations."""
CHANCE, GRID_ERROR = 1e-9, 0.01
FEWEST, MOST, MOST_POINTS = 100, 100_000, 1024
"""Draws, and points an axis."""
NARROWEST = 1e-6
"""Standard deviation of restitution, and of log10 concentration: no recording is as exact."""
LARGEST = 600.0
"""Log density, nats."""


@dataclass(frozen=True)
class Agreement:
    """How far a grid is from a density, and what is stated from it.

    Attributes:
        integral: Over the grid; 1 of a density.
        mean_off: Of the stated mean from the grid's, in its deviations, the farther parameter's.
        covariance_off: Likewise, of the stated covariance, in its variances.
        distances: Of the levels of draws from uniform ones, of b and of a given b.
    """

    integral: float
    mean_off: float
    covariance_off: float
    distances: tuple[float, float]


def check(arrays: Arrays, where: str, *, prefix: str = "") -> None:
    """Refuse a table that is no density, or draws and moments that cannot be its own.

    Args:
        prefix: Of the names of `samples`, `mean` and `covariance`.

    Raises:
        BadInput: The integral is not one, or draws, mean or covariance are of another density.
    """
    table, draws = arrays["log_density"], arrays[f"{prefix}samples"]
    if max(table.shape) > MOST_POINTS or not FEWEST <= len(draws) <= MOST:
        found = f"a table of shape {table.shape}, {len(draws)} draws"
        expected = f"at most {MOST_POINTS} points an axis and {FEWEST} to {MOST} draws"
        raise BadInput(where, found, expected)
    if not table.max() <= LARGEST:
        raise BadInput(f"{where}: log_density", "a density beyond all measure", "one in nats")
    narrow = float(np.sqrt(np.diag(arrays[f"{prefix}covariance"])).min())
    if not narrow >= NARROWEST:
        found = f"a deviation of {narrow:.2g}"
        raise BadInput(f"{where}: {prefix}covariance", found, f"{NARROWEST:g} at least")
    agreement = measure(arrays, prefix=prefix)
    allowed = math.sqrt(math.log(2.0 / CHANCE) / (2.0 * len(draws))) + GRID_ERROR
    for name, value, most in (
        ("log_density: 1 - integral", abs(agreement.integral - 1.0), NORMALISATION),
        (f"{prefix}mean", agreement.mean_off, MEAN_ERROR),
        (f"{prefix}covariance", agreement.covariance_off, VARIANCE_ERROR),
        (f"{prefix}samples", max(agreement.distances), allowed),
    ):
        if not value <= most:
            expected = f"at most {most:.2g}"
            raise BadInput(f"{where}: {name}", f"{value:.2g} off the density", expected)


def measure(arrays: Arrays, *, prefix: str = "") -> Agreement:
    """Return how well a grid is a density, and draws, mean and covariance are of it.

    Args:
        prefix: Of the names of the latter.
    """
    samples, mean, covariance = (arrays[prefix + n] for n in ("samples", "mean", "covariance"))
    masses = _masses(arrays)
    integral = float(np.trapezoid(masses.sum(1), arrays["rows"]))
    off, own = _moments(arrays, masses / integral, about=mean)
    deviation = np.sqrt(np.diag(own))
    first, second = _levels(arrays, masses, samples)
    return Agreement(
        integral,
        float(np.max(np.abs(off) / deviation)),
        float(np.max(np.abs(covariance - own) / np.outer(deviation, deviation))),
        (_distance(first), _distance(second)),
    )


def cell(
    place: Float[ndarray, " point"], count: int
) -> tuple[Float[ndarray, " point"], Float[ndarray, " point"]]:
    """Return the index of the point below, of so many, and the share of the way to the next."""
    inside = np.clip(place, 0.0, count - 1)
    index = np.minimum(inside.astype(int), count - 2)
    return index, inside - index


def _masses(arrays: Arrays) -> Float[ndarray, "row cell"]:
    """Return the mass of each cell of a row for a unit of b."""
    density = np.exp(arrays["log_density"])
    width = (arrays["high"] - arrays["low"]) / (density.shape[1] - 1)
    found = density[:, 1:] + density[:, :-1]
    found *= 0.5 * width[:, None]
    return found


def _moments(
    arrays: Arrays, masses: Float[ndarray, "row cell"], *, about: Float[ndarray, " 2"]
) -> tuple[Float[ndarray, " 2"], Float[ndarray, "2 2"]]:
    """Return the mean of a and b about a point, and their covariance."""
    rows, low = arrays["rows"] - about[1], arrays["low"] - about[0]
    step = (arrays["high"] - arrays["low"]) / masses.shape[1]
    places = np.arange(masses.shape[1]) + 0.5
    within = masses.sum(1)
    first, second = step * (masses @ places), step**2 * (masses @ places**2)
    along, squares = low * within + first, low**2 * within + 2.0 * low * first + second
    mean = np.array([np.trapezoid(along, rows), np.trapezoid(rows * within, rows)])
    mixed = np.trapezoid(rows * along, rows)
    ends = np.trapezoid(squares, rows), np.trapezoid(rows**2 * within, rows)
    return mean, np.array([[ends[0], mixed], [mixed, ends[1]]]) - np.outer(mean, mean)


def _levels(
    arrays: Arrays, masses: Float[ndarray, "row cell"], draws: Float[ndarray, "draw 2"]
) -> tuple[Float[ndarray, " draw"], Float[ndarray, " draw"]]:
    """Return the distribution functions of b, and of a given b, at draws."""
    rows, (a, b) = arrays["rows"], draws.T
    within = masses.sum(1)
    slices = 0.5 * (within[1:] + within[:-1]) * np.diff(rows)
    below = np.interp(b, rows, np.append(0.0, np.cumsum(slices)) / slices.sum())
    low, high = np.interp(b, rows, arrays["low"]), np.interp(b, rows, arrays["high"])
    count = masses.shape[1] + 1
    row, upward = cell((b - rows[0]) / (rows[1] - rows[0]), len(rows))
    column, across = cell((a - low) / (high - low) * (count - 1), count)
    summed = np.cumsum(masses, axis=1)
    before = np.where(column > 0, column - 1, 0)
    reached = np.zeros(len(a))
    mass = np.zeros(len(a))
    for step, share in ((0, 1.0 - upward), (1, upward)):
        start = np.where(column > 0, summed[row + step, before], 0.0)
        part = start + across * masses[row + step, column]
        reached += share * part
        mass += share * summed[row + step, -1]
    return below, reached / np.maximum(mass, np.finfo(float).tiny)


def _distance(levels: Float[ndarray, " draw"]) -> float:
    """Return the largest distance of their distribution from the uniform one."""
    ordered = np.sort(levels)
    count = len(ordered)
    above = np.arange(1, count + 1) / count - ordered
    return float(max(above.max(), (1.0 / count - above).max()))
