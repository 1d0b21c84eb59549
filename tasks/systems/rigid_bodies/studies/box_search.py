"""Searches the settings of the methods on a simulated box, for the study of the shaken one.

Run by `python -m ricochet.tasks.systems.rigid_bodies.studies.box_search FOLDER [--row NAME]
--trials 6 --seconds 5`. The box is the study's but moves as the equations say, which methods are
told, by both motions, seen with noise, with other weights; the value is the mean log p_obs of a
further motion, with another sign. No recording of the twin is looked at. Besides what methods can
set, each one's sigma is searched.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.systems.rigid_bodies import box_parameters, box_shooting, shaking
from ricochet.models.systems.rigid_bodies.box_parameters import WEIGHTS_HIGH, WEIGHTS_LOW
from ricochet.tasks.systems.rigid_bodies.studies import (
    box_judge,
    box_placements,
    box_rows,
    settings_search,
)
from ricochet.tasks.systems.rigid_bodies.studies.box_judge import SIGMA as ANGLE
from ricochet.tasks.systems.rigid_bodies.studies.box_placements import MOTIONS, RATE, Placement
from ricochet.tasks.systems.rigid_bodies.studies.box_rows import BEGUN, SIGMA
from ricochet.tasks.systems.rigid_bodies.studies.methods import Chosen

SIGMAS = (0.003, 0.3)
"""Range of sigma, over the states' deviations."""
_SEED = 85_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Search, and print what was found as JSON."""
    settings_search.main(arguments, __doc__, BEGUN, value, {SIGMA: SIGMAS})


def value(row: str, seconds: float, chosen: Chosen) -> float:
    """Return minus the mean log p_obs of both motions."""
    found = []
    for motion in MOTIONS:
        at, numbers = simulated(motion)
        draw = np.random.default_rng([_SEED, *row.encode()])
        law = box_rows.by_density(row, at, numbers, seconds, draw, chosen)
        found.append(box_judge.log_p_obs(law, at, draw))
    return -float(np.mean(found))


@lru_cache(maxsize=2)
def simulated(motion: str) -> tuple[Placement, Float[Tensor, " 11"]]:
    """Return a placement that moves as the equations say, and the numbers of its empty box."""
    draw = np.random.default_rng([_SEED, *motion.encode()])
    truth, places = box_placements.TRUTH, draw.uniform(WEIGHTS_LOW, WEIGHTS_HIGH)
    theta = torch.tensor((*truth.inertia, *truth.centre, *truth.friction)).double()
    empty = box_parameters.of_empty(theta)
    loaded = box_parameters.with_weights(empty, torch.from_numpy(places))
    joints, further = box_placements.joints_of(motion), shaking.in_turn(**box_placements.HELD_OUT)
    recorded = [
        _seen(numbers, arm, draw)
        for numbers, arm in ((empty, joints), (loaded, joints), (loaded, further))
    ]
    return Placement(places, joints, *recorded), empty


def _seen(
    numbers: Float[Tensor, " 11"], joints: Float[ndarray, "frame 7"], draw: np.random.Generator
) -> Float[ndarray, "frame 4"]:
    """Return angles with their errors, and rates as of a recording."""
    angles = box_shooting.from_rest(numbers[None], joints, RATE)[0, :, : box_shooting.SEEN].numpy()
    angles = angles + ANGLE * draw.normal(size=angles.shape)
    return np.concatenate((angles, box_shooting.slopes(angles, RATE)), 1)


if __name__ == "__main__":
    main()
