"""Truncated mixtures: exact normalisation, closed forms, tails, gradients, sampling."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from ricochet.models.probability import boxes, truncated_mixtures
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.boxes import Box
from ricochet.models.probability.truncated_mixtures import TruncatedMixture
from tests.oracles.boxes import volume
from tests.oracles.truncated_mixtures import credibility

BOX = Box(low=(0.55, 1.0), high=(0.95, 5.0))


def mixture_in_box(*, slope: float = 3.0, bend: bool = False) -> TruncatedMixture:
    """Three components: one inside, one cut in half by a bound, one centred outside."""
    coordinates = None
    low, high = boxes.bounds(BOX)
    mean = torch.tensor([[0.7, 3.0], [0.95, 2.0], [0.5, 5.6]], dtype=torch.float64)
    sd = torch.tensor([[0.02, 0.3], [0.05, 0.6], [0.04, 0.5]], dtype=torch.float64)
    if bend:
        coordinates = Coordinates(
            torch.tensor([0.7, 3.0]).double(), torch.tensor([-0.01, 2.0]).double()
        )
        first, second = (
            torch.asinh((low - coordinates.location) / coordinates.scale),
            torch.asinh((high - coordinates.location) / coordinates.scale),
        )
        low, high = torch.minimum(first, second), torch.maximum(first, second)
        mean = torch.tensor([[0.1, 0.0], [-1.0, 0.5], [2.0, -0.4]], dtype=torch.float64)
        sd = torch.tensor([[0.5, 0.2], [0.9, 0.3], [0.6, 0.4]], dtype=torch.float64)
    lower = torch.zeros(3, 2, 2, dtype=torch.float64)
    lower[:, 1, 0] = (0.2 * slope if bend else slope) * torch.tensor([1.0, -1.0, 0.5])
    weights = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    return TruncatedMixture(weights.log(), mean, sd, lower, low, high, coordinates)


@pytest.mark.parametrize("bend, cells", [(False, (400, 400)), (True, (1500, 200))])
def test_density_integrates_to_one(bend: bool, cells: tuple[int, int]) -> None:
    grid = torch.cartesian_prod(*boxes.axes(BOX, cells))
    mass = truncated_mixtures.log_density(mixture_in_box(bend=bend), grid).exp().mean() * volume(
        BOX
    )
    # midpoint rule with cells of at most a twentieth of the narrowest width
    assert abs(mass - 1.0) < 2e-4


def test_without_slope_each_component_is_a_product_of_scipy_truncated_normals() -> None:
    mixture = mixture_in_box(slope=0.0)
    points = boxes.sample(BOX, (200,), draw=torch.Generator().manual_seed(1))
    expected = np.zeros(200)
    for k, weight in enumerate(mixture.log_weights.exp().tolist()):
        term = np.full(200, weight)
        for axis in range(2):
            m, s = float(mixture.mean[k, axis]), float(mixture.sd[k, axis])
            a, b = (BOX.low[axis] - m) / s, (BOX.high[axis] - m) / s
            term *= stats.truncnorm.pdf(points[:, axis].numpy(), a, b, loc=m, scale=s)
        expected += term
    found = truncated_mixtures.log_density(mixture, points).exp().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_density_and_its_gradient_are_finite_when_a_component_is_far_outside() -> None:
    mean = torch.tensor([[[400.0, -300.0], [0.7, 3.0]]], dtype=torch.float64, requires_grad=True)
    sd = torch.full((1, 2, 2), 0.1, dtype=torch.float64, requires_grad=True)
    low, high = boxes.bounds(BOX)
    mixture = TruncatedMixture(
        torch.full((1, 2), math.log(0.5)).double(),
        mean,
        sd,
        torch.zeros(1, 2, 2, 2).double(),
        low,
        high,
    )
    value = truncated_mixtures.log_density(mixture, torch.tensor([[0.6, 1.5]]).double())
    value.sum().backward()
    assert value.isfinite().all()
    assert mean.grad is not None and mean.grad.isfinite().all()
    assert sd.grad is not None and sd.grad.isfinite().all()


def test_a_batch_equals_its_members_and_components_may_be_permuted() -> None:
    mixture = mixture_in_box()
    points = boxes.sample(BOX, (6,), draw=torch.Generator().manual_seed(2))
    together = truncated_mixtures.log_density(mixture, points)
    apart = torch.stack([truncated_mixtures.log_density(mixture, point) for point in points])
    torch.testing.assert_close(together, apart)
    order = torch.tensor([2, 0, 1])
    turned = TruncatedMixture(
        mixture.log_weights[order],
        mixture.mean[order],
        mixture.sd[order],
        mixture.slope[order],
        mixture.low,
        mixture.high,
    )
    torch.testing.assert_close(truncated_mixtures.log_density(turned, points), together)


@pytest.mark.parametrize("bend", [False, True])
def test_samples_nodes_and_grid_agree_on_the_moments(bend: bool) -> None:
    mixture = mixture_in_box(bend=bend)
    count = 20000
    samples = truncated_mixtures.sample(mixture, count, draw=torch.Generator().manual_seed(3))
    assert boxes.contains(BOX, samples).all()
    mean, covariance = truncated_mixtures.moments(mixture, per_axis=64)
    sd = covariance.diagonal().sqrt()
    # standard error of a mean sd / sqrt(20000) = 0.0071 sd, four of them: 0.028 sd
    assert ((samples.mean(0) - mean).abs() < 0.028 * sd).all()
    # relative error of a standard deviation about 0.7 / sqrt(20000) = 0.005; 4 % is ample
    assert ((samples.std(0) / sd - 1.0).abs() < 0.04).all()
    grid = torch.cartesian_prod(*boxes.axes(BOX, (2000, 200)))
    weight = truncated_mixtures.log_density(mixture, grid).softmax(0)[:, None]
    torch.testing.assert_close((weight * grid).sum(0), mean, rtol=2e-4, atol=0.0)


def test_samples_of_a_component_cut_far_in_its_tail_follow_the_exponential_law() -> None:
    # N(0, 1) cut to [30, inf): 30 (z - 30) is exponential with mean 1 - 2/30^2
    low, high = torch.tensor([30.0]).double(), torch.tensor([1000.0]).double()
    zero = torch.zeros(1, 1).double()
    mixture = TruncatedMixture(zero[0], zero, zero + 1, zero[..., None], low, high)
    samples = truncated_mixtures.sample(mixture, 4000, draw=torch.Generator().manual_seed(5))
    found = 30.0 * (samples - 30.0).mean()
    # standard error 1 / sqrt(4000) = 0.016; three of them
    assert abs(found - (1.0 - 2.0 / 900.0)) < 0.048


@pytest.mark.slow
def test_credibility_of_draws_is_uniform() -> None:
    mixture = mixture_in_box(bend=True)
    samples = truncated_mixtures.sample(mixture, 800, draw=torch.Generator().manual_seed(7))
    levels = torch.stack([credibility(mixture, point) for point in samples[:400]])
    # Kolmogorov-Smirnov at 400 points: 1.63 / sqrt(400) = 0.081 is the 1 % bound
    assert stats.kstest(levels.numpy(), "uniform").statistic < 0.081
