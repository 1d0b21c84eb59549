"""Bats for as many passes a second as can be expected: our planner.

For each swing u of the grid, over scenarios of the belief and of the impacts' noise that are common
to all swings, with P passes until the second impact with the bat, at time T from now,

    rate(u) = E[P] / (E[T] + T_0)                          where the state is known
    gain(u) = E[P] - rho E[T] + q(s)                       else
    q(s) = q_0 / (1 + (s / s_0)^2)

s is the spread of the position that the readings until then will leave (`information`), q the
passes of a bat that begins with such a spread, and rho what a second is worth in passes (set by
hand). So the value of looking is computed: a swing that passes nothing is chosen where what is seen
after it is worth more. It is a look where it passes at most half as often as the swing that would
be best without q. A little of a pass, exp(-d^2 / 2 w^2) with d the closest approach, guides where
no scenario passes. The best swings of the grid are tried again, with their neighbours at half the
spacing, on more scenarios.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.batting.planning import swings
from ricochet.models.systems.batting.planning.goal_bats import CELL, Swing, chosen
from ricochet.models.systems.batting.planning.information import expected_spread
from ricochet.models.systems.batting.planning.swings import Scenarios, Swings
from ricochet.models.systems.batting.world import World

GUIDE, GUIDE_WIDTH = 0.02, 0.3  # in passes, and w in metres
LOST_TIME = 0.2  # s, T_0
NEXT_PASSES, NEXT_SPREAD = 0.75, 0.08  # q_0, and s_0 in metres
SECOND = 0.08  # passes, rho
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
    uncertain = bool((scenarios.states != scenarios.states[0]).any())
    tried = swings.evaluate(few, now, *swings.grid(), horizon, delta, world, uncertain)
    values = worth(tried, world.table.screen_noise)
    if not np.isfinite(values.max()):
        return None
    best = np.argsort(-values)[:FINALISTS]
    best = best[np.isfinite(values[best])]
    points = np.stack([tried.angles[best], tried.rates[best]], axis=1)
    offsets = np.stack(np.meshgrid([-0.5, 0.0, 0.5], [-0.5, 0.0, 0.5]), axis=-1).reshape(-1, 2)
    around = (points[:, None] + offsets * CELL).reshape(-1, 2)
    around = around[np.argsort(around[:, 0], kind="stable")]
    angles, rates = around.T.copy()
    final = swings.evaluate(scenarios, now, angles, rates, horizon, delta, world, uncertain)
    values = worth(final, world.table.screen_noise)
    row = int(values.argmax())
    found = chosen(final, row, float(values[row]))
    return replace(found, look=uncertain and is_look(final, row))


def is_look(tried: Swings, row: int) -> bool:
    """Return whether a swing passes at most half as often as the best without what is seen."""
    passes = tried.passes.mean(1)
    best = int(np.where(tried.possible, own_gain(tried), -np.inf).argmax())
    return bool(passes[row] <= 0.5 * passes[best])


def worth(tried: Swings, screen_noise: float) -> Float[ndarray, " swing"]:
    """Return rate or gain of each swing, minus infinity where the bat cannot do it."""
    if tried.seen.shape[2]:
        spread = expected_spread(tried, screen_noise)
        values = own_gain(tried) + NEXT_PASSES / (1.0 + (spread / NEXT_SPREAD) ** 2)
    else:
        values = guided_passes(tried) / (tried.second.mean(1) + LOST_TIME)
    return np.where(tried.possible, values, -np.inf)


def own_gain(tried: Swings) -> Float[ndarray, " swing"]:
    """Return E[P] - rho E[T] of each swing, with the guide."""
    return guided_passes(tried) - SECOND * tried.second.mean(1)


def guided_passes(tried: Swings) -> Float[ndarray, " swing"]:
    """Return E[P] of each swing, with the guide."""
    guide = np.exp(-tried.closest / (2.0 * GUIDE_WIDTH**2)).mean(1)
    return tried.passes.mean(1) + GUIDE * guide
