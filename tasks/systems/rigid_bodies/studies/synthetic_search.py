"""Searches the settings of the methods on a set of synthetic pendulums that no study uses.

Run by `python -m ricochet.tasks.systems.rigid_bodies.studies.synthetic_search FOLDER [--row NAME]
[--trials N] [--seconds S]`. The value is the divergence of exact draws from the particles (Eq. 11).
"""

import math
from collections.abc import Sequence

import numpy as np

from ricochet.models.inference import budgets
from ricochet.models.probability import sample_distances
from ricochet.tasks.systems.rigid_bodies.studies import methods, settings_search, synthetic_rows
from ricochet.tasks.systems.rigid_bodies.studies.methods import Chosen
from ricochet.tasks.systems.rigid_bodies.studies.synthetic_rows import SETTINGS, WINDOWS

SEED = 1_000
"""Of the data; the study's are from 0 on."""
_EXACT = 400


def main(arguments: Sequence[str] | None = None) -> None:
    """Search, and print what was found as JSON."""
    settings_search.main(arguments, __doc__, SETTINGS, value)


def value(row: str, seconds: float, chosen: Chosen) -> float:
    """Return the divergence, or much where particles are repeated or nowhere."""
    at, (name, kind) = synthetic_rows.known(SEED), row.rsplit("-", 1)
    generator = np.random.default_rng([SEED, *row.encode()])
    exact = at.grid.draws(at.sigma, _EXACT, generator)
    budget = budgets.processor_time(seconds)
    found = methods.infer(name, at.problem(WINDOWS[kind]), budget, generator, chosen)
    try:
        return sample_distances.divergence(exact, found.numpy())
    except ValueError:
        return math.inf


if __name__ == "__main__":
    main()
