r"""How probable a goal is for a puck on its way: roll-out and closed form.

The state s = (x, y, vx, vy, ax, ay), in m, m/s, m/s^2, and its covariance are propagated by Eq. 8
until the mean crosses the goal line x = L. Floating is linear, so k periods of it are one
(`PuckModes.flights`),

    m_k = M_k m + b_k,    P_k = M_k P M_k^T + C_k,

and a whole batch goes from bank to bank in a few leaps instead of a period at a time; rows that
have crossed, or never will, are left out of the next leap. With x_k the first mean beyond the
line, the path was on it at y = y_k - (x_k - L) v_y / v_x, of which the Jacobian J makes a Gaussian
y ~ N(y, J P_k J^T), and so, in place of the integral of Eq. 10 over the place at a time,

    G = Phi((w - y) / sd) - Phi((-w - y) / sd),    w = min(W, W_g - r / cos(angle)),

W_g being half the mouth, r the puck's radius: a puck that comes at an angle touches a post sooner.
W = `Table.clean_half_width`. Where a puck misses, there is an end wall, which is left out: where
the line is crossed decides. Eq. 11, a Monte Carlo of the same integral, is an oracle of the tests.

An opponent may stand in the way: each crossing's chance is multiplied by that of getting past it.

The first bank follows one of several laws (`PuckModes.rebounds`), each of which is rolled out: G is
the sum of theirs, weighted by their shares. Later banks have one law.

The Gaussian is a good account of direct shots and of most with one bank. It promises too much where
draws and mean go through different modes: pucks so slow that some never arrive, banks at a grazing
angle or close to a corner, and with every further bank. `benchmarks/air_hockey/shots.py` says by
how much.

Source: Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey", Sec. III-D.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from scipy.special import ndtr

from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import dynamics
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
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


Passes = Callable[[Crossing, Int[ndarray, " row"]], Float[ndarray, " row"] | float]


def nobody(crossing: Crossing, rows: Int[ndarray, " row"]) -> float:
    """Let every puck pass: there is no opponent."""
    return 1.0


def predict(
    modes: PuckModes,
    mean: Float[ndarray, "row 6"],
    covariance: Float[ndarray, "row 6 6"],
    table: Table,
    *,
    passes: Passes = nobody,
) -> tuple[Float[ndarray, " row"], Crossing]:
    """Return the probability of a clean goal, and the crossing after the usual first bank.

    Mean and covariance are those of the states after the strike.

    Args:
        passes: The probability that crossings of some rows, by their numbers, get past an opponent.
    """
    kinds = modes.first_bank
    found, *others = _followed(modes, mean, covariance, table, [kind.law for kind in kinds])
    goal = probability(found, table) * passes(found, np.arange(len(mean)))
    banked = np.flatnonzero(found.banks > 0)
    goal[banked] *= kinds[0].share
    for kind, other in zip(kinds[1:], others, strict=True):
        apart = Crossing(*(part[banked] for part in vars(other).values()))
        goal[banked] += kind.share * probability(apart, table) * passes(apart, banked)
    return goal, found


def may_be_likely(
    modes: PuckModes, mean: Float[ndarray, "row 6"], table: Table
) -> Bool[ndarray, " row"]:
    """Return which shots may have a goal probability of one half or more.

    A Gaussian whose mean misses the mouth has less, and so have several that all do.
    """
    laws = [kind.law for kind in modes.first_bank]
    kinds = _followed(modes, mean, None, table, laws)
    return np.any([each.arrives & (np.abs(each.y) < table.clean_half_width) for each in kinds], 0)


def roll_out(
    modes: PuckModes,
    mean: Float[ndarray, "*batch 6"],
    covariance: Float[ndarray, "*batch 6 6"],
    table: Table,
    *,
    first: LinearGaussian | None = None,
) -> Crossing:
    """Follow pucks until their means cross the goal line.

    Args:
        first: The law of the first bank; that of any bank when absent.
    """
    shape, law = mean.shape[:-1], modes.wall if first is None else first
    flat = mean.reshape(-1, 6), covariance.reshape(-1, 6, 6)
    found = _followed(modes, *flat, table, [law])[0]
    return Crossing(
        **{name: part.reshape((*shape, *part.shape[1:])) for name, part in vars(found).items()}
    )


def probability(crossing: Crossing, table: Table) -> Float[ndarray, "*batch"]:
    """Return the probability of a clean goal in closed form; 0 for a puck that does not arrive."""
    half = clean_half_width(crossing.velocity, table)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = ndtr((half - crossing.y) / crossing.sd) - ndtr((-half - crossing.y) / crossing.sd)
    return np.where(crossing.arrives & (half > 0.0), inside, 0.0)


def clean_half_width(
    velocity: Float[ndarray, "*batch 2"], table: Table
) -> Float[ndarray, "*batch"]:
    """Return the largest |y| at which a puck crosses the line without touching a post, m."""
    stretch = np.hypot(velocity[..., 0], velocity[..., 1]) / np.maximum(velocity[..., 0], 1e-9)
    free = table.goal_half_width - table.puck_radius * stretch
    return np.asarray(np.minimum(table.clean_half_width, free))


def path(
    modes: PuckModes,
    mean: Float[ndarray, " 6"],
    covariance: Float[ndarray, "6 6"],
    table: Table,
) -> tuple[Float[ndarray, "time 6"], Float[ndarray, "time 6 6"]]:
    """Return mean and covariance after each period of one shot until its mean crosses the line.

    Every bank follows the law of any bank: its Gaussian covers all rebounds at once.
    """
    means, spreads = [mean], [covariance]
    while means[-1][0] < table.half_length and means[-1][2] > 0.0 and len(means) <= LONGEST:
        after, spread = dynamics.step(modes, means[-1], spreads[-1], table)
        means.append(after)
        spreads.append(spread)
    return np.stack(means), np.stack(spreads)


def _followed(
    modes: PuckModes,
    mean: Float[ndarray, "row 6"],
    covariance: Float[ndarray, "row 6 6"] | None,
    table: Table,
    firsts: Sequence[LinearGaussian],
) -> list[Crossing]:
    """Return the crossings after each law of the first bank, up to which pucks go together.

    Those of the second and further laws are filled in where there was a bank. Without a covariance
    means alone are followed, and the spread of each row has no elements.
    """
    count, laws = len(mean), (*firsts, modes.wall)
    state, rows = mean.copy(), np.arange(count)
    spread = np.zeros((count, 0, 0)) if covariance is None else covariance.copy()
    found, periods = _nowhere(len(firsts) * count), np.zeros(len(firsts) * count, dtype=int)
    while len(rows):
        leap, crossed, banked = _next_event(modes, state, table)
        periods[rows] += leap
        _advance(modes, state, spread, leap)
        _note(found, rows[crossed], state[crossed], spread[crossed], periods, table)
        again, kind = _numbered(np.where(banked & (found.banks[rows] == 0), len(firsts), 1))
        periods[rows[again] + kind * count] = periods[rows[again]]
        state, spread, rows = state[again], spread[again], rows[again] + kind * count
        crossed, banked, before = crossed[again], banked[again], found.banks[rows]
        law = np.where(before == 0, rows // count, len(firsts))
        for k in np.unique(law[banked]):
            hit = np.flatnonzero(banked & (law == k) & (before < MOST_BANKS))
            _bank(laws[k], state, spread, hit, table)
        found.banks[rows[banked]] += 1
        goes_on = ~crossed & (state[:, 2] > 0.0) & (periods[rows] < LONGEST)
        goes_on &= found.banks[rows] <= MOST_BANKS
        state, spread, rows = state[goes_on], spread[goes_on], rows[goes_on]
    kinds = range(len(firsts))
    return [
        Crossing(*(part[k * count : (k + 1) * count] for part in vars(found).values()))
        for k in kinds
    ]


def _numbered(times: Int[ndarray, " row"]) -> tuple[Int[ndarray, " copy"], Int[ndarray, " copy"]]:
    """Return the numbers of rows that are each taken some times, and which time it is."""
    ends = np.cumsum(times)
    rows = np.repeat(np.arange(len(times)), times)
    return rows, np.arange(len(rows)) - (ends - times)[rows]


def _nowhere(count: int) -> Crossing:
    """Return a crossing to be filled in, of pucks that have not arrived."""
    blank = np.full((5, count), np.nan)
    zeros = np.zeros(count, dtype=int)
    return Crossing(zeros > 0, blank[0], blank[1], blank[2:4].T.copy(), zeros, blank[4])


def _next_event(
    modes: PuckModes, state: Float[ndarray, "row 6"], table: Table
) -> tuple[Int[ndarray, " row"], Bool[ndarray, " row"], Bool[ndarray, " row"]]:
    """Return how many periods to leap, and whether the line is crossed or a rim met then."""
    flights, ahead = modes.flights, (slice(1, _WINDOW + 1), (0, 1, 3))
    path = state @ flights.matrix[ahead].reshape(-1, 6).T + flights.offset[ahead].ravel()
    x, y, side = np.moveaxis(path.reshape(-1, _WINDOW, 3), -1, 0)
    line = x >= table.half_length
    rim = (np.abs(y) > table.wall_y) & (y * side > 0.0)
    event = line | rim
    any_event = event.any(-1)
    index = np.where(any_event, event.argmax(-1), _WINDOW - 1)
    crossed = line[np.arange(len(state)), index]
    return index + 1, crossed, any_event & ~crossed


def _advance(
    modes: PuckModes,
    state: Float[ndarray, "row 6"],
    spread: Float[ndarray, "row _ _"],
    leap: Int[ndarray, " row"],
) -> None:
    """Float, in place, for as many periods as `leap` says of each row."""
    flights = modes.flights
    matrix = flights.matrix[leap]
    state[:] = (matrix @ state[..., None])[..., 0] + flights.offset[leap]
    if spread.size:
        spread[:] = matrix @ spread @ matrix.swapaxes(-1, -2) + flights.covariance[leap]


def _bank(
    law: LinearGaussian,
    state: Float[ndarray, "row 6"],
    spread: Float[ndarray, "row _ _"],
    hit: Int[ndarray, " hit"],
    table: Table,
) -> None:
    """Turn back, in place, the rows that met a rim."""
    if not len(hit):
        return
    after, wide = state[hit], spread[hit]
    dynamics.bank(law, after, wide, table)
    state[hit], spread[hit] = after, wide


def _note(
    found: Crossing,
    rows: Int[ndarray, " row"],
    state: Float[ndarray, "row 6"],
    spread: Float[ndarray, "row _ _"],
    periods: Int[ndarray, " all"],
    table: Table,
) -> None:
    """Note, in place, where rows that are beyond the line crossed it."""
    velocity = state[:, 2:4]
    slope, ago = velocity[:, 1] / velocity[:, 0], (state[:, 0] - table.half_length) / velocity[:, 0]
    if spread.size:
        jacobian = np.zeros((len(rows), 6))
        jacobian[:, 0], jacobian[:, 1] = -slope, 1.0
        jacobian[:, 2], jacobian[:, 3] = ago * slope, -ago
        variance = ((spread @ jacobian[..., None])[..., 0] * jacobian).sum(-1)
        found.sd[rows] = np.sqrt(np.maximum(variance, 0.0))
    found.arrives[rows] = True
    found.y[rows] = state[:, 1] - ago * velocity[:, 1]
    found.velocity[rows] = velocity
    found.time[rows] = periods[rows] * PERIOD - ago
