r"""How good the shots of a trained energy are, against the best of many that were rolled out.

For held-out states, of which fine candidates were rolled out (`objective.exhaustive`), the angle
that Algorithm 1 finds is rolled out as well. With O the objective of Eq. 12,

    regret = max(O(u*) - O(found), 0),    O counted 0 for a shot that breaks the chance constraint

where it could be kept. u* is the best candidate as `objective.best` takes it: the surest of those
close to the greatest objective. The energy is taught that rule, so what the rule gives away is no
loss of the energy's; `optimum_regret` is against the greatest objective itself. The mode of a shot
is its number of banks: none, one, two or more.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.systems.air_hockey.shots import energy_search, objective
from ricochet.models.systems.air_hockey.shots.energy_network import Energy
from ricochet.models.systems.air_hockey.shots.objective import Conditions, Setting, Shots

MOST = 2
"""Banks from which on shots count as one mode."""


@dataclass(frozen=True)
class Check:
    """What was measured over held-out states that have a shot within the chance constraint.

    Attributes:
        regret, regret_error: Mean of the objective's regret, and its standard error.
        regret_high: Its 95th percentile.
        optimum_regret: Mean regret against the greatest objective within the chance constraint.
        goal_regret: Mean by which the goal probability is below that of the best shot.
        kept: Share of the found shots that keep the chance constraint.
        agreement: Share of the found shots of the best shot's mode.
        regret_apart: Mean regret where the mode is another; NaN where none is.
        best: Mean objective of the best shots.
        goal, speed, banks: Means over the found shots; the speed is on the goal line, m/s.
    """

    states: int
    regret: float
    regret_error: float
    regret_high: float
    optimum_regret: float
    goal_regret: float
    kept: float
    agreement: float
    regret_apart: float
    best: float
    goal: float
    speed: float
    banks: float


def check(
    energy: Energy,
    setting: Setting,
    conditions: Conditions,
    states: Float[ndarray, "state 6"],
    candidates: Shots,
    *,
    draw: np.random.Generator,
) -> Check:
    """Compare an energy's shots for held-out states with the best of each one's candidates."""
    angles = np.array([energy_search.search(energy, state, draw=draw) for state in states])
    return compare(setting, objective.evaluate(conditions, states, angles), candidates)


def compare(setting: Setting, found: Shots, candidates: Shots) -> Check:
    """Compare found shots with the best of fine candidates, (state, angle).

    Raises:
        ValueError: If no state has a shot within the chance constraint.
    """
    best = objective.take(candidates, objective.best(setting, candidates))
    possible = objective.feasible(setting, best)
    if not possible.any():
        raise ValueError("candidates: no state has a shot within the chance constraint")
    worth = _worth(setting, best)
    regret = np.maximum(worth - _worth(setting, found), 0.0)[possible]
    greatest = _worth(setting, candidates).max(-1)
    same = (_mode(found) == _mode(best))[possible]
    return Check(
        states=int(possible.sum()),
        regret=float(regret.mean()),
        regret_error=float(regret.std() / np.sqrt(possible.sum())),
        regret_high=float(np.quantile(regret, 0.95)),
        optimum_regret=float(np.maximum(greatest - _worth(setting, found), 0.0)[possible].mean()),
        goal_regret=float((best.goal - found.goal)[possible].mean()),
        kept=float(objective.feasible(setting, found)[possible].mean()),
        agreement=float(same.mean()),
        regret_apart=float(regret[~same].mean()) if not same.all() else float("nan"),
        best=float(worth[possible].mean()),
        goal=float(found.goal[possible].mean()),
        speed=float(found.speed[possible].mean()),
        banks=float(found.banks[possible].mean()),
    )


def _worth(setting: Setting, one: Shots) -> Float[ndarray, "*batch"]:
    """Return the objective, 0 for a shot that breaks the chance constraint."""
    return np.where(objective.feasible(setting, one), objective.objective(setting, one), 0.0)


def _mode(one: Shots) -> Int[ndarray, "*batch"]:
    """Return the mode of shots."""
    return np.minimum(one.banks, MOST)
