"""The density network: recovers a known posterior, is deterministic, survives arrays."""

import math
from functools import cache

import pytest
import torch

from ricochet.models.inference import density_arrays, mixture_density_networks
from ricochet.models.inference.mixture_density_networks import Fit, Inputs, Training
from ricochet.models.probability import boxes, truncated_mixtures
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.boxes import Box
from tests.oracles.boxes import volume

BOX = Box(low=(-1.0, -1.0), high=(1.0, 1.0))
SPREAD = 0.4
SMALL = Training(components=3, hidden=16, members=2, steps=250, batch=256, rate=2e-2)


def cases(count: int, seed: int) -> tuple[torch.Tensor, Inputs]:
    """Draw theta uniform in the box and x = theta + SPREAD n: a Gaussian cut to the box."""
    draw = torch.Generator().manual_seed(seed)
    theta = boxes.sample(BOX, (count,), draw=draw)
    x = theta + SPREAD * torch.randn(theta.shape, generator=draw, dtype=theta.dtype)
    return theta, Inputs(
        x, Coordinates(torch.zeros(count, 2).double(), torch.ones(count, 2).double())
    )


@cache
def trained(seed: int = 0) -> Fit:
    theta, inputs = cases(6000, 1)
    draw = torch.Generator().manual_seed(seed)
    return mixture_density_networks.fit(theta, inputs, box=BOX, training=SMALL, draw=draw)


def exact(theta: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    low, high = (-1.0 - x) / SPREAD, (1.0 - x) / SPREAD
    mass = torch.special.ndtr(high) - torch.special.ndtr(low)
    density = -0.5 * ((theta - x) / SPREAD) ** 2 - math.log(SPREAD * math.sqrt(2 * math.pi))
    return (density - mass.log()).sum(-1)


@pytest.mark.proof
def test_posterior_of_a_gaussian_cut_to_the_box_is_recovered() -> None:
    theta, inputs = cases(3000, 2)
    found = trained().density.log_density(theta, inputs)
    gap = exact(theta, inputs.values) - found
    # the mean gap estimates a Kullback-Leibler divergence; its sd over cases is about 0.2, so its
    # standard error is 0.004; a network of this size should stay below 0.03 nats
    assert -0.012 < gap.mean() < 0.03
    assert math.isclose(trained().held_out[-1], -found.mean(), abs_tol=0.15)


def test_no_mass_lies_outside_the_box() -> None:
    _, inputs = cases(4, 3)
    mixture = trained().density.mixture(inputs)
    grid = torch.cartesian_prod(*boxes.axes(BOX, (60, 60)))[:, None]
    mass = truncated_mixtures.log_density(mixture, grid).exp().mean(0) * volume(BOX)
    torch.testing.assert_close(mass, torch.ones(4).double(), rtol=0.0, atol=5e-3)
    outside = trained().density.log_density(torch.tensor([1.001, 0.0]), inputs)
    assert (outside == -math.inf).all()


def test_the_same_seed_gives_the_same_density_and_arrays_keep_it_bit_for_bit() -> None:
    theta, inputs = cases(50, 4)
    short = Training(components=2, hidden=8, members=2, steps=5, batch=64)
    first, second = (
        mixture_density_networks.fit(
            *cases(500, 5), box=BOX, training=short, draw=torch.Generator().manual_seed(6)
        ).density
        for _ in range(2)
    )
    rebuilt = density_arrays.from_arrays(density_arrays.to_arrays(first))
    value = first.log_density(theta, inputs)
    assert torch.equal(second.log_density(theta, inputs), value)
    assert torch.equal(rebuilt.log_density(theta, inputs), value)


def test_a_batch_equals_its_members() -> None:
    theta, inputs = cases(5, 7)
    together = trained().density.log_density(theta, inputs)
    alone = trained().density.log_density(
        theta[2],
        Inputs(
            inputs.values[2],
            Coordinates(inputs.coordinates.location[2], inputs.coordinates.scale[2]),
        ),
    )
    torch.testing.assert_close(alone, together[2], rtol=1e-4, atol=1e-4)


def test_units_of_the_inputs_do_not_matter() -> None:
    theta, inputs = cases(600, 8)
    short = Training(components=2, hidden=8, members=1, steps=20, batch=64)
    scaled = Inputs(inputs.values * 1000.0 + 7.0, inputs.coordinates)
    first, second = (
        mixture_density_networks.fit(theta, some, box=BOX, training=short, draw=draw)
        for some, draw in ((inputs, torch.Generator().manual_seed(1)),
                           (scaled, torch.Generator().manual_seed(1)))
    )  # fmt: skip
    assert math.isclose(first.held_out[-1], second.held_out[-1], abs_tol=1e-3)


@pytest.mark.parametrize("spoil, message", [("inputs", "inputs"), ("theta", "theta")])
def test_bad_pairs_are_refused(spoil: str, message: str) -> None:
    theta, inputs = cases(50, 9)
    if spoil == "inputs":
        inputs.values[3, 0] = math.nan
    else:
        theta[3, 0] = 1.5
    with pytest.raises(ValueError, match=message):
        mixture_density_networks.fit(
            theta, inputs, box=BOX, training=SMALL, draw=torch.Generator().manual_seed(1)
        )


def test_missing_arrays_are_named() -> None:
    arrays = density_arrays.to_arrays(trained().density)
    del arrays["bias_1"]
    with pytest.raises(ValueError, match="bias_1"):
        density_arrays.from_arrays(arrays)
