r"""A Gaussian whose mean is linear in what it is conditioned on.

    y | x ~ N(Theta x + theta, Sigma)                                                  (Eqs. 1-3)

fitted by conditioning the joint Gaussian of samples of (y, x):

    Theta = S_yx S_xx^-1,   theta = m_y - Theta m_x,   Sigma = S_yy - Theta S_yx^T,    (Eqs. 4-5)

of Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air Hockey".
Sigma is scaled here by N / (N - n - 1): with as few samples as there are contacts in a minute of
play, that of Eq. 5 is too small, because Theta was fitted to the same samples. Where row j of
sample i has noise u_ij w_ij with u known, its means are weighted by 1 / u_ij^2; Sigma is that of w.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray


@dataclass(frozen=True)
class LinearGaussian:
    """A conditional Gaussian.

    Attributes:
        matrix: Theta, units of y per unit of x.
        offset: theta, units of y.
        covariance: Sigma, squared units of y.
    """

    matrix: Float[ndarray, "m n"]
    offset: Float[ndarray, " m"]
    covariance: Float[ndarray, "m m"]


def fit(
    outputs: Float[ndarray, "sample m"],
    inputs: Float[ndarray, "sample n"],
    *,
    scale: Float[ndarray, "sample m"] | None = None,
    freedom: int | None = None,
) -> LinearGaussian:
    """Return y given x, fitted to samples (Eqs. 4-5).

    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = fit(5.0 + 2.0 * x, x)
    >>> model.matrix.round(9).tolist(), model.offset.round(9).tolist()
    ([[2.0]], [5.0])

    Args:
        outputs, inputs: y and x of each sample.
        scale: u, how large the noise of each sample and row is; 1 when absent.
        freedom: Independent samples less fitted numbers a row, which the covariance is divided by;
            N - n - 1 when absent.

    Raises:
        ValueError: Too few samples, a number that is not finite, or inputs that do not span x.
    """
    count, width = inputs.shape
    freedom = count - width - 1 if freedom is None else freedom
    if freedom < 1:
        raise ValueError(f"inputs: {count} samples are too few for {width} inputs and an offset")
    if not (np.isfinite(outputs).all() and np.isfinite(inputs).all()):
        raise ValueError("outputs, inputs: every number must be finite")
    weights = np.ones(outputs.shape) if scale is None else scale**-2.0
    rows = [_row(outputs[:, j], inputs, weights[:, j]) for j in range(outputs.shape[1])]
    matrix, offset, residual = (np.array(part) for part in zip(*rows, strict=True))
    return LinearGaussian(matrix, offset, residual @ residual.T / freedom)


def mean(model: LinearGaussian, given: Float[ndarray, "*batch n"]) -> Float[ndarray, "*batch m"]:
    """Return the mean of y given x.

    >>> mean(LinearGaussian(np.eye(2), np.ones(2), np.eye(2)), np.array([0.5, 2.0]))
    array([1.5, 3. ])
    """
    return given @ model.matrix.T + model.offset


def _row(
    output: Float[ndarray, " sample"],
    inputs: Float[ndarray, "sample n"],
    weight: Float[ndarray, " sample"],
) -> tuple[Float[ndarray, " n"], float, Float[ndarray, " sample"]]:
    """Return one row of the matrix, its offset and the weighted residuals."""
    mean_y, mean_x = (weight @ side / weight.sum() for side in (output, inputs))
    root = np.sqrt(weight)
    x, y = root[:, None] * (inputs - mean_x), root * (output - mean_y)
    if np.linalg.matrix_rank(x) < inputs.shape[1]:
        raise ValueError(f"inputs: the samples do not span {inputs.shape[1]} dimensions")
    row = np.linalg.lstsq(x, y, rcond=None)[0]
    return row, mean_y - row @ mean_x, y - x @ row
