"""Densities of two parameters on a grid that follows them.

A posterior of two parameters needs no sampler: its log density is evaluated on a small grid and
normalised by the trapezoid rule. Some posteriors are funnels (restitution is known ten times
better where the concentration is high), so each row of the grid, a fixed value of the second
parameter b, has a window of its own in the first parameter a:

    a = low(b) + x (high(b) - low(b)),  x in [0, 1];      p(a, b) da db = p (high - low) dx db.

In (x, b) every row looks alike, close to one bell over the same x, so that a bicubic spline
between a dozen rows and columns is exact to about 1e-3.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy.interpolate import RectBivariateSpline

_DEPTH = 14.0  # log density below the peak that counts as outside: 1e-6 of a Gaussian's mass
_ROUNDS = 12
_REACH = 6.0  # half a row's final window, in the row's standard deviations

LogDensity = Callable[[Float[ndarray, "point 2"]], Float[ndarray, " point"]]


@dataclass(frozen=True)
class Window:
    """Rows of b, uniform and increasing, each with the interval of a to look at."""

    rows: Float[ndarray, " m"]
    low: Float[ndarray, " m"]
    high: Float[ndarray, " m"]

    def points(self, columns: int) -> Float[ndarray, "m n 2"]:
        """Return the grid's points (a, b)."""
        a = self.low[:, None] + np.linspace(0, 1, columns) * (self.high - self.low)[:, None]
        return np.stack([a, np.broadcast_to(self.rows[:, None], a.shape)], axis=-1)

    def at(self, rows: Float[ndarray, " k"]) -> "Window":
        """Interpolate the intervals at other rows."""
        return Window(
            rows, np.interp(rows, self.rows, self.low), np.interp(rows, self.rows, self.high)
        )


@dataclass(frozen=True)
class GridDensity:
    """A normalised density of two parameters (a, b).

    Attributes:
        window: The rows and their intervals.
        log_density: Log density at the window's points; integrates to one by the trapezoid rule.
    """

    window: Window
    log_density: Float[ndarray, "m n"]

    @property
    def points(self) -> Float[ndarray, "m n 2"]:
        """The grid's points (a, b)."""
        return self.window.points(self.log_density.shape[1])

    @property
    def weights(self) -> Float[ndarray, "m n"]:
        """Probability mass of each grid point; sums to one."""
        return np.exp(self.log_density) * _areas(self.window, self.log_density.shape[1])

    @property
    def mean(self) -> Float[ndarray, " 2"]:
        """Mean of (a, b)."""
        return np.einsum("mn,mnk->k", self.weights, self.points)

    @property
    def covariance(self) -> Float[ndarray, "2 2"]:
        """Covariance of (a, b)."""
        centred = self.points - self.mean
        return np.einsum("mn,mnj,mnk->jk", self.weights, centred, centred)

    @property
    def peak(self) -> Float[ndarray, " 2"]:
        """Grid point of highest density."""
        place = np.unravel_index(np.argmax(self.log_density), self.log_density.shape)
        return self.points[place]

    def log_density_at(self, theta: Float[ndarray, "point 2"]) -> Float[ndarray, " point"]:
        """Interpolate the log density at rows of (a, b); -inf outside the grid."""
        theta = np.atleast_2d(theta)
        here = self.window.at(theta[:, 1])
        x = (theta[:, 0] - here.low) / (here.high - here.low)
        columns = np.linspace(0, 1, self.log_density.shape[1])
        spline = RectBivariateSpline(self.window.rows, columns, self.log_density)
        inside = (x >= 0) & (x <= 1)
        inside &= (theta[:, 1] >= self.window.rows[0]) & (theta[:, 1] <= self.window.rows[-1])
        return np.where(inside, spline(theta[:, 1], x, grid=False), -np.inf)

    def content_above(self, theta: Float[ndarray, " 2"]) -> float:
        """Return the mass where the density exceeds its value at theta.

        Theta lies in the highest-density region of level q exactly when this is at most q.
        """
        level = self.log_density_at(theta)[0]
        return float(min(1.0, self.weights[self.log_density > level].sum()))

    def sample(self, count: int, *, draw: np.random.Generator) -> Float[ndarray, "count 2"]:
        """Draw points: a cell by its mass, then a place in the cell; stays inside the grid."""
        weights = self.weights.ravel()
        chosen = draw.choice(weights.size, size=count, p=weights / weights.sum())
        i, j = np.unravel_index(chosen, self.log_density.shape)
        m, n = self.log_density.shape
        row, column = _jittered(i, m, draw), _jittered(j, n, draw)
        b = np.interp(row, np.arange(m), self.window.rows)
        here = self.window.at(b)
        return np.stack([here.low + column / (n - 1) * (here.high - here.low), b], axis=-1)

    def ranks(self, theta: Float[ndarray, " 2"]) -> Float[ndarray, " 2"]:
        """Return the mass below theta of each marginal, uniform if theta ~ this density."""
        weights, points = self.weights, self.points
        return np.array([_mass_below(points[..., k], weights, theta[k]) for k in range(2)])

    def interval(self, level: float) -> Float[ndarray, "2 2"]:
        """Return the central interval of each marginal that holds `level`, rows of (low, high)."""
        tails = [0.5 * (1 - level), 0.5 * (1 + level)]
        weights, values = self.weights.ravel(), self.points[..., 0].ravel()
        order = np.argsort(values)
        across = _quantiles(values[order], weights[order], tails)
        along = _quantiles(self.window.rows, self.weights.sum(1), tails)
        return np.array([across, along])


