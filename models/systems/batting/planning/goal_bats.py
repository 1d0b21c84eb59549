"""Bats towards the goal as Fu et al. plan them (Sec. V-B): rows A to D of Table I.

    f(u) = squared closest approach of the centre of mass to the goal within one bat
    u* = arg max_u Pr[for all v: f(u) <= f(v)]                                          (12)

The noise is fixed n times and f minimised each time, by the grid of swings and a polish from its
best; the swing of the densest cluster of the n optima is taken. (Their mean, which the paper takes,
lies between two families of solutions where optima belong to both.) Rows A and C plan without
noise, row D for the mean distance of the whole set of particles.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.batting.bat import BatPath
from ricochet.models.systems.batting.planning import swings
from ricochet.models.systems.batting.planning.swings import ANGLES, RATES, Scenarios, Swings
from ricochet.models.systems.batting.world import World, without_noise

NOISES = 16  # n of Eq. 12's approximation
CLUSTER = 0.12  # radius, in shares of the grid's width
POLISHING = 40  # evaluations of f, at most
CELL = np.array([ANGLES[1] - ANGLES[0], RATES[1] - RATES[0]])


@dataclass(frozen=True)
class Swing:
    """A planned bat.

    Attributes:
        path: Of the bat from now on.
        angle, rate: At the impact, rad and rad/s.
        time: When the impact is expected, s.
        value: What the planner thinks of it, in its own unit.
        look: Whether it is for information.
    """

    path: BatPath
    angle: float
    rate: float
    time: float
    value: float
    look: bool = False


def nearest(
    scenarios: Scenarios, now: float, horizon: float, world: World, polish: bool = True
) -> Swing | None:
    """Return the swing with the least mean distance from the goal, or None: nothing to strike.

    For one scenario without noise this is row C, and for the particles of a belief row D.
    """
    from scipy import optimize  # late: ours needs numpy alone

    def cost(tried: Swings) -> Float[ndarray, " swing"]:
        return np.where(tried.possible, np.sqrt(tried.closest).mean(1), np.inf)

    tried = swings.evaluate(scenarios, now, *swings.grid(), horizon, 1.0, world)
    costs = cost(tried)
    best = int(costs.argmin())
    if not np.isfinite(costs[best]):
        return None
    if not polish:
        return chosen(tried, best, costs[best])

    def refined(point: Float[ndarray, " 2"]) -> float:
        one = swings.evaluate(scenarios, now, point[:1], point[1:], horizon, 1.0, world)
        return float(cost(one)[0])

    start = np.array([tried.angles[best], tried.rates[best]])
    simplex = start + 0.5 * CELL * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    options = {"maxfev": POLISHING, "initial_simplex": simplex, "xatol": 1e-4, "fatol": 1e-5}
    found = optimize.minimize(refined, start, method="Nelder-Mead", options=options)
    point = found.x if found.fun < costs[best] else start
    polished = swings.evaluate(scenarios, now, point[:1], point[1:], horizon, 1.0, world)
    return chosen(polished, 0, min(float(found.fun), float(costs[best])))


def likeliest_best(scenarios: Scenarios, now: float, horizon: float, world: World) -> Swing | None:
    """Return the swing of row B: in the densest cluster of each scenario's best (Eq. 12)."""
    found = [
        nearest(Scenarios(*(v[i : i + 1] for v in scenarios)), now, horizon, world)
        for i in range(len(scenarios.kinds))
    ]
    optima = [swing for swing in found if swing is not None]
    if not optima:
        return None
    points = np.array([[swing.angle, swing.rate] for swing in optima])
    scaled = points / [np.ptp(ANGLES), np.ptp(RATES)]
    near = np.hypot(*(scaled[:, None] - scaled[None]).transpose(2, 0, 1)) < CLUSTER
    members = near[near.sum(1).argmax()]
    centre = points[members].mean(0)
    tried = swings.evaluate(scenarios, now, centre[:1], centre[1:], horizon, 1.0, world)
    if tried.possible[0]:
        return chosen(tried, 0, float(np.sqrt(tried.closest).mean()))
    inside = np.flatnonzero(members)
    return optima[inside[np.abs(scaled[inside] - scaled[inside].mean(0)).sum(1).argmin()]]


def without_impact_noise(
    scenarios: Scenarios, now: float, horizon: float, world: World
) -> Swing | None:
    """Return the swing of rows A and C: for the first scenario, as if impacts followed the law."""
    first = Scenarios(*(values[:1] for values in scenarios))
    return nearest(first, now, horizon, without_noise(world))


def chosen(tried: Swings, row: int, value: float) -> Swing:
    """Return one of the swings that were tried."""
    time = float(np.median(tried.first[row]))
    return Swing(tried.path(row), float(tried.angles[row]), float(tried.rates[row]), time, value)
