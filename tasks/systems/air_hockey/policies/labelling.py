"""What comes of every angle of every puck: chunks of shots, each a job of its own.

The chunks are those of `objective.evaluate`, so that the outcomes are its very bits.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from jaxtyping import Float

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import CHUNK, Conditions, Shots
from ricochet.tasks.console.jobs import run_all

Chunk = tuple[Float[np.ndarray, "shot 6"], Float[np.ndarray, " shot"]]


def exhaustive(
    conditions: Conditions,
    states: Float[np.ndarray, "state 6"],
    angles: Float[np.ndarray, "state angle"],
    progress: Progress = no_progress,
) -> Shots:
    """Roll out every angle of every state, wherever the run was sent; progress counts shots."""
    number = np.arange(angles.size) // max(angles.shape[1], 1)
    cuts = [slice(begin, begin + CHUNK) for begin in range(0, max(angles.size, 1), CHUNK)]
    jobs = [(states[number[cut]], angles.reshape(-1)[cut]) for cut in cuts]
    parts = run_all(
        partial(_outcomes, conditions), jobs, here=True, progress=_shots(progress, angles.size)
    )
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return Shots(*(np.concatenate(column).reshape(angles.shape) for column in columns))


def _outcomes(conditions: Conditions, chunk: Chunk) -> Shots:
    return objective.evaluate(conditions, *chunk)


def _shots(progress: Progress, total: int) -> Callable[[int, int], None]:
    """Count shots where chunks are reported."""
    return lambda done, _: progress(min(done * CHUNK, total), total)
