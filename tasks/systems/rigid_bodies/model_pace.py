"""Whether a model's steps are short where a recording has it, before a fit takes millions there."""

import time
from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.rigid_bodies.model_compiling import LONGEST

PLACES, TRIED = 50, 1.0
"""Frames of a recording from which a step is taken, and s of processor time that all may take."""


def check(
    file: Path, model: mujoco.MjModel, motions: Sequence[Float[ndarray, "frame state"]]
) -> None:
    """Refuse a model whose steps from recorded states take longer than `LONGEST` each.

    It has been moved apart (`model_compiling`), but may touch other things where it was recorded.

    Args:
        motions: Positions and rates of its joints, rad or m and these per second.

    Raises:
        BadInput: So it is.
    """
    states = np.concatenate([each[:: max(1, len(each) // PLACES)] for each in motions])
    data, taken, count = mujoco.MjData(model), 0.0, 0
    for state in states:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = np.split(state, [model.nq])
        begun = time.process_time()
        mujoco.mj_step(model, data)
        taken, count = taken + time.process_time() - begun, count + 1
        if taken > TRIED:
            break
    if (each := taken / max(1, count)) > LONGEST:
        expected = f"at most {LONGEST:g} s of processor time"
        raise BadInput(str(file), f"steps of {each:.2g} s where it was recorded", expected)
