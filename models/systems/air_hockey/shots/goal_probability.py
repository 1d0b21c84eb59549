r"""How probable a goal is for a puck on its way: roll-out and closed form.

A puck's mean crosses the goal line (`crossings`) at y ~ N(y, sd^2), and so, in place of the
integral of Eq. 10 over the place at a time,

    G = Phi((w - y) / sd) - Phi((-w - y) / sd),    w = min(W, W_g - r / cos(angle)),

W_g being half the mouth, r the puck's radius: a puck that comes at an angle touches a post sooner.
W = `Table.clean_half_width`. Eq. 11, a Monte Carlo of the same integral, is an oracle of the tests.

An opponent may stand in the way: each crossing's chance is multiplied by that of getting past it.

The first bank follows one of several laws (`PuckModes.rebounds`), each of which is rolled out: G is
the sum of theirs, weighted by their shares.

The Gaussian is a good account of direct shots and of most with one bank. It promises too much where
draws and mean go through different modes: pucks so slow that some never arrive, banks at a grazing
angle or close to a corner, and with every further bank. `benchmarks/air_hockey/shots.py` says by
how much.

Source: Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey", Sec. III-D.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from scipy.special import ndtr

from ricochet.models.systems.air_hockey.puck import dynamics
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.shots import crossings
from ricochet.models.systems.air_hockey.shots.crossings import Crossing
from ricochet.models.systems.air_hockey.table import Table

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
    found, *others = crossings.follow(modes, mean, covariance, table, [kind.law for kind in kinds])
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
    kinds = crossings.follow(modes, mean, None, table, laws)
    return np.any([each.arrives & (np.abs(each.y) < table.clean_half_width) for each in kinds], 0)


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
    while (
        means[-1][0] < table.half_length and means[-1][2] > 0.0 and len(means) <= crossings.LONGEST
    ):
        after, spread = dynamics.step(modes, means[-1], spreads[-1], table)
        means.append(after)
        spreads.append(spread)
    return np.stack(means), np.stack(spreads)
