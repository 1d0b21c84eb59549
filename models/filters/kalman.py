"""Kalman filter: a Gaussian belief N(m, P) about a state x that moves and is observed linearly.

    predict    x' = F x + b + w,  w ~ N(0, Q):     m' = F m + b,       P' = F P F^T + Q
    update     y = H x + v,       v ~ N(0, R):     S = H P H^T + R,    K = P H^T S^-1,
                                                   m' = m + K (y - H m),    P' = P - K H P

with y ~ N(H m, S) before it is observed. Beliefs may be batched; F, H, Q and R broadcast.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray


@dataclass(frozen=True)
class Updated:
    """A belief after an observation, and how well the observation had been predicted.

    Attributes:
        mean: m', in the units of the state.
        squared_distance: (y - H m)^T S^-1 (y - H m), chi-squared with m degrees of freedom.
        log_density: Log of N(y; H m, S), per unit of the observation.
    """

    mean: Float[ndarray, "*batch n"]
    covariance: Float[ndarray, "*batch n n"]
    squared_distance: Float[ndarray, "*batch"]
    log_density: Float[ndarray, "*batch"]


def predict(
    mean: Float[ndarray, "*batch n"],
    covariance: Float[ndarray, "*batch n n"],
    *,
    transition: Float[ndarray, "*#batch n n"],
    noise: Float[ndarray, "*#batch n n"],
    offset: Float[ndarray, "*#batch n"] | float = 0.0,
) -> tuple[Float[ndarray, "*batch n"], Float[ndarray, "*batch n n"]]:
    """Return mean and covariance after one step of the state.

    Args:
        transition, noise, offset: F, Q and b.

    >>> predict(np.array([1.0]), np.eye(1), transition=2.0 * np.eye(1), noise=np.eye(1))
    (array([2.]), array([[5.]]))
    """
    moved = (transition @ mean[..., None])[..., 0] + offset
    return moved, transition @ covariance @ np.swapaxes(transition, -1, -2) + noise


def white_acceleration(duration: float) -> Float[ndarray, "2 2"]:
    """Return the covariance by which a place and its rate scatter in a time, of unit acceleration.

    The acceleration is white: (place, rate) with F = [[1, T], [0, 1]] and this as Q.

    >>> white_acceleration(1.0)[1].tolist()
    [0.5, 1.0]

    Args:
        duration: T, s.
    """
    half = 0.5 * duration**2
    return np.array([[duration**3 / 3.0, half], [half, duration]])


def update(
    mean: Float[ndarray, "*batch n"],
    covariance: Float[ndarray, "*batch n n"],
    observed: Float[ndarray, "*#batch m"],
    *,
    observation: Float[ndarray, "m n"],
    noise: Float[ndarray, "*#batch m m"],
) -> Updated:
    """Condition a belief about the state x on one observation y.

    Args:
        observation: H, observation units per state unit.
        noise: R; H P H^T + R must be positive definite.

    >>> update(
    ...     np.zeros(1), np.eye(1), np.ones(1), observation=np.eye(1), noise=np.eye(1)
    ... ).mean
    array([0.5])
    """
    transposed = np.ascontiguousarray(observation.T)  # a view makes the products twice as slow
    cross = covariance @ transposed
    inverse, determinant = _inverse(observation @ cross + noise)
    residual = (observed - mean @ transposed)[..., None]
    gain = cross @ inverse
    squared = (np.swapaxes(residual, -1, -2) @ inverse @ residual)[..., 0, 0]
    return Updated(
        mean + (gain @ residual)[..., 0],
        covariance - gain @ (observation @ covariance),
        np.asarray(squared),
        np.asarray(
            -0.5 * (squared + np.log(determinant))
            - 0.5 * len(observation) * math.log(2.0 * math.pi)
        ),
    )


def _inverse(
    matrix: Float[ndarray, "*batch m m"],
) -> tuple[Float[ndarray, "*batch m m"], Float[ndarray, "*batch"]]:
    """Inverse and determinant; of two rows in closed form, a third of LAPACK's time in batches."""
    if matrix.shape[-1] != 2:
        return np.linalg.inv(matrix), np.asarray(np.linalg.det(matrix))
    a, b, d = matrix[..., 0, 0], matrix[..., 0, 1], matrix[..., 1, 1]
    determinant = a * d - b * b
    inverse = np.empty_like(matrix)
    inverse[..., 0, 0], inverse[..., 1, 1] = d, a
    inverse[..., 0, 1] = inverse[..., 1, 0] = -b
    inverse /= determinant[..., None, None]
    return inverse, np.asarray(determinant)
