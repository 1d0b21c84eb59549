"""A data set of simulated drops: parameters from the prior, features through measurement noise.

Drops are made in pieces of `PIECE`, each a job with a seed of its own.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.bouncing_ball import problem
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.storage.files import write_arrays, write_json
from ricochet.tasks.systems.bouncing_ball.settings import Simulate

DATA = "drops.npz"
PIECE = 100_000
NAMES = ("ratio", "first_distance", "second_distance", "turn")

Arrays = dict[str, Float[ndarray, "drop column"]]


@dataclass(frozen=True)
class Piece:
    """Some of the drops, and the seed of their randomness."""

    settings: Simulate
    drops: int
    seed: int


def run(
    settings: Simulate, folder: Path, *, seed: int, progress: Progress = no_progress
) -> dict[str, Any]:
    """Simulate drops and write them; `BadInput` if the place cannot be written."""
    made = run_all(simulated, _pieces(settings, seed), here=True, progress=progress)
    whole = {name: np.concatenate([each[name] for each in made]) for name in ("theta", "features")}
    write_arrays(folder / DATA, whole)
    result = {
        "schema": "ricochet.simulation/1",
        "data": DATA,
        "drops": settings.drops,
        "parameters": list(problem.PARAMETERS),
        "features": list(NAMES),
        "drop_height": problem.REFERENCE_HEIGHT,
        "noise": {"time_s": settings.time_sd, "position_m": settings.position_sd},
        "seed": seed,
    }
    write_json(folder / "result.json", result)
    return result


def simulated(piece: Piece) -> Arrays:
    """Simulate the drops of a piece."""
    settings, draw = piece.settings, torch.Generator().manual_seed(piece.seed)
    noise = problem.constant_noise(
        (piece.drops,), time_sd=settings.time_sd, position_sd=settings.position_sd
    )
    drops = problem.simulate_drops(noise, problem.constant_release((piece.drops,)), draw=draw)
    features = np.stack([getattr(drops.features, name).numpy() for name in NAMES], axis=-1)
    return {"theta": drops.theta.numpy(), "features": features}


def _pieces(settings: Simulate, seed: int) -> list[Piece]:
    """Cut a data set; its first piece has the seed that is asked for."""
    begins = range(0, settings.drops, PIECE)
    further = np.random.SeedSequence(seed % 2**64).generate_state(
        len(begins), np.uint64
    ) >> np.uint64(1)
    seeds = [seed, *(int(each) for each in further[1:])]
    return [
        Piece(settings, min(PIECE, settings.drops - begin), own)
        for begin, own in zip(begins, seeds, strict=True)
    ]
