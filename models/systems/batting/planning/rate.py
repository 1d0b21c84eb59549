"""Bats for as many passes a second as can be expected: our planner.

For each swing u of the grid, over scenarios of the belief and of the impacts' noise that are common
to all swings, with P passes until the second impact with the bat, at time T from now,

    rate(u) = (E[P] + s E[exp(-d^2 / 2 w^2)]) / (E[T] + T_0)

d is the closest approach to the goal. The second term, worth a little of a pass, guides where no
scenario passes; T_0 keeps the bat from trembling for the sake of a short T. The best swings
of the grid are tried again, with their neighbours at half the spacing, on more scenarios.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.batting.planning import swings
from ricochet.models.systems.batting.planning.goal_bats import CELL, Swing, chosen
from ricochet.models.systems.batting.planning.swings import Scenarios, Swings
from ricochet.models.systems.batting.world import World

GUIDE, GUIDE_WIDTH = 0.02, 0.3  # s in passes and w in metres
LOST_TIME = 0.2  # s, T_0
FIRST_LOOK = 12  # scenarios on which the whole grid is tried
FINALISTS = 6  # swings that are tried again, each with eight neighbours


def most_passes(
    scenarios: Scenarios, now: float, horizon: float, delta: float, world: World
) -> Swing | None:
    """Return the swing with the most expected passes a second, or None: nothing to strike.

    Args:
        scenarios: Of the belief and the noise; the first few serve the whole grid.
        now: The bat's angle, rad.
        horizon: Longest time to an impact, s.
        delta: How near the goal a pass comes, m.
        world: What is simulated, with its noise.
    """
    few = Scenarios(*(values[:FIRST_LOOK] for values in scenarios))
    tried = swings.evaluate(few, now, *swings.grid(), horizon, delta, world)
    rates = expected_rates(tried)
    if not np.isfinite(rates.max()):
        return None
    best = np.argsort(-rates)[:FINALISTS]
    best = best[np.isfinite(rates[best])]
    points = np.stack([tried.angles[best], tried.rates[best]], axis=1)
    offsets = np.stack(np.meshgrid([-0.5, 0.0, 0.5], [-0.5, 0.0, 0.5]), axis=-1).reshape(-1, 2)
    around = (points[:, None] + offsets * CELL).reshape(-1, 2)
    around = around[np.argsort(around[:, 0], kind="stable")]
    final = swings.evaluate(scenarios, now, around[:, 0], around[:, 1], horizon, delta, world)
    rates = expected_rates(final)
    return chosen(final, int(rates.argmax()), float(rates.max()))


def expected_rates(tried: Swings) -> Float[ndarray, " swing"]:
    """Return the passes a second of each swing, minus infinity where the bat cannot do it."""
    guide = np.exp(-tried.closest / (2.0 * GUIDE_WIDTH**2)).mean(1)
    passes = tried.passes.mean(1) + GUIDE * guide
    return np.where(tried.possible, passes / (tried.second.mean(1) + LOST_TIME), -np.inf)
