"""Searches the settings of the methods on a simulated pendulum, for the study of the filmed one.

Run by `python -m ricochet.tasks.systems.rigid_bodies.studies.real_search FOLDER [--row NAME]
[--trials N] [--seconds S]`. The pendulum is of two rods. Of one motion of it, seen with noise, the
parameters are inferred; the value is the mean energy score of ten others. No film is looked at.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ricochet.models.inference import budgets
from ricochet.tasks.systems.rigid_bodies.studies import (
    filmed_pendulum,
    methods,
    real_rows,
    settings_search,
)
from ricochet.tasks.systems.rigid_bodies.studies.filmed_pendulum import Film
from ricochet.tasks.systems.rigid_bodies.studies.methods import Chosen
from ricochet.tasks.systems.rigid_bodies.studies.real_rows import SETTINGS

RODS = np.array((0.3, 5e-4, 0.07, 0.0, 1e-3, 0.14, 0.2, 2e-4, 0.05, 0.0, 5e-4))
"""The parameters: rods of 0.14 and 0.11 m, some friction in their joints."""
NOISE = np.array((0.01, 0.01, 0.1, 0.1))
"""Of each state seen, rad and rad/s."""
_SEED, _TESTS = 2_000, 10


def main(arguments: Sequence[str] | None = None) -> None:
    """Search, and print what was found as JSON."""
    settings_search.main(arguments, __doc__, SETTINGS, value)


def value(row: str, seconds: float, chosen: Chosen) -> float:
    """Return the energy score, or much where hardly a particle has a motion."""
    film, (name, kind) = simulated(), row.rsplit("-", 1)
    generator = np.random.default_rng([_SEED, *row.encode()])
    given, budget = real_rows.problem(film, kind), budgets.processor_time(seconds)
    found = methods.infer(name, given, budget, generator, chosen).numpy()
    score = film.judge.numbers(found)["energy_score"]
    return math.inf if score is None else score


@lru_cache(maxsize=1)
def simulated() -> Film:
    """Return motions of the rods, let go anywhere at rest."""
    generator = np.random.default_rng(_SEED)
    starts = np.zeros((1 + _TESTS, 4))
    starts[:, :2] = generator.uniform(-math.pi, math.pi, (1 + _TESTS, 2))
    moved = filmed_pendulum.rolled(RODS[None], starts)[0]
    seen = moved + NOISE * generator.normal(size=moved.shape)
    states = np.concatenate((starts[:, None], seen), 1)
    return Film(states[0], states[1:])


if __name__ == "__main__":
    main()
