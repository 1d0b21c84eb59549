"""Boxes: the uniform prior."""

import math

import pytest
import torch

from ricochet.models.probability import boxes
from ricochet.models.probability.boxes import Box

BOX = Box(low=(0.55, 1.0), high=(0.95, 5.0))


def test_the_midpoint_rule_over_the_axes_integrates_a_bilinear_function_exactly() -> None:
    a, b = torch.cartesian_prod(*boxes.axes(BOX, (7, 9))).T
    # over the box the mean of (1 + 2 a)(4 - b) is that at the centre (0.75, 3)
    assert math.isclose(((1 + 2 * a) * (4 - b)).mean(), 2.5, rel_tol=1e-12)


def test_points_outside_and_nan_are_not_contained() -> None:
    points = torch.tensor([[0.54, 3.0], [0.7, 5.01], [math.nan, 3.0], [0.7, 3.0]])
    assert boxes.contains(BOX, points).tolist() == [False, False, False, True]


def test_samples_have_the_moments_of_the_uniform_law() -> None:
    draw = torch.Generator().manual_seed(1)
    points = boxes.sample(BOX, (4000,), draw=draw)
    low, high = boxes.bounds(BOX)
    # mean of a uniform: standard error = side / sqrt(12 * 4000) = 0.0046 side; three of them 0.014
    assert ((points.mean(0) - (low + high) / 2).abs() < 0.014 * (high - low)).all()
    assert boxes.contains(BOX, points).all()


def test_shifting_and_scaling_the_box_moves_its_samples_alike() -> None:
    moved = Box(low=(0.1, -3.0), high=(0.9, 5.0))
    first = boxes.sample(BOX, (50,), draw=torch.Generator().manual_seed(4))
    second = boxes.sample(moved, (50,), draw=torch.Generator().manual_seed(4))
    scaled = (first - torch.tensor([0.55, 1.0])) * 2 + torch.tensor([0.1, -3.0])
    torch.testing.assert_close(second, scaled.double(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "low, high", [((1.0,), (1.0,)), ((0.0,), (math.nan,)), ((0.0, 1.0), (2.0,))]
)
def test_a_box_without_volume_is_refused(low: tuple[float, ...], high: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="low and high"):
        Box(low=low, high=high)
