r"""Where a paddle should wait for a ball whose crossing is known by samples, with little energy.

A motion of least jerk from rest to rest over a distance D in a time T costs

    integral of v^2 / 2 dt = (5 / 7) D^2 / T,       v = 30 (D / T) s^2 (1 - s)^2,  s = t / T,

and cut into pieces in proportion it costs the same: nothing is lost by stopping at every event, and
slow motion is cheap. A place c for the paddle's centre after a time T is judged by

    J(c) = (5 / 7) |c - paddle|^2 / T
         + mean over samples that cross before the next event is known of  price [not touched]
         + mean over the later ones of   min(price, (5 / 7) max(|q - c'| - r, 0)^2 / T'),

with r the distance at which paddle and ball touch, q the crossing, c' where the paddle has got by
the next event and T' the time from then to the crossing: a stochastic programme of two stages with
recourse (Dantzig 1955, doi 10.1287/mnsc.1.3-4.197), whose second stage takes the crossing as known.
`Reach` says how fast the arm can be: what it cannot do in T it does late, what it cannot do in T'
costs the price. J is searched on a grid and on a finer one about its best point.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

LEAST_JERK = 5.0 / 7.0
"""Energy of a motion of least jerk in D^2 / T."""
_GRID, _FINE = (
    np.stack(np.meshgrid(*2 * [np.linspace(0.0, 1.0, count)]), axis=-1).reshape(-1, 2)
    for count in (9, 7)
)
"""Places in the unit square."""
_TAILS = (0.03, 0.97)
_EARLY = 0.2


@dataclass(frozen=True)
class Reach:
    """Largest speed, m/s, and acceleration, m/s^2, of the paddle on motions of least jerk."""

    speed: float = 1.1
    acceleration: float = 8.0


@dataclass(frozen=True)
class Crossings:
    """Samples of where and when the ball crosses the robot's plane.

    Attributes:
        points: (y, z), m.
        wait: Time from now, s; positive.
        soon: Whether it crosses before the next event is known.
        event: Time from now until the next event is known, s; of meaning for the others.
        share: Of all samples of the ball, those that are here: probability that it can be reached.
    """

    points: Float[ndarray, "sample 2"]
    wait: Float[ndarray, " sample"]
    soon: Bool[ndarray, " sample"]
    event: Float[ndarray, " sample"]
    share: float


@dataclass(frozen=True)
class Choice:
    """Where to be, (y, z) in m, in which time, s, and which share of the soon crossings touch."""

    point: Float[ndarray, " 2"]
    duration: float
    touched: float


def choose(
    crossings: Crossings,
    paddle: tuple[float, float],
    *,
    touch: float,
    price: float,
    reach: Reach,
    bounds: tuple[tuple[float, float], tuple[float, float]],
) -> Choice:
    """Choose the place of least expected cost.

    Args:
        touch: Distance of centres at which paddle and ball touch, m.
        price: What a miss costs, m^2/s.
    """
    here = np.array(paddle)
    duration = _duration(crossings)
    low, high = np.array(bounds).T
    ends = _quantiles(crossings.points, _TAILS)
    first = np.minimum(ends[0], here).clip(low, high)
    last = np.maximum(ends[1], here).clip(low, high)
    best = here.clip(low, high)
    for grid in (_GRID, _FINE):
        candidates = np.concatenate((best[None], first + grid * (last - first)))
        costs = _cost(candidates, here, duration, crossings, touch, price, reach)
        best = candidates[int(costs.argmin())]
        cell = (last - first) / (math.sqrt(len(grid)) - 1.0)
        first, last = (best - cell).clip(low, high), (best + cell).clip(low, high)
    distance = np.hypot(*(crossings.points[crossings.soon] - best).T)
    touched = float((distance <= touch).mean()) if len(distance) else np.nan
    return Choice(best, duration, touched)


def _duration(crossings: Crossings) -> float:
    """Until the next event is known, or an early one of the crossings before it."""
    soon = crossings.soon
    times = [float(_quantiles(crossings.event[~soon], (0.5,))[0])] if not soon.all() else []
    if soon.mean() > 0.05:
        times.append(float(_quantiles(crossings.wait[soon], (_EARLY,))[0]))
    return min(times)


def _quantiles(
    values: Float[ndarray, " sample *each"], shares: tuple[float, ...]
) -> Float[ndarray, " share *each"]:
    """Samples at the ranks nearest the shares; numpy's interpolation costs ten times the sort."""
    ranks = np.rint(np.array(shares) * (len(values) - 1)).astype(int)
    return np.asarray(np.sort(values, axis=0)[ranks])


def _cost(
    candidates: Float[ndarray, "point 2"],
    here: Float[ndarray, " 2"],
    duration: float,
    crossings: Crossings,
    touch: float,
    price: float,
    reach: Reach,
) -> Float[ndarray, " point"]:
    """J of each candidate."""
    length = np.hypot(*(candidates - here).T)
    lasts = np.maximum(duration, least_time(length, reach))
    ways = candidates - here, lasts
    soon, points = crossings.soon, crossings.points - here
    now = _short(*ways, points[soon], crossings.wait[soon], touch)
    loss = price * np.count_nonzero(now, axis=1)
    later = _short(*ways, points[~soon], crossings.event[~soon], touch)
    left = np.maximum(crossings.wait[~soon] - crossings.event[~soon], 1e-3)
    recourse = np.minimum(LEAST_JERK * later**2 / left, price)
    recourse[later > _farthest(left, reach)] = price
    mean = (loss + recourse.sum(axis=1)) / len(soon)
    return LEAST_JERK * length**2 / lasts + crossings.share * mean


def _short(
    way: Float[ndarray, "point 2"],
    lasts: Float[ndarray, " point"],
    points: Float[ndarray, "sample 2"],
    when: Float[ndarray, " sample"],
    touch: float,
) -> Float[ndarray, "point sample"]:
    """By how much a paddle on its way to each place misses each sample at its time, m."""
    s = np.minimum(when / lasts[:, None], 1.0)
    share = s * s * s * (10.0 - s * (15.0 - 6.0 * s))  # of the way, by a motion of least jerk
    y, z = points[:, 0] - share * way[:, :1], points[:, 1] - share * way[:, 1:]
    return np.maximum(np.sqrt(y * y + z * z) - touch, 0.0)


def _farthest(time: Float[ndarray, "*batch"], reach: Reach) -> Float[ndarray, "*batch"]:
    """Return the longest way that takes no longer than a time: `least_time` the other way round."""
    return np.minimum(time * reach.speed / 1.875, time * time * reach.acceleration / 5.7735)


def least_time(distance: Float[ndarray, "*batch"], reach: Reach) -> Float[ndarray, "*batch"]:
    """Return the shortest time of a motion of least jerk over a distance, m, in s.

    Its greatest speed is 15/8 D/T, its greatest acceleration 10/sqrt(3) D/T^2.
    """
    slow = np.sqrt(5.7735 * distance / reach.acceleration)
    return np.asarray(np.maximum(1.875 * distance / reach.speed, slow))
