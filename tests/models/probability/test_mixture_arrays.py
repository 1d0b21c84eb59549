"""The same mixtures by numpy as by torch."""

import numpy as np
import pytest
import torch

from ricochet.models.probability import mixture_arrays, truncated_mixtures, truncated_normals
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.mixture_arrays import MixtureArrays
from ricochet.models.probability.truncated_mixtures import TruncatedMixture

CASES, COMPONENTS = 50, 4


def fields(*, seed: int) -> dict[str, np.ndarray]:
    """Draw mixtures of two parameters, some of whose components lie far outside the box."""
    draw = np.random.default_rng(seed)
    slope = np.zeros((CASES, COMPONENTS, 2, 2))
    slope[..., 1, 0] = draw.normal(size=(CASES, COMPONENTS))
    return {
        "log_weights": np.log(draw.dirichlet(np.ones(COMPONENTS), CASES)),
        "mean": draw.normal(0.0, 3.0, (CASES, COMPONENTS, 2)),
        "sd": 10.0 ** draw.uniform(-3.0, 0.5, (CASES, COMPONENTS, 2)),
        "slope": slope,
        "low": np.full((CASES, 2), -1.0),
        "high": np.full((CASES, 2), 1.5),
    }


@pytest.mark.parametrize("has_coordinates", [False, True])
def test_the_log_density_is_that_by_torch(has_coordinates) -> None:
    given, draw = fields(seed=0), np.random.default_rng(1)
    location, scale = draw.uniform(size=(CASES, 2)), draw.uniform(0.1, 1.0, (CASES, 2))
    tensors = {name: torch.from_numpy(array) for name, array in given.items()}
    place = Coordinates(torch.from_numpy(location), torch.from_numpy(scale))
    x = draw.uniform(-1.2, 1.7, (CASES, 2))
    expected = truncated_mixtures.log_density(
        TruncatedMixture(**tensors, coordinates=place if has_coordinates else None),
        torch.from_numpy(x),
    )
    beside = {"location": location, "scale": scale} if has_coordinates else {}
    found = mixture_arrays.log_density(MixtureArrays(**given, **beside), x)
    assert np.isfinite(found).sum() > 10 and np.isinf(found).any()
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-9, atol=1e-9)


def test_the_mass_between_two_ends_is_that_by_torch_in_both_tails() -> None:
    low = np.array([-40.0, -38.0, -5.0, -1e-3, 0.0, 3.0, 37.0])
    high = low + np.array([1.0, 50.0, 1e-6, 2e-3, 9.0, 0.5, 1e-9])
    expected = truncated_normals.log_mass(torch.from_numpy(low), torch.from_numpy(high))
    np.testing.assert_allclose(mixture_arrays.log_mass(low, high), expected.numpy(), rtol=1e-9)
