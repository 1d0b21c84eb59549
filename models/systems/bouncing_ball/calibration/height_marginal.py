"""What an uncertain height of release does to the log likelihood of a session.

The drops of a session fell from h exp(rho z) with the same z ~ N(0, 1), where h is the height
stated and rho = height_sd / h. With l(z) the sum of their log likelihoods at theta,

    l(z) = l(0) + b z + c z^2 / 2,    log p(X | theta) = l(0) + gain,
    gain = log int N(z; 0, 1) exp(b z + c z^2 / 2) dz,  z from -Z to Z,
         = m^2 / (2 s^2) + log s + log [Phi((Z - m) / s) - Phi((-Z - m) / s)],
    s^2 = 1 / (1 - c),  m = s^2 b.

The law scales smoothly with h, so the parabola through z = -1, 0, 1 is enough for the few per cent
by which a height set by hand is off, and it stays exact where many drops make exp l(z) far
narrower than the prior. Beyond Z it would reach heights that are not plausible. b and c vary slowly
with theta: they are evaluated at a few points of the posterior's window, with a spline between.
Restitution is kept to the middle of its interval there: far out, where no mass is, single drops
are hard to integrate, and an error of b counts squared.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import special
from scipy.interpolate import RectBivariateSpline

from ricochet.models.inference.grid_densities import LogDensity, Window, at_rows

BY_HEIGHT = 2.0 / np.log(10.0)
"""By how much log10 concentration moves with the logarithm of the height: it goes as h^2."""
_SHIFTS = (-1.0, 0.0, 1.0)  # z
_NODES = 7
_LARGEST_ERROR = 5.0  # Z
_LARGEST_CURVATURE = 0.5  # c is negative but for errors of the integration
_ROWS = 7
_PLACES = np.array([0.25, 0.5, 0.75])  # of restitution in its interval, about 3 sd apart


def gain(
    slope: Float[ndarray, "*batch"], curvature: Float[ndarray, "*batch"]
) -> Float[ndarray, "*batch"]:
    """Return what integrating the height out adds to the log likelihood at the stated one."""
    narrow = 1.0 / np.sqrt(1.0 - np.minimum(curvature, _LARGEST_CURVATURE))
    centre = np.abs(slope) * narrow**2
    upper = special.log_ndtr((_LARGEST_ERROR - centre) / narrow)
    lower = special.log_ndtr((-_LARGEST_ERROR - centre) / narrow)
    inside = upper + np.log(-np.expm1(lower - upper))
    return np.asarray(0.5 * (centre / narrow) ** 2 + np.log(narrow) + inside)


def widened(window: Window, relative_sd: float, bounds: Float[ndarray, "2 2"]) -> Window:
    """Add rows at both ends of a window found at the stated height, for the other heights."""
    reach = _LARGEST_ERROR * BY_HEIGHT * relative_sd
    low, high = np.clip(window.rows[[0, -1]] + [-reach, reach], *bounds[:, 1])
    return at_rows(window, np.linspace(low, high, len(window.rows)))


def averaged(
    sums: Callable[[Float[ndarray, "point 2"], Sequence[float]], Float[ndarray, "z session point"]],
) -> LogDensity:
    """Return the log likelihood of all sessions, each integrated by Gauss and Hermite's rule.

    For few drops, whose l(z) is smooth, where the posterior has several modes: a spline over the
    window would carry the height's effect from one to the other.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    logs = np.log(weights / weights.sum())[:, None, None]

    def total(theta: Float[ndarray, "point 2"]) -> Float[ndarray, " point"]:
        return np.logaddexp.reduce(sums(theta, nodes.tolist()) + logs, axis=0).sum(0)

    return total


def interpolated(
    sums: Callable[[Float[ndarray, "point 2"], Sequence[float]], Float[ndarray, "z session point"]],
    window: Window,
) -> LogDensity:
    """Return the gain of all sessions as a function of theta inside a window.

    Args:
        sums: Log likelihood of each session at theta with its height off by z.
    """
    coarse = at_rows(window, np.linspace(window.rows[0], window.rows[-1], _ROWS))
    across = coarse.low[:, None] + _PLACES * (coarse.high - coarse.low)[:, None]
    points = np.stack([across, np.broadcast_to(coarse.rows[:, None], across.shape)], axis=-1)
    low, middle, high = sums(points.reshape(-1, 2), _SHIFTS).reshape(3, -1, *across.shape)
    with np.errstate(invalid="ignore"):
        tables = np.stack([0.5 * (high - low), high + low - 2.0 * middle])
    tables[~np.isfinite(tables)] = 0.0  # where the law cannot make the features at all
    splines = [
        [RectBivariateSpline(coarse.rows, _PLACES, session, ky=2) for session in table]
        for table in tables
    ]

    def total(theta: Float[ndarray, "point 2"]) -> Float[ndarray, " point"]:
        here = at_rows(window, theta[:, 1])
        place = (theta[:, 0] - here.low) / (here.high - here.low)
        place = np.clip(place, _PLACES[0], _PLACES[-1])
        slopes, curvatures = (
            np.array([spline(theta[:, 1], place, grid=False) for spline in each])
            for each in splines
        )
        return gain(slopes, curvatures).sum(0)

    return total
