"""Whether a model's steps are short where a fit takes millions of them.

It has been moved apart as its file has it (`model_compiling`), but may touch other things where it
was recorded, or where parameters within their limits place it: steps are tried from recorded states
as the file has it, then at corners of the limits and at values spread evenly between them, a row
of a Latin hypercube each. What was not tried the fit comes to: there its pace is watched.
"""

import contextlib
import copy
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import mujoco
import numpy as np
from jaxtyping import Float
from numpy import ndarray
from torch import from_numpy

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference.limits import Shares
from ricochet.models.systems.rigid_bodies import mujoco_calls, mujoco_parameters
from ricochet.tasks.systems.rigid_bodies.model_compiling import LONGEST
from ricochet.tasks.systems.rigid_bodies.model_parameters import Unknown

PLACES, TRIED = 50, 1.0
"""Frames of a recording from which steps are taken, and s of processor time that all may take."""
CORNERS, SPREAD = 100, 1000
"""Values of the parameters at which steps are tried."""
STATES = 3
"""Recorded ones from which a step is taken at each."""
AGAIN, HELD_UP = 2, 0.1
"""Times that long steps are taken anew, and s up to which something else may have held them up."""
_EXPECTED = f"at most {LONGEST:g} s of processor time"


def check(
    file: Path, model: mujoco.MjModel, motions: Sequence[Float[ndarray, "frame state"]]
) -> None:
    """Refuse a model whose steps from recorded states take longer than `LONGEST` each.

    Args:
        motions: Positions and rates of its joints, rad or m and these per second.

    Raises:
        BadInput: So it is, or MuJoCo cannot take them.
    """
    where = "where it was recorded"
    with _refused(file, where):
        each = _pace(model, mujoco.MjData(model), _states(motions))
    if each > LONGEST:
        raise BadInput(str(file), f"steps of {each:.2g} s {where}", _EXPECTED)


def check_parameters(
    file: Path,
    model: mujoco.MjModel,
    unknown: Unknown,
    motions: Sequence[Float[ndarray, "frame state"]],
    draw: np.random.Generator,
) -> None:
    """Refuse limits within which steps from recorded states take longer than `LONGEST` each.

    Args:
        file: Of the parameters.
        motions: As `check` takes them.

    Raises:
        BadInput: So it is at some values that were tried, or MuJoCo cannot take steps there.
    """
    moved, states, begun = copy.copy(model), _states(motions), time.process_time()
    data = mujoco.MjData(moved)
    for theta in _values(unknown, draw):
        values = zip(unknown.names, theta, strict=True)
        where = f"at {', '.join(f'{name} {value:.4g}' for name, value in values)}"[:300]
        with _refused(file, where):
            mujoco_parameters.assign(moved, data, unknown.places, theta)
            each = _least_pace(moved, data, states[draw.integers(len(states), size=STATES)])
        if each > LONGEST:
            expected = f"narrower limits, {_EXPECTED}"
            raise BadInput(str(file), f"steps of {each:.2g} s {where}", expected)
        if time.process_time() - begun > TRIED:
            return


@contextlib.contextmanager
def watched(file: Path) -> Iterator[None]:
    """Refuse a model of which a fit shows in the block what `check` refuses.

    Raises:
        BadInput: So it does.
    """
    where = "in the fit"
    with _refused(file, where):
        try:
            yield
        except mujoco_calls.LongStepsError as error:
            raise BadInput(str(file), f"{error} {where}", _EXPECTED) from error


def _states(motions: Sequence[Float[ndarray, "frame state"]]) -> Float[ndarray, "place state"]:
    return np.concatenate([each[:: max(1, len(each) // PLACES)] for each in motions])


def _values(unknown: Unknown, draw: np.random.Generator) -> Float[ndarray, "value parameter"]:
    """Return values of the parameters at corners of their limits, then between them."""
    size = len(unknown.names)
    corners = draw.integers(2, size=(CORNERS, size)).astype(float)
    rows = draw.permuted(np.tile(np.arange(SPREAD)[:, None], (1, size)), axis=0)
    shares = np.concatenate((corners, (rows + draw.random((SPREAD, size))) / SPREAD))
    return Shares(unknown.limits, unknown.logarithmic).parameters(from_numpy(shares)).numpy()


def _pace(
    model: mujoco.MjModel, data: mujoco.MjData, states: Float[ndarray, "place state"]
) -> float:
    """Return the processor time of a step from some states, s, as far as time allows."""
    taken, count = 0.0, 0
    for state in states:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = np.split(state, [model.nq])
        begun = time.process_time()
        mujoco.mj_step(model, data)
        taken, count = taken + time.process_time() - begun, count + 1
        if taken > TRIED:
            break
    return taken / max(1, count)


def _least_pace(
    model: mujoco.MjModel, data: mujoco.MjData, states: Float[ndarray, "place state"]
) -> float:
    """Return the same, the least of several where the first is too long."""
    found = _pace(model, data, states)
    for _ in range(AGAIN):
        if LONGEST < found < HELD_UP:
            found = min(found, _pace(model, data, states))
    return found


@contextlib.contextmanager
def _refused(file: Path, where: str) -> Iterator[None]:
    """Refuse what MuJoCo cannot move."""
    try:
        with mujoco_calls.silent():
            yield
    except mujoco.FatalError as error:
        said = " ".join(str(error).split())[:200]
        raise BadInput(str(file), f"{said} {where}", "steps that MuJoCo can take") from error
