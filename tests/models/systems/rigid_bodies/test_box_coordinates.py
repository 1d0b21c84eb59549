"""Coordinates of boxes and weights: back and forth, torch's derivatives, and the uniform prior."""

import pytest
import torch
from torch import Tensor

from ricochet.models.inference.limits import Limits
from ricochet.models.systems.rigid_bodies import box_motion, box_parameters
from ricochet.models.systems.rigid_bodies.box_coordinates import BoxCoordinates
from tests.models.systems.rigid_bodies import boxes

BOTH = (11, 15)


def coordinates(size: int, *, fitting: bool = False) -> BoxCoordinates:
    return BoxCoordinates(Limits(boxes.LOW[:size], boxes.HIGH[:size]), fitting)


def places(size: int, count: int = 6) -> Tensor:
    return coordinates(size).of(boxes.parameters(count)[:, :size])


@pytest.mark.parametrize("fitting", [False, True])
@pytest.mark.parametrize("size", BOTH)
def test_parameters_of_coordinates_have_these_coordinates(size: int, fitting: bool) -> None:
    own, x = coordinates(size, fitting=fitting), places(size)
    torch.testing.assert_close(own.of(own.parameters(x)), x)
    theta = boxes.parameters(6)[:, :size]
    again = own.parameters(own.of(theta))
    torch.testing.assert_close(again[:, :11], theta[:, :11])


def test_weights_come_back_in_one_of_both_orders() -> None:
    theta = boxes.parameters(20)
    found = coordinates(15).parameters(coordinates(15).of(theta))
    swapped = box_parameters.swapped(theta)
    kept = (found - theta).abs().sum(1) < (found - swapped).abs().sum(1)
    torch.testing.assert_close(found, torch.where(kept[:, None], theta, swapped))
    assert 0 < int(kept.sum()) < 20
    other = coordinates(15).of(swapped)
    torch.testing.assert_close(other, coordinates(15).of(theta))


@pytest.mark.parametrize("size", BOTH)
def test_slopes_are_those_that_torch_finds(size: int) -> None:
    own, x = coordinates(size), places(size)
    found = own.slopes(x)
    for place, each in zip(found, x, strict=True):
        expected = torch.autograd.functional.jacobian(own.parameters, each)
        torch.testing.assert_close(place, expected)


@pytest.mark.parametrize("size", BOTH)
def test_the_prior_is_uniform_in_the_parameters(size: int) -> None:
    """Its density is that of the parameters times |d theta / d x|, up to a constant."""
    own, x = coordinates(size), places(size, 10)
    away = own.log_prior(x)[0] - torch.linalg.slogdet(own.slopes(x))[1]
    torch.testing.assert_close(away, away[:1].expand_as(away))


@pytest.mark.parametrize("fitting", [False, True])
@pytest.mark.parametrize("size", BOTH)
def test_gradients_of_the_prior_are_those_that_torch_finds(size: int, fitting: bool) -> None:
    own, x = coordinates(size, fitting=fitting), places(size).requires_grad_()
    value, gradient = own.log_prior(x)
    (expected,) = torch.autograd.grad(value.sum(), x)
    torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize("number", range(15))
def test_beyond_each_limit_there_is_nothing_and_fits_may_go_there(number: int) -> None:
    theta = boxes.parameters(2)
    theta[0, number] = boxes.HIGH[number] + 0.01 * (boxes.HIGH - boxes.LOW)[number]
    x = coordinates(15).of(theta)
    found = coordinates(15).log_prior(x)[0]
    assert torch.isneginf(found).tolist() == [True, False]
    assert bool(torch.isfinite(coordinates(15, fitting=True).log_prior(x)[0]).all())


def test_the_normal_law_of_fits_is_as_wide_as_the_prior() -> None:
    """Of 4000 draws 50 % are within the quartiles of the law, but for 5 sqrt(1/4 / 4000) = 0.04."""
    own = coordinates(15, fitting=True)
    share = torch.rand(4000, 15, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x = own.of(boxes.LOW + share * (boxes.HIGH - boxes.LOW))
    middle = own.log_prior(x)[1] / own.precision + x
    torch.testing.assert_close(middle, middle[:1].expand_as(middle))
    below = (x < middle).double().mean(0)
    assert float((below - 0.5).abs().max()) < 0.04
    deviation = own.precision.rsqrt()
    inside = ((x - middle).abs() < 0.675 * deviation).double().mean(0)
    assert float((inside - 0.5).abs().max()) < 0.12  # laws that are not even about their middle


def test_of_an_empty_box_no_motion_tells_the_last_coordinate() -> None:
    x = places(11, 3)
    other = x.clone()
    other[:, 10] *= 1.3
    begun = 0.3 * torch.ones(3, 4).double()
    motions = [
        box_motion.move(
            box_parameters.of_empty(coordinates(11).parameters(each)),
            begun,
            boxes.carried(20),
            short=0.01,
            substeps=5,
        ).states
        for each in (x, other)
    ]
    torch.testing.assert_close(*motions)
    loads = torch.tensor((0.1, 0.05, -0.05, 0.02)).double().expand(3, 4)
    told = [
        box_motion.move(
            box_parameters.with_weights(
                box_parameters.of_empty(coordinates(11).parameters(each)), loads
            ),
            begun,
            boxes.carried(20),
            short=0.01,
            substeps=5,
        ).states
        for each in (x, other)
    ]
    assert float((told[0] - told[1]).abs().max()) > 1e-3
