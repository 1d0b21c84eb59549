"""Small recordings for tests."""

from pathlib import Path

import numpy as np

from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.systems.air_hockey.recordings import puck_episodes
from ricochet.tasks.systems.air_hockey.recordings.episode_checks import Episode
from tests.oracles import hockey_records

NOISE = 1e-3


def episodes(count: int, seed: int = 0, steps: int = 50) -> list[Episode]:
    """Episodes whose law is known, seen to a millimetre."""
    draw = np.random.default_rng(seed)
    record = hockey_records.record(count, draw, steps)
    table = Table()
    puck = record.puck + NOISE * draw.standard_normal(record.puck.shape)
    mallet = record.mallet + NOISE * draw.standard_normal(record.mallet.shape)
    off = (np.abs(mallet) > (table.half_length, table.half_width)).any(-1)
    mallet[off] = np.nan  # the oracle's glides on through the rims
    return [Episode(0.02 * np.arange(steps), *each) for each in zip(puck, mallet, strict=True)]


def written(folder: Path, count: int = 12, seed: int = 0) -> Path:
    """Write a recording; return its folder."""
    puck_episodes.write(folder, episodes(count, seed), table=Table())
    return folder
