"""Controllers from packages: a folder, or a name in the registry.

    agent = agents.load("batting-board")                  # the champion of the registry
    agent = agents.load("artifacts/train/batting/package")
    agent.see(time, np.array([lower, upper]), angle)      # at 20 Hz: s, m on the screen, rad
    angle = agent.target(time + 0.02)                     # at 50 Hz: where the bat should be, rad

Numpy is needed, and numba to keep up: without it the same functions run as plain Python,
far too slowly for the camera. A name asks MLflow too.
"""

from pathlib import Path

import numpy as np

from ricochet.models.systems.batting.agent import Agent
from ricochet.tasks.registry import by_source
from ricochet.tasks.registry.aliases import CHAMPION
from ricochet.tasks.registry.signatures import Key
from ricochet.tasks.systems.batting import packages
from ricochet.tasks.systems.batting.kinds import BATTER
from ricochet.tasks.systems.batting.packages import Batter
from ricochet.tasks.systems.batting.studies import rows

OURS, REFERENCE = "ours", "B"
"""Rows of Table I by which an agent may plan."""
LONGEST = 3600.0
"""Of a trial, s."""


def make(batter: Batter, *, seed: int = 0, row: str = OURS) -> Agent:
    """Make a controller.

    Args:
        batter: What it knows.
        seed: Of its random numbers.
        row: Of `studies.rows`, how it plans.
    """
    draw = np.random.default_rng(seed)
    policy = rows.policy(row, known=False, seconds=LONGEST)
    return Agent(policy, batter.settings, batter.world(draw), draw)


def load(
    source: str | Path, *, alias: str = CHAMPION, seed: int = 0, key: Key | None = None
) -> Agent:
    """Make a controller from a package folder or a name in the registry.

    Args:
        source: Folder that holds `batting.json`, or `batting-<set>`.
        alias: In the registry.
        seed: Of its random numbers.
        key: By which it must be signed, as `signatures.demanded` says.

    Raises:
        BadInput: If there is no such package, or it is not whole, or not signed by the key.
    """
    package, where = by_source.load(source, BATTER, alias=alias, key=key)
    return make(packages.from_package(package, where=where), seed=seed)
