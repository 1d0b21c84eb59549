"""The grid of swings: 21 angles and 14 rates of the bat at its impact with the object (Sec. V-B).

A swing at an angle is timed by when the object would strike a bat that rests at that angle. Its
outcome is simulated for every scenario: an object's state and a place in the store of noise. The
same scenarios, and so the same random numbers, serve all swings.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.systems.batting.bat import BatPath, swing
from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.planning.rollouts import INSTANTS, follow, time_of_impact
from ricochet.models.systems.batting.table import LARGEST_ANGLE
from ricochet.models.systems.batting.world import QUIET, World

ANGLES = np.linspace(-LARGEST_ANGLE, LARGEST_ANGLE, 21)
RATES = np.linspace(-0.65, 0.65, 14)  # rad/s
KNOTS = 4
TIMERS = 5  # scenarios by which a swing is timed, at most


class Scenarios(NamedTuple):
    """Objects that a plan is tried on.

    Attributes:
        states: x, y, angle and their rates, SI.
        kinds: Their shapes.
        places: Where in the world's noise each begins.
    """

    states: Float[ndarray, "scenario 6"]
    kinds: Int[ndarray, " scenario"]
    places: Int[ndarray, " scenario"]


class Swings(NamedTuple):
    """Swings with their outcomes, one row a swing and one column a scenario.

    Attributes:
        angles, rates: Of the bat at impact, rad and rad/s.
        possible: Whether the bat can do it; the outcome of another is left at zero.
        times, path_angles: The paths.
        passes, first, second, closest: As in `rollouts.Outcome`.
        seen: As in `rollouts.follow`; no instants where nothing was watched.
    """

    angles: Float[ndarray, " swing"]
    rates: Float[ndarray, " swing"]
    possible: Bool[ndarray, " swing"]
    times: Float[ndarray, "swing 4"]
    path_angles: Float[ndarray, "swing 4"]
    passes: Float[ndarray, "swing scenario"]
    first: Float[ndarray, "swing scenario"]
    second: Float[ndarray, "swing scenario"]
    closest: Float[ndarray, "swing scenario"]
    seen: Float[ndarray, "swing scenario instant 4"]

    def path(self, row: int) -> BatPath:
        """Return the path of one swing."""
        return BatPath(self.times[row].copy(), self.path_angles[row].copy())


def repeated(
    state: Float[ndarray, " 6"], kind: int, places: Int[ndarray, " scenario"]
) -> Scenarios:
    """Return scenarios that differ in their noise alone."""
    count = len(places)
    return Scenarios(np.repeat(state[None], count, axis=0), np.full(count, kind), places)


def grid() -> tuple[Float[ndarray, " swing"], Float[ndarray, " swing"]]:
    """Return the angles and the rates of the 294 swings of the grid."""
    angles, rates = np.meshgrid(ANGLES, RATES, indexing="ij")
    return angles.ravel(), rates.ravel()


def evaluate(
    scenarios: Scenarios,
    now: float,
    angles: Float[ndarray, " swing"],
    rates: Float[ndarray, " swing"],
    horizon: float,
    delta: float,
    world: World,
    watched: bool = False,
) -> Swings:
    """Return swings with their outcomes.

    Args:
        scenarios: The objects, now.
        now: The bat's angle, rad.
        angles, rates: Of the bat at impact, rad and rad/s; equal angles should be neighbours.
        horizon: Longest time to an impact, and again from there on, s.
        delta: How near the goal a pass comes, m.
        world: What is simulated.
        watched: Whether to keep what would be seen.
    """
    count, width = len(angles), len(scenarios.kinds)
    swings = Swings(
        angles,
        rates,
        np.zeros(count, bool),
        np.zeros((count, KNOTS)),
        np.zeros((count, KNOTS)),
        np.zeros((count, width)),
        np.zeros((count, width)),
        np.zeros((count, width)),
        np.zeros((count, width)),
        np.zeros((count, width, INSTANTS if watched else 0, 4)),
    )
    timers = Scenarios(*(values[:TIMERS] for values in scenarios))
    _evaluate(scenarios, timers, now, horizon, delta, world, swings)
    return swings


@compiled
def _evaluate(
    scenarios: Scenarios,
    timers: Scenarios,
    now: float,
    horizon: float,
    delta: float,
    world: World,
    swings: Swings,
) -> None:
    time, timed = np.inf, np.nan
    for i in range(len(swings.angles)):
        if swings.angles[i] != timed:
            timed = swings.angles[i]
            time = _median_time(timers, timed, horizon, world)
        path = BatPath(swings.times[i], swings.path_angles[i])
        if time < horizon:
            swings.possible[i] = swing(now, time, timed, swings.rates[i], path)
        if swings.possible[i]:
            _try_out(scenarios, path, time + horizon, delta, world, swings, i)


@compiled
def _try_out(
    scenarios: Scenarios,
    path: BatPath,
    horizon: float,
    delta: float,
    world: World,
    swings: Swings,
    row: int,
) -> None:
    counts = np.zeros(3, np.int64)
    for j in range(len(scenarios.kinds)):
        state = scenarios.states[j].copy()
        counts[:] = 0
        counts[0] = scenarios.places[j]
        seen = swings.seen[row, j]
        outcome = follow(state, scenarios.kinds[j], path, horizon, delta, world, counts, seen)
        swings.passes[row, j] = outcome.passes
        swings.first[row, j] = outcome.first
        swings.second[row, j] = outcome.second
        swings.closest[row, j] = outcome.closest


@compiled
def _median_time(timers: Scenarios, angle: float, horizon: float, world: World) -> float:
    """Return the median instant at which the objects strike a bat at rest, without noise."""
    e, e_t, mu = world.law.restitution, world.law.tangential_restitution, world.law.friction
    quiet = World(world.shapes, world.table, Law(e, e_t, mu, 0.0, 0.0, 0.0), QUIET)
    times = np.empty(len(timers.kinds))
    for j in range(len(times)):
        times[j] = time_of_impact(timers.states[j], timers.kinds[j], angle, horizon, quiet)
    return np.sort(times)[len(times) // 2]
