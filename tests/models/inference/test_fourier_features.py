"""Products of random features against the kernels that they stand for."""

import math

import numpy as np
import pytest
import torch
from scipy import special

from ricochet.models.inference import fourier_features

COUNT = 20_000


def kernel(distance: np.ndarray, *, smooth: bool) -> np.ndarray:
    """Rasmussen and Williams, Eqs. 4.9 and 4.14, of length 1."""
    if smooth:
        return np.exp(-0.5 * distance**2)
    nu = 2.5
    argument = math.sqrt(2.0 * nu) * distance
    return 2.0 ** (1.0 - nu) / special.gamma(nu) * argument**nu * special.kv(nu, argument)


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("length", [0.5, 1.0])
def test_products_are_the_kernel(smooth: bool, length: float) -> None:
    """Within 4 standard errors of that many frequencies: their mean cosine's are at most 1."""
    draw = torch.Generator().manual_seed(0)
    inputs = 5.0 + 3.0 * torch.randn(40, 4, generator=draw, dtype=torch.float64)
    features = fourier_features.drawn(inputs, count=COUNT, smooth=smooth, draw=draw, length=length)
    found = features(inputs)
    scaled = (inputs - features.centre) / features.scale
    distance = torch.cdist(scaled, scaled).numpy() / (length * 2.0)
    away = np.triu_indices(40, 1)
    expected = kernel(distance[away], smooth=smooth)
    assert np.abs((found @ found.T).numpy()[away] - expected).max() < 4.0 / math.sqrt(COUNT)


def test_units_of_the_inputs_do_not_matter() -> None:
    inputs = torch.randn(20, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    two = [
        fourier_features.drawn(each, count=9, smooth=True, draw=torch.Generator().manual_seed(2))
        for each in (inputs, 1000.0 * inputs - 4.0)
    ]
    torch.testing.assert_close(two[0](inputs), two[1](1000.0 * inputs - 4.0))
