"""A mixture that is normalised in closed form integrates to one; one that is not shows it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.probability import mixture_arrays, mixture_integrals
from ricochet.models.probability.mixture_arrays import MixtureArrays

TOLERANCE = 1e-3


def mixture(components: int, smallest: float, *, seed: int) -> MixtureArrays:
    """Draw centres in and about the box, and deviations from `smallest` to 1, alike in logs."""
    draw = np.random.default_rng(seed)
    slope = np.zeros((components, 2, 2))
    slope[:, 1, 0] = draw.normal(size=components)
    return MixtureArrays(
        log_weights=np.log(draw.dirichlet(np.ones(components))),
        mean=draw.uniform(-2.5, 2.5, (components, 2)),
        sd=smallest ** draw.uniform(size=(components, 2)),
        slope=slope,
        low=np.full(2, -2.0),
        high=np.full(2, 2.0),
    )


@pytest.mark.parametrize("components", [1, 2, 5])
@pytest.mark.parametrize("smallest", [0.3, 0.03, 1e-4])
def test_what_is_normalised_integrates_to_one(components, smallest) -> None:
    for seed in range(5):
        found = mixture_integrals.integral(mixture(components, smallest, seed=seed))
        assert found == pytest.approx(1.0, abs=TOLERANCE)


def test_it_grows_with_the_weights_and_not_with_the_units() -> None:
    one = mixture(4, 0.05, seed=0)
    more = replace(one, log_weights=one.log_weights + math.log(1.2))
    assert mixture_integrals.integral(more) == pytest.approx(1.2, abs=TOLERANCE)
    scale = np.array([3.0, 0.1])
    moved = replace(
        one,
        mean=one.mean * scale,
        sd=one.sd * scale,
        slope=one.slope * scale[1] / scale[0],
        low=one.low * scale,
        high=one.high * scale,
    )
    found = mixture_integrals.integral(moved)
    assert found == pytest.approx(mixture_integrals.integral(one), abs=1e-9)


def test_the_density_that_is_integrated_is_that_of_the_mixture() -> None:
    one, draw = mixture(5, 0.01, seed=2), np.random.default_rng(3)
    first, second = draw.uniform(-2.0, 2.0, 40), draw.uniform(-2.0, 2.0, (40, 30))
    y = np.stack((np.broadcast_to(first[:, None], second.shape), second), -1)
    expected = np.exp(mixture_arrays.log_density_of_y(one, y))
    found = mixture_integrals._density(one, first, second)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)


def test_what_would_take_minutes_is_refused() -> None:
    with pytest.raises(ValueError, match="nodes along an axis"):
        mixture_integrals.integral(mixture(64, 1e-4, seed=0))
