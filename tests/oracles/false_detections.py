"""False detections put into takes, and the evidence of a take by importance sampling.

Draws of the path and of the shared errors come from the normal law about the most likely ones, a
little wider; the mean weight is the integral over both. It is slow, and exact in the limit.
"""

from dataclasses import replace

import numpy as np

from ricochet.models.systems.bouncing_ball.chains import (
    false_bounces,
    laplace,
    least_squares,
    observations,
    parameters,
    preparation,
)
from ricochet.models.systems.bouncing_ball.chains.least_squares import FIRST
from ricochet.models.systems.bouncing_ball.chains.observations import Take
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior, Values

_WIDER = 1.15
_IMPOSSIBLE = 1e4  # half squares


def put(take: Take, time: float, place: np.ndarray) -> tuple[Take, int]:
    """Return a take with a false detection among its own, and its number."""
    number = int(np.searchsorted(take.times, time))
    near = min(number, len(take.times) - 1)
    columns = {name: getattr(take, name)[near] for name in ("distortion", "areas")}
    columns |= {"time_sd": take.time_sd[near], "place_sd": take.place_sd[near]}
    columns |= {"times": time, "places": place}
    put_in = {
        name: np.insert(getattr(take, name), number, value, axis=0)
        for name, value in columns.items()
    }
    return replace(take, **put_in), number


def anywhere(take: Take, draw: np.random.Generator) -> tuple[Take, int]:
    """Put a false detection anywhere between the first bounce and the last."""
    return put(take, draw.uniform(*take.times[[0, -1]]), draw.uniform(-0.5, 0.5, 2))


def log_evidence(
    take: Take, prior: Prior, point: np.ndarray, *, draws: int, seed: int
) -> tuple[float, float]:
    """Return the log likelihood of a take with its own shared errors, and its standard error.

    It is none where no path of a ball is near to what was detected.
    """
    values = parameters.values(point[None])
    with np.errstate(all="ignore"):
        groups, paths = preparation.prepare(observations.grouped([take]), prior.law, values)
        paths = laplace.evidence(groups, values, paths).paths
    path, shared = paths.takes[0], paths.shared
    here = least_squares.problem(groups[0], path, shared, values)
    rows = np.concatenate((here.by_path, here.by_shared), -1)[0, 0]
    size, errors = rows.shape[1], shared.shape[-1]
    if here.half_squares[0, 0] > _IMPOSSIBLE:
        return -np.inf, 0.0
    known = np.diag(np.append(np.zeros(size - errors), np.ones(errors)))
    factor = np.linalg.cholesky(rows.T @ rows + known)
    normal = np.random.default_rng(seed).standard_normal((draws, size))
    away = _WIDER * np.linalg.solve(factor.T, normal.T).T
    tried = path + away[:, None, : size - errors]
    off = shared + away[:, None, size - errors :]
    many = Values(**{name: np.repeat(value, draws) for name, value in vars(values).items()})
    found = least_squares.problem(groups[0], tried, off, many)
    density = found.factor[:, 0] - found.half_squares[:, 0] - 0.5 * (off[:, 0] ** 2).sum(-1)
    drawn = -0.5 * (normal**2).sum(-1) - 0.5 * (size - errors) * np.log(2.0 * np.pi)
    drawn = drawn + np.log(np.diag(factor)).sum() - size * np.log(_WIDER)
    rises = (tried[:, 0, FIRST + 2 :: 3] > 0.0).all(-1)
    weights = np.where(rises, density - drawn, -np.inf)
    ratio = np.exp(weights - weights.max())
    error = ratio.std() / ratio.mean() / np.sqrt(draws)
    return float(weights.max() + np.log(ratio.mean())), float(error)


def enumerated(
    take: Take, prior: Prior, point: np.ndarray, *, draws: int = 2000
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of each set of false detections, and the errors of the logs."""
    sets = false_bounces.sets_of(take)
    found = [
        log_evidence(false_bounces.without(take, false), prior, point, draws=draws, seed=number)
        for number, false in enumerate(sets)
    ]
    prior_logs = [false_bounces.log_prior(take, false) for false in sets]
    logs = np.array([log for log, _ in found]) + prior_logs
    shares = np.exp(logs - logs.max())
    return shares / shares.sum(), np.array([error for _, error in found])
