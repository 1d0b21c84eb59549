"""Ranks of the truth among posterior draws, for any quantity that both have.

Given the data, the truth and draws of the right posterior are exchangeable. So is T(truth) among
T(draws) for every quantity T, whether it depends on the data or on all of them alike, and its rank
is uniform (Talts et al. 2018; Modrak et al. 2023, Bayesian Analysis, "Simulation-based calibration
checking: the choice of test quantities shapes sensitivity"):

    joint       (theta - m)' C^-1 (theta - m),  m and C of the truth and its draws together
    new data    y of a simulator at theta, so that what matters for predictions is what is judged
    fit         sum_j ((y_j - data_j) / s_j)^2, s_j of the truth and its draws together; it alone
                refuses a posterior that did not look at the data, such as the prior

Quantities that come in steps have ties, which are broken by lot.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

_LEAST = 1e-12  # of a variance, relative, that is one
_NUMBERS = 2**20  # of clouds or of their covariances, at a time


def ranks(
    of_draws: Float[ndarray, " case draw *quantity"],
    of_truth: Float[ndarray, " case *quantity"],
    *,
    draw: np.random.Generator,
) -> Float[ndarray, " case *quantity"]:
    """Return the rank of the truth's quantity, in [0, 1], anywhere in its cell.

    >>> found = ranks(np.zeros((1, 3)), np.zeros(1), draw=np.random.default_rng(0))
    >>> bool(0.0 < found[0] < 1.0)  # all are tied: anywhere
    True
    """
    below = (of_draws < of_truth[:, None]).sum(1)
    tied = (of_draws == of_truth[:, None]).sum(1)
    place = below + (tied + 1) * draw.random(below.shape)
    return np.asarray(place / (of_draws.shape[1] + 1))


def joint_distance(
    draws: Float[ndarray, "case draw parameter"], truth: Float[ndarray, "case parameter"]
) -> tuple[Float[ndarray, "case draw"], Float[ndarray, " case"]]:
    """Return the squared distances of draws and truth from their middle, in their covariance.

    The truth is a point of the cloud like any draw, so that its rank is exactly uniform.

    >>> of_draws, of_truth = joint_distance(np.array([[[-1.0], [0.0], [1.0]]]), np.array([[0.0]]))
    >>> of_draws.tolist(), of_truth.tolist()
    ([[2.0, 0.0, 2.0]], [0.0])
    """
    block = max(1, _NUMBERS // (draws.shape[2] * max(draws.shape[1:])))
    found = [
        _joint_distance(np.concatenate((truth[at : at + block, None], draws[at : at + block]), 1))
        for at in range(0, max(1, len(draws)), block)
    ]
    distance = np.concatenate(found)
    return distance[:, 1:], distance[:, 0]


def _joint_distance(
    together: Float[ndarray, "case point parameter"],
) -> Float[ndarray, "case point"]:
    centred = together - together.mean(1, keepdims=True)
    covariance = np.einsum("csi,csj->cij", centred, centred) / together.shape[1]
    scale = np.trace(covariance, axis1=1, axis2=2)[:, None, None]
    ridge = _LEAST * np.maximum(scale, _LEAST) * np.eye(together.shape[2])
    solved = np.linalg.solve(covariance + ridge, np.swapaxes(centred, 1, 2))
    return np.asarray((centred * np.swapaxes(solved, 1, 2)).sum(-1).round(9))


def misfit(
    of_draws: Float[ndarray, "case draw value"],
    of_truth: Float[ndarray, "case value"],
    data: Float[ndarray, "case value"],
) -> tuple[Float[ndarray, "case draw"], Float[ndarray, " case"]]:
    """Return how far new data at the draws and at the truth are from the data, in their spread.

    >>> misfit(np.array([[[1.0], [3.0]]]), np.array([[2.0]]), np.array([[2.0]]))[1].tolist()
    [0.0]
    """
    together = np.concatenate((of_truth[:, None], of_draws), 1)
    spread = together.std(1, keepdims=True)
    away = (together - data[:, None]) / np.where(spread > 0.0, spread, 1.0)
    distance = (away**2).sum(-1)
    return distance[:, 1:], distance[:, 0]
