"""The likelihood of chains by importance sampling over their paths: slow, and exact in the limit.

Draws come from the normal law about the most likely path, a little wider; the mean weight is the
integral. Shared errors are kept at their most likely values.
"""

import numpy as np

from ricochet.models.systems.bouncing_ball.chains import laplace, least_squares
from ricochet.models.systems.bouncing_ball.chains.least_squares import FIRST, Group
from ricochet.models.systems.bouncing_ball.chains.parameters import Values
from ricochet.models.systems.bouncing_ball.chains.paths import Paths

_WIDER = 1.15


def log_likelihood(
    group: Group, values: Values, paths: Paths, *, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the log likelihood of each take at the first point, and its standard error."""
    path = paths.takes[0][:1]
    shared = paths.shared[:1, group.chains.session]
    here = least_squares.problem(group, path, shared, values)
    factor = np.linalg.cholesky(here.by_path.swapaxes(-1, -2) @ here.by_path)[0]
    draw = np.random.default_rng(seed)
    normal = draw.standard_normal((draws, *path.shape[1:], 1))
    away = np.linalg.solve(factor.swapaxes(-1, -2), normal)[..., 0]
    tried = path + _WIDER * away
    many = Values(**{name: np.repeat(value, draws) for name, value in vars(values).items()})
    found = least_squares.problem(group, tried, np.repeat(shared, draws, 0), many)
    size = path.shape[-1]
    diagonal = np.diagonal(factor, axis1=-2, axis2=-1)
    drawn = -0.5 * (normal[..., 0] ** 2).sum(-1) - 0.5 * size * np.log(2.0 * np.pi)
    drawn = drawn + np.log(diagonal).sum(-1) - size * np.log(_WIDER)
    rises = (tried[..., FIRST + 2 :: 3] > 0.0).all(-1)
    weights = np.where(rises, found.factor - found.half_squares - drawn, -np.inf)
    top = weights.max(0)
    ratio = np.exp(weights - top)
    error = ratio.std(0) / ratio.mean(0) / np.sqrt(draws)
    return top + np.log(ratio.mean(0)), error


def of_takes(
    groups: tuple[Group, ...], values: Values, paths: Paths, *, draws: int = 4000
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Laplace's value, that of importance sampling and its error, for one group's takes."""
    (group,) = groups
    found = laplace.evidence(groups, values, paths)
    slow, error = log_likelihood(group, values, found.paths, draws=draws, seed=1)
    return found.takes[0][0], slow, error
