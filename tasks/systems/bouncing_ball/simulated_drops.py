"""A data set of simulated drops: parameters from the prior, features through measurement noise."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from ricochet.models.systems.bouncing_ball import problem
from ricochet.tasks.storage.files import write_arrays, write_json
from ricochet.tasks.systems.bouncing_ball.settings import Simulate

DATA = "drops.npz"


def run(settings: Simulate, folder: Path, *, seed: int) -> dict[str, Any]:
    """Simulate drops and write them; `BadInput` if the place cannot be written."""
    draw = torch.Generator().manual_seed(seed)
    noise = problem.constant_noise(
        (settings.drops,), time_sd=settings.time_sd, position_sd=settings.position_sd
    )
    release = problem.constant_release((settings.drops,))
    drops = problem.simulate_drops(noise, release, draw=draw)
    names = ("ratio", "first_distance", "second_distance", "turn")
    features = np.stack([getattr(drops.features, name).numpy() for name in names], axis=-1)
    write_arrays(folder / DATA, {"theta": drops.theta.numpy(), "features": features})
    result = {
        "schema": "ricochet.simulation/1",
        "data": DATA,
        "drops": settings.drops,
        "parameters": list(problem.PARAMETERS),
        "features": list(names),
        "drop_height": problem.REFERENCE_HEIGHT,
        "noise": {"time_s": settings.time_sd, "position_m": settings.position_sd},
        "seed": seed,
    }
    write_json(folder / "result.json", result)
    return result
