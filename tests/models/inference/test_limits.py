"""Coordinates of parameters within limits: inverses, slopes by torch, and the prior as it is."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from ricochet.models.inference.limits import Limits, Logistic, Shares

LOW = torch.tensor([-0.2, 1e-5, 0.0], dtype=torch.float64)
HIGH = torch.tensor([0.2, 1.0, 0.5], dtype=torch.float64)
LIMITS = Limits(LOW, HIGH)
LOGISTIC = Logistic(LIMITS, torch.tensor([False, True, False]))
GROWING = Shares(LIMITS, torch.tensor([False, True, False]))
EACH = pytest.mark.parametrize("coordinates", [LOGISTIC, Shares(LIMITS), GROWING])


def some_parameters(count: int) -> torch.Tensor:
    return LOW + torch.from_numpy(np.random.default_rng(0).uniform(size=(count, 3))) * (HIGH - LOW)


@EACH
def test_coordinates_lead_back_to_the_parameters(coordinates) -> None:
    theta = some_parameters(100)
    torch.testing.assert_close(coordinates.parameters(coordinates.of(theta)), theta)


@EACH
def test_slopes_and_the_gradient_of_the_prior_are_those_that_torch_finds(coordinates) -> None:
    x = coordinates.of(some_parameters(20)).requires_grad_()
    (slopes,) = torch.autograd.grad(coordinates.parameters(x).sum(), x)
    torch.testing.assert_close(coordinates.slopes(x).detach(), torch.diag_embed(slopes))
    value, found = coordinates.log_prior(x)
    expected = slopes.log().sum(-1)
    torch.testing.assert_close((value - value[0]).detach(), expected - expected[0])
    gradient = torch.autograd.grad(value.sum(), x)[0] if value.requires_grad else 0.0 * x
    torch.testing.assert_close(found.detach(), gradient.detach())


def test_no_coordinate_of_a_logistic_one_leaves_the_limits() -> None:
    theta = LOGISTIC.parameters(torch.tensor([[-30.0] * 3, [30.0] * 3], dtype=torch.float64))
    assert bool(((theta >= LOW) & (theta <= HIGH * (1.0 + 1e-12))).all())


def test_beyond_the_limits_a_share_has_no_density() -> None:
    x = torch.tensor([[0.5, 0.5, 0.5], [0.5, 1.1, 0.5], [-0.1, 0.5, 0.5]], dtype=torch.float64)
    assert Shares(LIMITS).log_prior(x)[0].tolist() == [0.0, -math.inf, -math.inf]


def test_the_density_of_a_logistic_coordinate_is_that_of_a_uniform_parameter() -> None:
    """Weighted by it, coordinates that are spread evenly are uniform parameters."""
    x = torch.linspace(-40.0, 40.0, 80_001, dtype=torch.float64)
    each = torch.zeros(len(x), 3, dtype=torch.float64)
    for column, law in enumerate(LOGISTIC.parameters(x[:, None].expand(-1, 3)).T):
        along = each.clone()
        along[:, column] = x
        weights = torch.exp(LOGISTIC.log_prior(along)[0])
        below = torch.cumsum(weights, 0) / weights.sum()
        expected = stats.uniform.cdf(law.numpy(), LOW[column], HIGH[column] - LOW[column])
        assert float((below - torch.from_numpy(expected)).abs().max()) < 1e-3


def test_limits_that_leave_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="below high"):
        Limits(LOW, LOW)
    with pytest.raises(ValueError, match="finite"):
        Limits(LOW, LOW + math.inf)
    for kind in (Logistic, Shares):
        with pytest.raises(ValueError, match="magnitude must be positive"):
            kind(LIMITS, torch.tensor([True, True, False]))
