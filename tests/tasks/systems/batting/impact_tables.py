"""Files of simulated impacts, right ones and spoilt ones."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.core.progress import no_progress
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.batting import impact_files, infer_impacts
from ricochet.tasks.systems.batting.settings import LearntImpacts
from ricochet.tasks.systems.interface import InferenceRequest
from tests.models.systems.batting.tables import table

Spoil = Callable[[np.ndarray], np.ndarray]


def written(folder: Path, count: int = 120, seed: int = 0) -> Path:
    file = folder / "impacts.csv"
    impact_files.write(file, table(seed, count))
    return file


def cells(file: Path) -> np.ndarray:
    return np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)


def rewritten(file: Path, values: np.ndarray) -> Path:
    rows = [",".join(map(repr, map(float, row))) for row in values]
    file.write_text("\n".join([",".join(impact_files.COLUMNS), *rows]))
    return file


def spoilt(folder: Path, changes: Mapping[str, Spoil], count: int = 120) -> Path:
    """Write a table of which some columns are changed."""
    file = written(folder, count)
    values = cells(file)
    for name, change in changes.items():
        place = impact_files.COLUMNS.index(name)
        values[:, place] = change(values[:, place])
    return rewritten(file, values)


def result_of(
    file: Path, out: Path, *, hold_out: float = 0.5, seed: int = 0, name: str = "unregistered"
) -> dict[str, Any]:
    settings = catalogue.load_settings().changed(LearntImpacts, particles=200)
    request = InferenceRequest(
        files=(file,),
        rate=None,
        predicted=(),
        settings=settings,
        out=out,
        seed=seed,
        progress=no_progress,
        numbers={"hold_out": hold_out},
        name=name,
    )
    return infer_impacts.run(request)