def tabulate(
    log_density: LogDensity,
    window: Window,
    bounds: Float[ndarray, "2 2"],
    *,
    columns: int = 13,
    refined: int = 97,
) -> GridDensity:
    """Evaluate a density in a window that holds it and normalise it.

    Args:
        log_density: Unnormalised log density of rows of theta = (a, b).
        window: Where the density lives; its intervals are fitted to the density once more.
        bounds: The box of the density's support, rows (low, high) of (a, b).
        columns: Evaluations along a.
        refined: Points per axis of the returned grid, by a bicubic spline.

    Returns:
        The normalised density.

    Raises:
        ValueError: If the density is zero, or not a number, all over the window.
    """
    values = _values(log_density, window, columns)
    _check(values)
    centre, spread = _row_moments(window, values)
    low = np.maximum(centre - _REACH * spread, bounds[0, 0])
    high = np.minimum(centre + _REACH * spread, bounds[1, 0])
    window = Window(window.rows, low, high)
    values = _values(log_density, window, columns)
    _check(values)
    values = np.maximum(values, -1e300)
    values = np.maximum(values, values.max() - 30.0)
    finer = window.at(np.linspace(window.rows[0], window.rows[-1], refined))
    spline = RectBivariateSpline(window.rows, np.linspace(0, 1, columns), values)
    return normalise(finer, spline(finer.rows, np.linspace(0, 1, refined)))


def locate(
    log_density: LogDensity,
    start: tuple[float, float],
    bounds: Float[ndarray, "2 2"],
    *,
    rows: int = 13,
    columns: int = 9,
) -> Window:
    """Find the rows that hold the mass and the interval of a that each one fills.

    Args:
        log_density: Unnormalised log density of rows of theta = (a, b).
        start: First interval of a.
        bounds: The box of the density's support, rows (low, high) of (a, b).
        rows: Rows of b.
        columns: Points of a row.

    Returns:
        The window.

    Raises:
        ValueError: If the density is zero, or not a number, wherever it was looked at.
    """
    b = np.linspace(bounds[0, 1], bounds[1, 1], rows)
    window = Window(b, np.full(rows, float(start[0])), np.full(rows, float(start[1])))
    for _ in range(_ROUNDS):
        window = _follow(log_density, window, bounds[:, 0], columns)
        values = _values(log_density, window, columns)
        _check(values)
        window, live = _spread(log_density, window, _row_mass(window, values), bounds[:, 0])
        step = window.rows[1] - window.rows[0]
        low, high = np.clip(window.rows[live[[0, -1]]] + [-step, step], *bounds[:, 1])
        shrunk = (high - low) / (window.rows[-1] - window.rows[0])
        if shrunk > 0.8:
            break
        window = window.at(np.linspace(low, high, rows))
    return _beside(window, live)


