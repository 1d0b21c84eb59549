"""Small packages of batting."""

from pathlib import Path

import numpy as np

from ricochet.models.systems.batting.belief.localiser import FilterSettings
from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.shapes import seven_shapes
from ricochet.models.systems.batting.table import Table
from ricochet.tasks.registry.packages import Package, read_package
from ricochet.tasks.systems.batting import packages
from ricochet.tasks.systems.batting.packages import Batter

SMALL = FilterSettings(draws=2000, early=1000, particles=1000)


def batter(seed: int = 0, settings: FilterSettings = SMALL) -> Batter:
    draw = np.random.default_rng(seed)
    scale = np.array((0.01, 0.05, 0.02, 0.004, 0.005))
    theta = np.array((0.87, 0.3, 0.45, 0.05, 0.07)) + scale * draw.uniform(-1.0, 1.0, (400, 5))
    mean, noise = theta[:, :3].mean(0), 1.2 * np.sqrt((theta[:, 3:] ** 2).mean(0))
    law = Law(*map(float, mean), 0.0, *map(float, noise))
    return Batter(seven_shapes(), Table(), theta, law, settings)


def written(folder: Path, made: Batter | None = None, key: str = "0" * 64) -> Path:
    packages.write(
        made or batter(),
        folder,
        name="batting-board",
        checks={"held_out": None, "misfit": []},
        key=key,
        git_commit="unknown",
        settings={"hold_out": 0.5, "particles": 100, "friction_limit": 2.0},
    )
    return folder


def package(folder: Path) -> Package:
    return read_package(written(folder), reader=packages.READER)
