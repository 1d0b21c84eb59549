"""Densities under given noise: gradients by differences, and agreement with what else is known."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.inference import multiple_shooting, throws
from ricochet.models.inference.fixed_noise_density import FixedNoiseDensity
from ricochet.models.inference.limits import Logistic
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns


def logistic(density: FixedNoiseDensity) -> FixedNoiseDensity:
    plain = torch.tensor([False, False])
    return replace(density, coordinates=Logistic(density.coordinates.limits, plain))


@pytest.mark.parametrize("mixture", [False, True])
@pytest.mark.parametrize("windows", [1, 3])
@pytest.mark.parametrize("changed", [lambda density: density, logistic])
def test_gradients_are_those_of_the_value(mixture, windows, changed) -> None:
    density, u = throws.flat_example(3, windows=windows)
    density = changed(replace(density, mixture=mixture, sigma=0.5, delta=0.7))
    value, gradient = density.expanded(u)
    torch.testing.assert_close(value, density.value(u))
    for place in range(density.size):
        step = torch.zeros(density.size, dtype=torch.float64)
        step[place] = 1e-6
        difference = (density.value(u + step) - density.value(u - step)) / 2e-6
        torch.testing.assert_close(gradient[:, place], difference, rtol=1e-5, atol=1e-5)


def test_of_one_trajectory_it_is_the_density_of_unknown_noise_at_that_noise() -> None:
    """Up to a constant, with first starts known: two ways to the same number."""
    density, u = throws.flat_example(4)
    general = ShootingDensity(density.shooting, density.coordinates, known_starts=True)
    first = (density.shooting.starts / density.shooting.scale)[:, :1].expand(4, -1, -1, -1)
    rest = u[:, 2:].reshape(4, 2, 2, 2)
    unknowns = Unknowns(u[:, :2], torch.cat((first, rest), 2))
    each = torch.ones(4, 2, dtype=torch.float64)
    noise = Noise(density.sigma * each, density.delta * each)
    away = density.value(u) - general.value(unknowns, general.at(unknowns), noise)
    torch.testing.assert_close(away, away[:1].expand(4), rtol=1e-9, atol=1e-6)


def test_the_observed_part_leaves_defects_out() -> None:
    density, u = throws.flat_example(3)
    shot = density.at(u)
    value, gradient = density.observed(u, shot)
    each = multiple_shooting.log_likelihoods(shot.residuals, density.sigma)
    torch.testing.assert_close(value, each.sum(1))
    whole = density.expanded(u)[1] - gradient  # the defects' alone
    loose = replace(density, delta=1e6).expanded(u)[1]
    torch.testing.assert_close(loose, gradient, rtol=1e-6, atol=1e-6)
    assert bool((whole.abs() > 1e-3).any())


def test_beyond_the_limits_there_is_nothing() -> None:
    density, u = throws.flat_example(2)
    u[0, 0] = 1.2
    value, gradient = density.expanded(u)
    assert torch.isneginf(value[0])
    assert torch.isfinite(value[1])
    assert not bool(gradient[0].any())


def test_equal_trajectories_weigh_alike_and_order_does_not_matter() -> None:
    """A mixture of two equal trajectories is one of them twice: log 2 more."""
    density, u = throws.flat_example(3)
    both = density.shooting.observed
    for mixture in (False, True):
        value = replace(density, mixture=mixture).value(u)
        turned = replace(density.shooting, observed=both.flip(0))
        starts = u[:, 2:].reshape(3, 2, -1).flip(1).flatten(1)
        other = torch.cat((u[:, :2], starts), 1)
        flipped = replace(density, shooting=turned, mixture=mixture).value(other)
        torch.testing.assert_close(flipped, value)
    one = replace(density, shooting=replace(density.shooting, observed=both[:1]))
    two = replace(density.shooting, observed=both[:1].expand(2, -1, -1))
    half = torch.cat((u[:, :2], u[:, 2 : 2 + 4]), 1)
    twice = torch.cat((half, half[:, 2:]), 1)
    mixed = replace(density, shooting=two, mixture=True).value(twice)
    torch.testing.assert_close(mixed, one.value(half) + float(np.log(2.0)))
