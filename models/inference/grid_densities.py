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
from jaxtyping import Float
from numpy import ndarray
from scipy.interpolate import RectBivariateSpline

_REACH = 6.0  # half a row's final window, in the row's standard deviations

LogDensity = Callable[[Float[ndarray, "point 2"]], Float[ndarray, " point"]]


@dataclass(frozen=True)
class Window:
    """Rows of b, uniform and increasing, each with an interval of a."""

    rows: Float[ndarray, " m"]
    low: Float[ndarray, " m"]
    high: Float[ndarray, " m"]

    def points(self, columns: int) -> Float[ndarray, "m n 2"]:
        """Return the grid's points (a, b)."""
        a = self.low[:, None] + np.linspace(0, 1, columns) * (self.high - self.low)[:, None]
        return np.stack([a, np.broadcast_to(self.rows[:, None], a.shape)], axis=-1)


@dataclass(frozen=True)
class GridDensity:
    """A density of two parameters (a, b), normalised by the trapezoid rule."""

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
        here = at_rows(self.window, theta[:, 1])
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
        level = self.log_density_at(theta[None])[0]
        return float(min(1.0, self.weights[self.log_density > level].sum()))

    def sample(self, count: int, *, draw: np.random.Generator) -> Float[ndarray, "count 2"]:
        """Draw points: a cell by its mass, then a place in the cell; stays inside the grid."""
        weights = self.weights.ravel()
        chosen = draw.choice(weights.size, size=count, p=weights / weights.sum())
        i, j = np.unravel_index(chosen, self.log_density.shape)
        m, n = self.log_density.shape
        row, column = _jittered(i, m, draw), _jittered(j, n, draw)
        b = np.interp(row, np.arange(m), self.window.rows)
        here = at_rows(self.window, b)
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
    rough: LogDensity | None = None,
) -> GridDensity:
    """Evaluate a density in a window that holds it and normalise it.

    >>> bell = lambda theta: -0.5 * (theta**2).sum(-1)
    >>> window = Window(np.linspace(-5, 5, 13), np.full(13, -5.0), np.full(13, 5.0))
    >>> density = tabulate(bell, window, np.array([[-9.0, -9.0], [9.0, 9.0]]))
    >>> density.log_density.shape, (density.mean.round(3) + 0.0).tolist()
    ((97, 97), [0.0, 0.0])

    Args:
        log_density: Unnormalised log density of rows of theta = (a, b).
        window: Where the density lives; its intervals are fitted to the density once more.
        bounds: Corners (low, high) of the density's support, rows of (a, b).
        refined: Points per axis of the returned grid, by a bicubic spline; at least two a column.
        rough: A cheaper density of about the same moments, to which the intervals are fitted.

    Raises:
        ValueError: If the density is zero, or not a number, all over the window.
    """
    values = evaluate(rough or log_density, window, columns)
    refuse_empty(values)
    centre, spread = _row_moments(window, values)
    low = np.maximum(centre - _REACH * spread, bounds[0, 0])
    high = np.minimum(centre + _REACH * spread, bounds[1, 0])
    return interpolate(log_density, Window(window.rows, low, high), columns, refined)


def interpolate(
    log_density: LogDensity, window: Window, columns: int, refined: int = 97
) -> GridDensity:
    """Evaluate a density in the very window that is given and normalise it: see `tabulate`.

    >>> bell = lambda theta: -0.5 * (theta**2).sum(-1)
    >>> window = Window(np.linspace(-5, 5, 13), np.full(13, -9.0), np.full(13, 9.0))
    >>> (interpolate(bell, window, 25).covariance.round(2) + 0.0).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    values = evaluate(log_density, window, columns)
    refuse_empty(values)
    values = np.maximum(values, -1e300)
    values = np.maximum(values, values.max() - 30.0)
    finer = at_rows(window, np.linspace(window.rows[0], window.rows[-1], refined))
    spline = RectBivariateSpline(window.rows, np.linspace(0, 1, columns), values)
    return normalise(finer, spline(finer.rows, np.linspace(0, 1, max(refined, 2 * columns - 1))))


def normalise(window: Window, values: Float[ndarray, "m n"]) -> GridDensity:
    """Make a density of unnormalised log values at a window's points.

    >>> square = Window(np.array([0.0, 1.0, 2.0]), np.zeros(3), np.full(3, 2.0))
    >>> normalise(square, np.zeros((3, 5))).log_density[0].round(3)  # -log(4)
    array([-1.386, -1.386, -1.386, -1.386, -1.386])
    """
    peak = values.max()
    total = (np.exp(values - peak) * _areas(window, values.shape[1])).sum()
    return GridDensity(window, values - peak - np.log(total))


def at_rows(window: Window, rows: Float[ndarray, " k"]) -> Window:
    """Interpolate a window's intervals at other rows.

    >>> square = Window(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([2.0, 4.0]))
    >>> at_rows(square, np.array([0.5]))
    Window(rows=array([0.5]), low=array([0.5]), high=array([3.]))
    """
    low, high = (np.interp(rows, window.rows, ends) for ends in (window.low, window.high))
    return Window(rows, low, high)


def evaluate(log_density: LogDensity, window: Window, columns: int) -> Float[ndarray, "m n"]:
    """Return the log density at a window's points; refuse one that is not a number.

    >>> square = Window(np.array([0.0, 1.0]), np.zeros(2), np.ones(2))
    >>> evaluate(lambda theta: theta.sum(-1), square, 3).tolist()
    [[0.0, 0.5, 1.0], [1.0, 1.5, 2.0]]
    """
    points = window.points(columns)
    values = np.asarray(log_density(points.reshape(-1, 2))).reshape(points.shape[:2])
    if np.isnan(values).any():
        raise ValueError("log_density is not finite: not a number somewhere in the window")
    return values


def refuse_empty(values: Float[ndarray, "m n"]) -> None:
    """Refuse log densities none of which is finite: there is no mass at any point.

    >>> refuse_empty(np.array([[-np.inf, 0.0]]))
    """
    if not np.isfinite(values).any():
        raise ValueError("log_density is not finite anywhere in the window")


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
