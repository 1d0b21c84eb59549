"""FILE.py: a simulator of anybody's, as one function.

    def simulate(theta, draw):      # theta: (parameter,) of numpy; draw: numpy.random.Generator
        return [...]                # new data at theta, always as many finite numbers

The file is the user's own program: it is run with all his rights, as `python FILE.py` would be, and
nothing guards the machine against it. All randomness must come from `draw`.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.validation.posterior_samples import MOST_NUMBERS, MOST_VALUES, Samples

FUNCTION = "simulate"
_EXPECTED = f"a Python file that defines {FUNCTION}(theta, draw)"

Simulate = Callable[[Float[ndarray, " parameter"], np.random.Generator], Float[ndarray, " value"]]


def load(path: Path) -> Simulate:
    """Run a file and return its simulator, whose answers are checked; `BadInput` if it has none."""
    specification = importlib.util.spec_from_file_location("user_simulator", path)
    if path.suffix != ".py" or not path.is_file() or specification is None:
        raise BadInput(str(path), "no such file", _EXPECTED)
    module = importlib.util.module_from_spec(specification)
    try:
        if specification.loader is not None:
            specification.loader.exec_module(module)
    except Exception as error:  # whatever the user's file may raise
        raise BadInput(str(path), f"{type(error).__name__}: {error}", _EXPECTED) from error
    function = getattr(module, FUNCTION, None)
    if not callable(function):
        raise BadInput(str(path), f"no function {FUNCTION}", _EXPECTED)
    return _checked(function, f"{path}: {FUNCTION}")


def _checked(function: Callable[..., Any], where: str) -> Simulate:
    """Return the function with its answers checked, all of the length of the first."""
    lengths: set[int] = set()

    def simulate(
        theta: Float[ndarray, " parameter"], draw: np.random.Generator
    ) -> Float[ndarray, " value"]:
        try:
            found = np.asarray(function(theta.copy(), draw), dtype=np.float64)
        except Exception as error:  # whatever the user's function may raise
            what = f"{type(error).__name__}: {error} at theta {theta.tolist()}"
            raise BadInput(where, what, "an array of numbers") from error
        lengths.add(found.size if found.ndim == 1 else 0)
        if len(lengths) > 1 or not 1 <= found.size <= MOST_VALUES:
            expected = f"always one axis of as many numbers, 1 to {MOST_VALUES}"
            raise BadInput(where, f"shape {found.shape}", expected)
        if not np.isfinite(found).all():
            raise BadInput(where, f"values {found.tolist()[:5]}", "finite numbers")
        return found

    return simulate


def new_data(
    samples: Samples,
    simulate: Simulate,
    *,
    replicates: int,
    draw: np.random.Generator,
    progress: Progress = no_progress,
) -> tuple[Float[ndarray, "case replicate value"], Float[ndarray, "case value"]]:
    """Simulate data at some draws of each case, evenly chosen, and at its truth.

    `BadInput` if they have another number of values than the data that the posteriors were given.
    """
    cases, count = samples.draws.shape[:2]
    chosen = np.linspace(0, count - 1, min(replicates, count)).round().astype(int)
    at_draws, at_truth = [], []
    for number in range(cases):
        at_truth.append(simulate(samples.truth[number], draw))
        given = len(at_truth[0]) if samples.data is None else samples.data.shape[1]
        if len(at_truth[0]) != given:
            raise BadInput(FUNCTION, f"{len(at_truth[0])} values", f"{given}, as data has")
        if (numbers := cases * len(chosen) * given) > MOST_NUMBERS:
            expected = f"at most {MOST_NUMBERS}: fewer --replicates, cases or values"
            raise BadInput(FUNCTION, f"{numbers} numbers of new data", expected)
        at_draws.append([simulate(theta, draw) for theta in samples.draws[number, chosen]])
        progress(number + 1, cases)
    return np.array(at_draws), np.array(at_truth)
