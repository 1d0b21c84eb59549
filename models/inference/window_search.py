"""Where a density of two parameters lives: the rows that hold its mass, and their intervals.

Each row's interval is moved, widened or shrunk until the row's mass fills it; rows without mass are
left out and the others laid closer, until that changes little (`models.inference.grid_densities`).
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.inference import grid_densities
from ricochet.models.inference.grid_densities import LogDensity, Window

_DEPTH = 14.0  # log density below the peak that counts as outside: 1e-6 of a Gaussian's mass
_LOST = 1e-3  # share of the mass outside a window that is worth a wider one
_ROUNDS = 12


def locate(
    log_density: LogDensity,
    start: tuple[float, float],
    bounds: Float[ndarray, "2 2"],
    *,
    rows: int = 13,
    columns: int = 9,
) -> Window:
    """Find the rows that hold the mass and the interval of a that each one fills.

    >>> ridge = lambda theta: -0.5 * ((theta - [0.7, 3.0]) / [0.001, 0.2]).__pow__(2).sum(-1)
    >>> window = locate(ridge, (0.6, 0.9), np.array([[0.5, 1.0], [0.9, 5.0]]))
    >>> bool(window.rows[0] < 2.2), bool((window.high - window.low).max() < 0.04)
    (True, True)

    Args:
        log_density: Unnormalised log density of rows of theta = (a, b).
        bounds: Corners (low, high) of the density's support, rows of (a, b).

    Raises:
        ValueError: If the density is zero, or not a number, wherever it was evaluated.
    """
    b = np.linspace(bounds[0, 1], bounds[1, 1], rows)
    window = Window(b, np.full(rows, float(start[0])), np.full(rows, float(start[1])))
    for _ in range(_ROUNDS):
        window = _follow(log_density, window, bounds[:, 0], columns)
        values = grid_densities.evaluate(log_density, window, columns)
        grid_densities.refuse_empty(values)
        window, live = _spread(log_density, window, _row_mass(window, values), bounds[:, 0])
        step = window.rows[1] - window.rows[0]
        low, high = np.clip(window.rows[live[[0, -1]]] + [-step, step], *bounds[:, 1])
        shrunk = (high - low) / (window.rows[-1] - window.rows[0])
        if shrunk > 0.8:
            break
        window = grid_densities.at_rows(window, np.linspace(low, high, rows))
    return _borrow_intervals(window, live)


def joined_modes(
    log_density: LogDensity,
    window: Window,
    bounds: Float[ndarray, "2 2"],
    *,
    columns: int = 97,
) -> Window | None:
    """Return one interval for all rows that holds the modes outside a window too, if there are any.

    `locate` follows one interval a row, and so one mode; a scan of the whole support finds others
    that are wider than its columns are apart.

    >>> def modes(theta):
    ...     return np.logaddexp(*(-0.5 * (((theta - [a, 3.0]) / [0.01, 0.3]) ** 2).sum(-1)
    ...                           for a in (0.6, 0.8)))
    >>> bounds = np.array([[0.5, 1.0], [0.9, 5.0]])
    >>> wide = joined_modes(modes, locate(modes, (0.7, 0.9), bounds), bounds)
    >>> bool(wide.low.max() < 0.58 and wide.high.min() > 0.82)
    True
    """
    rows = np.linspace(bounds[0, 1], bounds[1, 1], 2 * len(window.rows) - 1)
    whole = Window(rows, *(np.full(len(rows), end) for end in bounds[:, 0]))
    values, a = grid_densities.evaluate(log_density, whole, columns), whole.points(columns)[..., 0]
    step, row = a[0, 1] - a[0, 0], rows[1] - rows[0]
    near = grid_densities.at_rows(window, rows)
    inside = (a > (near.low - step)[:, None]) & (a < (near.high + step)[:, None])
    inside &= ((rows > window.rows[0] - row) & (rows < window.rows[-1] + row))[:, None]
    held = _row_mass(window, grid_densities.evaluate(log_density, window, columns))
    held = np.logaddexp.reduce(held) + np.log(window.rows[1] - window.rows[0])
    outside = np.where(inside, -np.inf, values) + np.log(step * row)
    if np.logaddexp.reduce(outside, axis=None) < held + np.log(_LOST):
        return None
    live = outside > outside.max() - _DEPTH
    low, high = np.clip([a[live].min() - step, a[live].max() + step], *bounds[:, 0])
    ends = np.append(rows[live.any(1)], window.rows[[0, -1]])
    first, last = np.clip([ends.min() - row, ends.max() + row], *bounds[:, 1])
    joined = np.linspace(first, last, len(rows))
    low, high = min(low, window.low.min()), max(high, window.high.max())
    return Window(joined, np.full(len(rows), low), np.full(len(rows), high))


def _spread(
    log_density: LogDensity,
    window: Window,
    profile: Float[ndarray, " m"],
    bounds: Float[ndarray, " 2"],
    *,
    columns: int = 33,
) -> tuple[Window, Int[ndarray, " k"]]:
    """Evaluate the rows next to those with mass where their neighbours have it, while that helps.

    A narrow row is easily missed: all points of its first interval may lie off it.
    """
    profile, tried = profile.copy(), set[int]()
    while True:
        live = np.flatnonzero(profile > profile.max() - _DEPTH)
        edge = {i for row in live for i in (row - 1, row + 1)} - set(live) - tried
        rows = np.array(sorted(i for i in edge if 0 <= i < len(profile)), dtype=int)
        if not len(rows):
            return window, live
        near = _borrow_intervals(window, live)
        some = Window(near.rows[rows], near.low[rows], near.high[rows])
        some = _follow(log_density, some, bounds, columns)
        mass = _row_mass(some, grid_densities.evaluate(log_density, some, columns))
        found = rows[mass > profile[rows]]
        low, high = window.low.copy(), window.high.copy()
        low[found], high[found] = (end[mass > profile[rows]] for end in (some.low, some.high))
        profile[found] = mass[mass > profile[rows]]
        window, tried = Window(window.rows, low, high), tried | set(rows)


def _borrow_intervals(window: Window, live: Int[ndarray, " k"]) -> Window:
    """Give rows without mass the interval of the nearest row that has some.

    Any other interval would bend the spline between them.
    """
    nearest = live[np.abs(np.arange(len(window.rows))[:, None] - live).argmin(1)]
    return Window(window.rows, window.low[nearest], window.high[nearest])


def _follow(
    log_density: LogDensity, window: Window, bounds: Float[ndarray, " 2"], columns: int
) -> Window:
    """Move, widen or shrink each row's interval until the row's mass fills it."""
    for _ in range(_ROUNDS):
        values = grid_densities.evaluate(log_density, window, columns)
        width = window.high - window.low
        step = width / (columns - 1)
        live = values > values.max(1, keepdims=True) - _DEPTH
        below = live[:, 0] & (window.low > bounds[0])  # mass goes on outside: widen, do not shrink
        above = live[:, -1] & (window.high < bounds[1])
        low = window.low + (live.argmax(1) - 1) * step
        high = window.low + (columns - live[:, ::-1].argmax(1)) * step
        low = np.where(below, window.low - width, np.where(above, window.low, low))
        high = np.where(above, window.high + width, np.where(below, window.high, high))
        low, high = np.clip(low, *bounds), np.clip(high, *bounds)
        change = np.maximum(np.abs(low - window.low), np.abs(high - window.high)) / width
        window = Window(window.rows, low, high)
        if change.max() < 0.25:
            break
    return window


def _row_mass(window: Window, values: Float[ndarray, "m n"]) -> Float[ndarray, " m"]:
    """Return the log of each row's mass, minus infinity where there is none."""
    peak = values.max(1, keepdims=True)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    mass = np.exp(values - safe).mean(1) * (window.high - window.low)
    with np.errstate(divide="ignore"):
        return np.log(mass) + safe[:, 0]
