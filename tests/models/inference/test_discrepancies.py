"""Coordinates of parameters and of shares by which numbers are off."""

import pytest
import torch

from ricochet.models.inference.discrepancies import WithDiscrepancies
from ricochet.models.inference.limits import Coordinates, Limits, Logistic, Shares

LIMITS = Limits(torch.tensor([1.0, -2.0]).double(), torch.tensor([4.0, 2.0]).double())


def coordinates(deviation: float = 0.01) -> WithDiscrepancies:
    return WithDiscrepancies(Logistic(LIMITS), 3, deviation)


def places(count: int = 5) -> torch.Tensor:
    return torch.randn(count, 5, generator=torch.Generator().manual_seed(0)).double()


def test_coordinates_come_back_and_shares_are_in_units_of_their_deviation() -> None:
    x, both = places(), coordinates()
    assert isinstance(both, Coordinates)
    theta = both.parameters(x)
    torch.testing.assert_close(both.of(theta), x)
    torch.testing.assert_close(theta[:, :2], Logistic(LIMITS).parameters(x[:, :2]))
    torch.testing.assert_close(theta[:, 2:], 0.01 * x[:, 2:])


def test_slopes_and_gradient_are_the_derivatives() -> None:
    x, both = places(), coordinates()
    slopes = torch.stack([torch.func.jacrev(both.parameters)(each) for each in x])
    torch.testing.assert_close(both.slopes(x), slopes)
    gradient = torch.stack([torch.func.grad(lambda at: both.log_prior(at)[0])(each) for each in x])
    torch.testing.assert_close(both.log_prior(x)[1], gradient)


def test_the_prior_of_shares_is_standard_normal_and_apart_from_the_parameters() -> None:
    x, own = places(), Logistic(LIMITS)
    expected = torch.distributions.Normal(0.0, 1.0).log_prob(x[:, 2:]).sum(1)
    found = coordinates().log_prior(x)[0] - own.log_prior(x[:, :2])[0]
    difference = found - expected
    torch.testing.assert_close(difference, difference[:1].expand(5))
    torch.testing.assert_close(
        coordinates().precision, torch.cat((own.precision, torch.ones(3).double()))
    )


def test_starts_are_within_the_limits_and_five_deviations() -> None:
    both = coordinates()
    assert isinstance(both.shares, Shares)
    low, high = (both.shares.parameters(torch.full((5,), at).double()) for at in (0.0, 1.0))
    torch.testing.assert_close(low, torch.tensor([1.0, -2.0, -0.05, -0.05, -0.05]).double())
    torch.testing.assert_close(high, torch.tensor([4.0, 2.0, 0.05, 0.05, 0.05]).double())


@pytest.mark.parametrize("deviation", [0.0, -1.0, 1.0, float("nan")])
def test_a_deviation_that_is_none_is_refused(deviation: float) -> None:
    with pytest.raises(ValueError, match="deviation must be between 0 and 1"):
        coordinates(deviation)
