"""Draws from a conditional Gaussian, for tests alone."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.probability.linear_gaussians import LinearGaussian, mean


def sample(
    model: LinearGaussian, given: Float[ndarray, "*batch n"], *, draw: np.random.Generator
) -> Float[ndarray, "*batch m"]:
    """Return one y for each x."""
    expected = mean(model, given)
    root = np.linalg.cholesky(model.covariance + 1e-18 * np.eye(len(model.offset)))
    return expected + draw.standard_normal(expected.shape) @ root.T
