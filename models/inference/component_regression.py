"""Principal component regression: linear on the largest components of the inputs.

With X the centred inputs of the training cases and X = U S V^T, the inputs are projected on the
first columns of V and the outputs regressed on them by least squares, with a constant.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray


@dataclass(frozen=True)
class ComponentRegression:
    """A fitted regression.

    Attributes:
        centre: Mean of the inputs.
        components: Orthonormal, the largest first.
        eigenvalues: Of the inputs' covariance, all of them.
        weights: Of the components.
        constant: Mean of the outputs.
    """

    centre: Float[ndarray, " input"]
    components: Float[ndarray, "component input"]
    eigenvalues: Float[ndarray, " input"]
    weights: Float[ndarray, " component"]
    constant: float


def fit(
    inputs: Float[ndarray, "case input"], outputs: Float[ndarray, " case"], components: int
) -> ComponentRegression:
    """Fit a regression on so many components, or on all where inputs have fewer.

    >>> x = np.random.default_rng(0).standard_normal((50, 3))
    >>> fitted = fit(x, x @ np.array([1.0, 2.0, 3.0]) + 4.0, components=3)
    >>> bool(np.allclose(predict(fitted, np.eye(3)), [5.0, 6.0, 7.0]))
    True
    """
    centre, constant = inputs.mean(0), float(outputs.mean())
    values, vectors = np.linalg.eigh(np.cov(inputs.T, bias=True).reshape(2 * (inputs.shape[1],)))
    order = np.argsort(-values)
    kept = vectors[:, order[:components]].T
    projected = (inputs - centre) @ kept.T
    weights, *_ = np.linalg.lstsq(projected, outputs - constant, rcond=None)
    return ComponentRegression(centre, kept, np.maximum(values[order], 0.0), weights, constant)


def predict(
    fitted: ComponentRegression, inputs: Float[ndarray, "case input"]
) -> Float[ndarray, " case"]:
    """Return the predicted outputs.

    >>> one = ComponentRegression(np.zeros(1), np.eye(1), np.ones(1), np.array([2.0]), 1.0)
    >>> predict(one, np.array([[3.0]]))
    array([7.])
    """
    projected = (inputs - fitted.centre) @ fitted.components.T
    return np.asarray(projected @ fitted.weights + fitted.constant)