def _spread(
    log_density: LogDensity,
    window: Window,
    profile: Float[ndarray, " m"],
    bounds: Float[ndarray, " 2"],
    *,
    columns: int = 33,
) -> tuple[Window, Int[ndarray, " k"]]:
    """Let rows beside those with mass look where their neighbours have it, while that finds some.

    A narrow row is easily missed: all points of its first interval may lie beside it.
    """
    profile, tried = profile.copy(), set[int]()
    while True:
        live = np.flatnonzero(profile > profile.max() - _DEPTH)
        edge = {i for row in live for i in (row - 1, row + 1)} - set(live) - tried
        rows = np.array(sorted(i for i in edge if 0 <= i < len(profile)), dtype=int)
        if not len(rows):
            return window, live
        near = _beside(window, live)
        some = Window(near.rows[rows], near.low[rows], near.high[rows])
        some = _follow(log_density, some, bounds, columns)
        mass = _row_mass(some, _values(log_density, some, columns))
        found = rows[mass > profile[rows]]
        low, high = window.low.copy(), window.high.copy()
        low[found], high[found] = (end[mass > profile[rows]] for end in (some.low, some.high))
        profile[found] = mass[mass > profile[rows]]
        window, tried = Window(window.rows, low, high), tried | set(rows)


def _beside(window: Window, live: Int[ndarray, " k"]) -> Window:
    """Give rows without mass the interval of the nearest row that has some.

    Nothing tells where they should look, and one that looks elsewhere bends the spline beside it.
    """
    nearest = live[np.abs(np.arange(len(window.rows))[:, None] - live).argmin(1)]
    return Window(window.rows, window.low[nearest], window.high[nearest])


def normalise(window: Window, values: Float[ndarray, "m n"]) -> GridDensity:
    """Make a density of unnormalised log values at a window's points."""
    peak = values.max()
    total = (np.exp(values - peak) * _areas(window, values.shape[1])).sum()
    return GridDensity(window, values - peak - np.log(total))


def _follow(
    log_density: LogDensity, window: Window, bounds: Float[ndarray, " 2"], columns: int
) -> Window:
    """Move, widen or shrink each row's interval until the row's mass fills it."""
    for _ in range(_ROUNDS):
        values = _values(log_density, window, columns)
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


def _values(log_density: LogDensity, window: Window, columns: int) -> Float[ndarray, "m n"]:
    points = window.points(columns)
    values = np.asarray(log_density(points.reshape(-1, 2))).reshape(points.shape[:2])
    if np.isnan(values).any():
        raise ValueError("log_density is not finite: not a number somewhere in the window")
    return values


def _check(values: Float[ndarray, "m n"]) -> None:
    if not np.isfinite(values).any():
        raise ValueError("log_density is not finite anywhere in the window")


def _row_mass(window: Window, values: Float[ndarray, "m n"]) -> Float[ndarray, " m"]:
    peak = values.max(1, keepdims=True)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    mass = np.exp(values - safe).mean(1) * (window.high - window.low)
    with np.errstate(divide="ignore"):
        return np.log(mass) + safe[:, 0]


def _row_moments(
    window: Window, values: Float[ndarray, "m n"]
) -> tuple[Float[ndarray, " m"], Float[ndarray, " m"]]:
    """Mean and standard deviation of a in each row, at least a fifth of a column apart."""
    a = window.points(values.shape[1])[..., 0]
    peak = values.max(1, keepdims=True)
    live = np.isfinite(peak)  # a row without mass keeps its window
    weights = np.where(live, np.exp(values - np.where(live, peak, 0.0)), 1.0)
    weights /= weights.sum(1, keepdims=True)
    centre = (weights * a).sum(1)
    spread = np.sqrt((weights * (a - centre[:, None]) ** 2).sum(1))
    return centre, np.maximum(spread, 0.2 * (a[:, 1] - a[:, 0]))


def _areas(window: Window, columns: int) -> Float[ndarray, "m n"]:
    """Area of (a, b) that each point stands for, by the trapezoid rule."""
    along, across = np.ones(len(window.rows)), np.ones(columns)
    along[[0, -1]] = across[[0, -1]] = 0.5
    width = (window.high - window.low) / (columns - 1)
    return np.outer(along * width, across) * (window.rows[1] - window.rows[0])


def _jittered(index: ndarray, count: int, draw: np.random.Generator) -> Float[ndarray, " point"]:
    place = np.abs(index + draw.uniform(-0.5, 0.5, size=len(index)))
    return np.where(place > count - 1, 2 * (count - 1) - place, place)


def _quantiles(values: ndarray, weights: ndarray, levels: list[float]) -> Float[ndarray, " level"]:
    return np.interp(levels, np.cumsum(weights) - 0.5 * weights, values)


def _mass_below(values: Float[ndarray, "m n"], weights: ndarray, place: float) -> float:
    return float(weights[values < place].sum() + 0.5 * weights[values == place].sum())
