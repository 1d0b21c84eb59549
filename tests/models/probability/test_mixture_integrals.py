"""A mixture that is normalised in closed form integrates to one; one that is not shows it."""

import math
from dataclasses import replace

import pytest
import torch

from ricochet.models.probability import mixture_integrals
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.truncated_mixtures import TruncatedMixture

TOLERANCE = 1e-3


def mixture(components: int, smallest: float, *, seed: int) -> TruncatedMixture:
    """Draw centres in and about the box, and deviations from `smallest` to 1, alike in logs."""
    draw = torch.Generator().manual_seed(seed)
    uniform = torch.rand((components, 2), generator=draw).double()
    slope = torch.zeros(components, 2, 2).double()
    slope[:, 1, 0] = torch.randn(components, generator=draw)
    box = torch.full((2,), 2.0).double()
    return TruncatedMixture(
        log_weights=torch.randn(components, generator=draw).double().log_softmax(-1),
        mean=5.0 * torch.rand((components, 2), generator=draw).double() - 2.5,
        sd=smallest ** (1.0 - uniform),
        slope=slope,
        low=-box,
        high=box,
    )


@pytest.mark.parametrize("components", [1, 2, 5])
@pytest.mark.parametrize("smallest", [0.3, 0.03, 1e-4])
def test_what_is_normalised_integrates_to_one(components, smallest) -> None:
    for seed in range(5):
        found = mixture_integrals.integral(mixture(components, smallest, seed=seed))
        assert float(found) == pytest.approx(1.0, abs=TOLERANCE)


def test_it_grows_with_the_weights_and_not_with_the_units() -> None:
    one = mixture(4, 0.05, seed=0)
    more = replace(one, log_weights=one.log_weights + math.log(1.2))
    assert float(mixture_integrals.integral(more)) == pytest.approx(1.2, abs=TOLERANCE)
    scale = torch.tensor([3.0, 0.1]).double()
    moved = replace(
        one,
        mean=one.mean * scale,
        sd=one.sd * scale,
        slope=one.slope * scale[1] / scale[0],
        low=one.low * scale,
        high=one.high * scale,
    )
    found = mixture_integrals.integral(moved)
    assert float(found) == pytest.approx(float(mixture_integrals.integral(one)), abs=1e-9)


def test_coordinates_change_nothing() -> None:
    one = mixture(3, 0.1, seed=1)
    place = Coordinates(torch.tensor([0.8, 3.0]).double(), torch.tensor([0.02, 0.3]).double())
    found = mixture_integrals.integral(replace(one, coordinates=place))
    assert float(found) == pytest.approx(1.0, abs=TOLERANCE)


def test_what_would_take_minutes_is_refused() -> None:
    with pytest.raises(ValueError, match="nodes along an axis"):
        mixture_integrals.integral(mixture(64, 1e-4, seed=0))
