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


def places_alone(density: FixedNoiseDensity) -> FixedNoiseDensity:
    return replace(density, shooting=replace(density.shooting, seen=1))


@pytest.mark.parametrize("mixture", [False, True])
@pytest.mark.parametrize("windows", [1, 3])
@pytest.mark.parametrize("changed", [lambda density: density, logistic, places_alone])
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


def test_of_states_that_are_not_observed_the_residuals_alone_are_left_out() -> None:
    density, u = throws.flat_example(4)
    part, shot = places_alone(density), density.at(u)
    speeds = multiple_shooting.log_likelihoods(shot.residuals[..., 1:], density.sigma).sum(1)
    torch.testing.assert_close(part.value(u), density.value(u) - speeds)


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


def test_a_mixture_of_two_equal_trajectories_is_one_of_them_twice() -> None:
    """Log 2 more, and the law of the starts of the one that is not explained."""
    density, u = throws.flat_example(3)
    both, half = density.shooting.observed, u[:, :6]
    one = replace(density, shooting=replace(density.shooting, observed=both[:1]))
    two = replace(density.shooting, observed=both[:1].expand(2, -1, -1))
    mixed = replace(density, shooting=two, mixture=True).value(torch.cat((half, half[:, 2:]), 1))
    seen = (one.shooting.starts / one.shooting.scale)[:, 1:].flatten()
    unseen = torch.distributions.Normal(seen, density.sigma).log_prob(half[:, 2:]).sum(1)
    torch.testing.assert_close(mixed, one.value(half) + unseen + float(np.log(2.0)))


@pytest.mark.proof
def test_of_a_mixture_the_law_of_parameters_is_the_sum_of_each_trajectorys() -> None:
    """Starts integrated out by their normal law, which is exact for throws."""
    density, _ = throws.flat_example(1)
    density = replace(density, sigma=0.4, delta=0.3, mixture=True)
    x = torch.tensor([[0.4, 0.5], [0.45, 0.52], [0.3, 0.55]], dtype=torch.float64)
    parts = [
        marginal(replace(density, shooting=replace(density.shooting, observed=run[None])), x)
        for run in density.shooting.observed
    ]
    expected = torch.logsumexp(torch.stack(parts), 0)
    draws = 400_000
    generator = np.random.default_rng(0)
    seen = (density.shooting.starts / density.shooting.scale)[:, 1:].flatten()
    noise = torch.from_numpy(generator.normal(size=(draws, len(seen)))) * density.sigma
    for place, value in zip(x, expected, strict=True):
        u = torch.cat((place.expand(draws, 2), seen + noise), 1)
        law = torch.distributions.Normal(0.0, density.sigma).log_prob(noise).sum(1)
        found = torch.logsumexp(density.value(u) - law, 0) - np.log(draws)
        assert abs(float(found - value)) < 0.1


def marginal(density: FixedNoiseDensity, x: torch.Tensor) -> torch.Tensor:
    """Log of the integral over the starts, of a normal density: its peak and its Hessian."""
    size = density.size - 2
    found = []
    for place in x:
        u = torch.cat((place, torch.zeros(size, dtype=torch.float64)))[None]
        at = density.expanded(u)[1][0, 2:]
        moved = u + torch.cat((torch.zeros(size, 2), torch.eye(size)), 1)
        hessian = density.expanded(moved)[1][:, 2:] - at
        u[:, 2:] -= torch.linalg.solve(hessian, at)
        peak = density.value(u)[0]
        width = 0.5 * (size * np.log(2.0 * np.pi) - torch.linalg.slogdet(-hessian)[1])
        found.append(peak + width)
    return torch.stack(found)
