"""What searches of the methods' settings have in common: all methods are searched alike.

Each has as many trials, within the same processor time each, and the same value. Journals are kept
in a folder: a search that was stopped goes on.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from optuna.trial import Trial

from ricochet.models.core.progress import Progress
from ricochet.tasks.console.progress import bar
from ricochet.tasks.console.threads import use_one_thread
from ricochet.tasks.systems.rigid_bodies.studies import methods
from ricochet.tasks.systems.rigid_bodies.studies.methods import Chosen
from ricochet.tasks.training import search
from ricochet.tasks.training.search import Choice, Space

Value = Callable[[str, float, Chosen], float]
"""Of a row, of seconds of processor time and settings; less is better."""
Ranges = Mapping[str, tuple[float, float]]


def main(
    arguments: Sequence[str] | None,
    description: str | None,
    settings: Mapping[str, Chosen],
    value: Value,
    further: Ranges | None = None,
) -> None:
    """Search, and print what was found as JSON, a line a row.

    Args:
        settings: Of each row, to begin with.
        further: Ranges that all rows have besides their methods' own.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--row", choices=tuple(settings), action="append")
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args(arguments)
    use_one_thread()
    for row in given.row or settings:
        place = given.folder / row
        place.mkdir(parents=True, exist_ok=True)
        with bar(row) as progress:
            space = space_of(row, given.seconds, settings[row], value, further or {})
            best = search.search(space, place, trials=given.trials, seed=0, progress=progress)
        print(json.dumps({row: best.chosen, "value": best.value}), flush=True)  # noqa: T201


def space_of(row: str, seconds: float, settings: Chosen, value: Value, further: Ranges) -> Space:
    """Return what of a row is searched."""
    ranges = {**methods.METHODS[row.rsplit("-", 1)[0]].ranges, **further}

    def propose(trial: Trial) -> Choice:
        return {
            name: trial.suggest_float(name, low, high, log=True)
            for name, (low, high) in ranges.items()
        }

    return Space(f"{row} {seconds}", dict(settings), propose, partial(_value, value, row, seconds))


def _value(value: Value, row: str, seconds: float, chosen: Chosen, progress: Progress) -> float:
    found = value(row, seconds, chosen)
    progress(1, 1)
    return found
