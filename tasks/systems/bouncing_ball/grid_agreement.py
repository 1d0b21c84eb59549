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
LARGEST = 600.0
"""Log density, nats."""


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
    masses = _masses(arrays)
    within = np.sum(masses, axis=1)
    total = float(np.trapezoid(within, arrays["rows"]))
    if not abs(total - 1.0) <= NORMALISATION:
        raise BadInput(f"{where}: log_density", f"an integral of {total:.4g}", "1")
    mean, covariance = _moments(arrays, masses / total)
    _check_moments(arrays, where, prefix, (mean, covariance))
    _check_draws(arrays, f"{where}: {prefix}samples", prefix, masses)


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
    arrays: Arrays, masses: Float[ndarray, "row cell"]
) -> tuple[Float[ndarray, " 2"], Float[ndarray, "2 2"]]:
    """Return mean and covariance of a and b."""
    rows, low = arrays["rows"], arrays["low"]
    step = (arrays["high"] - low) / masses.shape[1]
    places = np.arange(masses.shape[1]) + 0.5
    within = masses.sum(1)
    first, second = masses @ places, masses @ places**2
    along = low * within + step * first
    squares = low**2 * within + 2.0 * low * step * first + step**2 * second

    def integral(values: ndarray) -> float:
        return float(np.trapezoid(values, rows))

    mean = np.array([integral(along), integral(rows * within)])
    raw = np.array(
        [
            [integral(squares), integral(rows * along)],
            [integral(rows * along), integral(rows**2 * within)],
        ]
    )
    return mean, raw - np.outer(mean, mean)


def _check_moments(
    arrays: Arrays, where: str, prefix: str, expected: tuple[ndarray, ndarray]
) -> None:
    mean, covariance = expected
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    if not (deviation > 0.0).all():
        raise BadInput(f"{where}: log_density", "a density without width", "one with a variance")
    off = np.abs(arrays[f"{prefix}mean"] - mean) / deviation
    if not (off <= MEAN_ERROR).all():
        found = f"{off.max():.2g} deviations from that of the density"
        raise BadInput(f"{where}: {prefix}mean", found, "the same")
    scale = np.outer(deviation, deviation)
    apart = np.abs(arrays[f"{prefix}covariance"] - covariance) / scale
    if not (apart <= VARIANCE_ERROR).all():
        found = f"{apart.max():.2g} of the variance from that of the density"
        raise BadInput(f"{where}: {prefix}covariance", found, "the same")


def _check_draws(
    arrays: Arrays, where: str, prefix: str, masses: Float[ndarray, "row cell"]
) -> None:
    """Refuse draws whose levels in the density are not uniform."""
    draws = arrays[f"{prefix}samples"]
    allowed = math.sqrt(math.log(2.0 / CHANCE) / (2.0 * len(draws))) + GRID_ERROR
    for levels in _levels(arrays, masses, draws):
        distance = _distance(levels)
        if not distance <= allowed:
            found = f"draws at a distance of {distance:.2g} from the density"
            raise BadInput(where, found, f"at most {allowed:.2g}")


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
