"""Searches the settings of the methods on a set of synthetic pendulums that no study uses.

Run by `python -m ricochet.tasks.systems.rigid_bodies.studies.synthetic_search FOLDER [--row NAME]
[--trials N] [--seconds S]`. All methods are searched alike: as many trials, each within the same
processor time, and the same value, the divergence of exact draws from the particles (Eq. 11).
Journals are kept in the folder: a search that was stopped goes on.
"""

import argparse
import json
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from optuna.trial import Trial

from ricochet.models.core.progress import Progress
from ricochet.models.inference import budgets
from ricochet.models.probability import sample_distances
from ricochet.tasks.console.progress import bar
from ricochet.tasks.console.threads import use_one_thread
from ricochet.tasks.systems.rigid_bodies.studies import methods, synthetic_rows
from ricochet.tasks.systems.rigid_bodies.studies.methods import Chosen
from ricochet.tasks.systems.rigid_bodies.studies.synthetic_rows import SETTINGS, WINDOWS
from ricochet.tasks.training import search
from ricochet.tasks.training.search import Choice, Space

SEED = 1_000
"""Of the data; the study's are from 0 on."""
_EXACT = 400


def main(arguments: Sequence[str] | None = None) -> None:
    """Search, and print what was found as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--row", choices=tuple(SETTINGS), action="append")
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args(arguments)
    use_one_thread()
    for row in given.row or SETTINGS:
        place = given.folder / row
        place.mkdir(parents=True, exist_ok=True)
        with bar(row) as progress:
            space = space_of(row, given.seconds)
            best = search.search(space, place, trials=given.trials, seed=0, progress=progress)
        print(json.dumps({row: best.chosen, "divergence": best.value}), flush=True)  # noqa: T201


def space_of(row: str, seconds: float) -> Space:
    """Return what of a row is searched."""
    ranges = methods.METHODS[row.rsplit("-", 1)[0]].ranges

    def propose(trial: Trial) -> Choice:
        return {
            name: trial.suggest_float(name, low, high, log=True)
            for name, (low, high) in ranges.items()
        }

    return Space(f"{row} {seconds}", dict(SETTINGS[row]), propose, partial(_value, row, seconds))


def _value(row: str, seconds: float, chosen: Chosen, progress: Progress) -> float:
    """Return the divergence, or much where particles are repeated or nowhere."""
    at, (name, kind) = synthetic_rows.known(SEED), row.rsplit("-", 1)
    generator = np.random.default_rng([SEED, *row.encode()])
    exact = at.grid.draws(at.sigma, _EXACT, generator)
    budget = budgets.processor_time(seconds)
    found = methods.infer(name, at.problem(WINDOWS[kind]), budget, generator, chosen)
    progress(1, 1)
    try:
        return sample_distances.divergence(exact, found.numpy())
    except ValueError:
        return math.inf


if __name__ == "__main__":
    main()
