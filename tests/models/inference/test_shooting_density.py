"""The density of parameters and starts: normal laws, torch's derivatives, and the exact metric."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions import Normal

from ricochet.models.inference import throws
from ricochet.models.inference.limits import Limits, Logistic, Shares
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.shooting_density import (
    Noise,
    ShootingDensity,
    Unknowns,
    in_all_states,
)

LIMITS = Limits(
    torch.tensor([-6.0, -1.0], dtype=torch.float64), torch.tensor([1.0, 2.0], dtype=torch.float64)
)
SHARES = Shares(LIMITS)
LOGISTIC = Logistic(LIMITS, torch.tensor([False, False]))
PARTICLES = 3


def thrown(**options: Any) -> Shooting:
    """Two throws."""
    return throws.observed(np.random.default_rng(1), **options)


def some_unknowns(density: ShootingDensity, seed: int = 5) -> Unknowns:
    draw = np.random.default_rng(seed)
    x = torch.from_numpy(draw.uniform(0.2, 0.8, (PARTICLES, 2)))
    z = density.shooting.starts / density.shooting.scale
    return Unknowns(x, z + 0.1 * torch.from_numpy(draw.standard_normal((PARTICLES, *z.shape))))


def some_noise() -> Noise:
    draw = np.random.default_rng(6)
    sigma, delta = (torch.from_numpy(draw.uniform(0.05, 0.2, (PARTICLES, 2))) for _ in range(2))
    return Noise(sigma, delta)


def value(density: ShootingDensity, x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    unknowns = Unknowns(x, z)
    return density.value(unknowns, density.at(unknowns), some_noise())


@pytest.mark.parametrize("known", [False, True])
def test_the_value_is_the_product_of_normal_densities(known: bool) -> None:
    density = ShootingDensity(thrown(windows=3), SHARES, known_starts=known)
    unknowns, noise = some_unknowns(density), some_noise()
    if known:
        begun = (density.shooting.observed[:, 0] / density.shooting.scale).expand(PARTICLES, 2, 2)
        unknowns.z[:, :, 0] = begun
    shot = density.at(unknowns)
    sigma, delta = noise.sigma[:, None], noise.delta[:, None, None]
    expected = Normal(0.0, sigma[:, :, None, None]).log_prob(shot.residuals).sum((1, 2, 3, 4))
    expected += Normal(0.0, delta).log_prob(shot.defects).sum((1, 2, 3))
    if not known:
        expected += Normal(0.0, sigma).log_prob(shot.offsets).sum((1, 2))
    left = density.value(unknowns, shot, noise) - expected
    torch.testing.assert_close(left, left[:1].expand_as(left))


@pytest.mark.parametrize("coordinates", [SHARES, LOGISTIC])
@pytest.mark.parametrize("windows", [1, 4])
def test_the_gradient_is_that_which_torch_finds(coordinates, windows: int) -> None:
    density = ShootingDensity(thrown(windows=windows), coordinates)
    unknowns = some_unknowns(density)
    found = density.expanded(unknowns, density.at(unknowns), some_noise())
    x, z = unknowns.x.clone().requires_grad_(), unknowns.z.clone().requires_grad_()
    by_x, by_z = torch.autograd.grad(value(density, x, z).sum(), (x, z))
    torch.testing.assert_close(found.by_x, by_x)
    torch.testing.assert_close(found.by_z, by_z.flatten(2))


@pytest.mark.parametrize("windows", [1, 4])
def test_of_linear_motions_the_metric_is_minus_the_second_derivative(windows: int) -> None:
    density = ShootingDensity(thrown(windows=windows), SHARES)
    unknowns = some_unknowns(density)
    found = density.expanded(unknowns, density.at(unknowns), some_noise()).metric
    size = unknowns.z[0].numel()

    def whole(flat: torch.Tensor) -> torch.Tensor:
        return value(density, flat[:, :2], flat[:, 2:].reshape(unknowns.z.shape)).sum()

    flat = torch.cat((unknowns.x, unknowns.z.flatten(1)), 1)
    hessian = -torch.autograd.functional.hessian(whole, flat)
    for particle in range(PARTICLES):
        each = hessian[particle, :, particle]
        prior = torch.diag(SHARES.precision)
        torch.testing.assert_close(found.shared[particle] - prior, each[:2, :2])
        torch.testing.assert_close(found.across[particle].movedim(0, 1).flatten(1), each[:2, 2:])
        own = torch.block_diag(*found.own[particle])
        assert own.shape == (size, size)
        torch.testing.assert_close(own, each[2:, 2:])


def test_motions_that_are_none_have_no_density() -> None:
    density = ShootingDensity(thrown(windows=3), SHARES)
    unknowns = some_unknowns(density)
    unknowns.z[1, 0, 0, 0] = torch.nan
    found = density.value(unknowns, density.at(unknowns), some_noise())
    assert torch.isfinite(found).tolist() == [True, False, True]
    assert float(found[1]) == -np.inf


def places_alone(windows: int, *, known: bool = False) -> ShootingDensity:
    """Throws whose places are seen and whose speeds are not."""
    return ShootingDensity(replace(thrown(windows=windows), seen=1), SHARES, known_starts=known)


def first(noise: Noise) -> Noise:
    return Noise(noise.sigma[:, :1], noise.delta)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("windows", [1, 3])
def test_states_that_are_not_observed_have_defects_and_no_residuals(known, windows: int) -> None:
    """Normal laws of places and of what happens between windows, of particles and of noise."""
    density, noise = places_alone(windows, known=known), first(some_noise())
    unknowns, shooting = some_unknowns(density), density.shooting
    if known:
        unknowns.z[:, :, 0] = shooting.observed[:, 0] / shooting.scale
    theta = SHARES.parameters(unknowns.x)[:, None, None]
    starts = unknowns.z * shooting.scale
    motions = throws.Throw(theta, starts, shooting.steps).states
    place = shooting.observed[:, 1:, 0].unflatten(1, (windows, -1))
    sigma, delta = noise.sigma * shooting.scale[0], noise.delta * shooting.scale
    expected = Normal(motions[..., 0], sigma[..., None, None]).log_prob(place).sum((1, 2, 3))
    jump = Normal(motions[:, :, :-1, -1], delta[:, None, None]).log_prob(starts[:, :, 1:])
    expected += jump.sum((1, 2, 3))
    if not known:
        begun = Normal(starts[:, :, 0, 0], sigma).log_prob(shooting.observed[:, 0, 0])
        expected += begun.sum(1)
    left = density.value(unknowns, density.at(unknowns), noise) - expected
    torch.testing.assert_close(left, left[:1].expand_as(left))


@pytest.mark.parametrize("windows", [1, 4])
def test_with_states_that_are_not_observed_gradient_and_metric_are_torchs(windows: int) -> None:
    density, noise = places_alone(windows), first(some_noise())
    unknowns = some_unknowns(density)

    def whole(flat: torch.Tensor) -> torch.Tensor:
        each = Unknowns(flat[:, :2], flat[:, 2:].reshape(unknowns.z.shape))
        return density.value(each, density.at(each), noise).sum()

    flat = torch.cat((unknowns.x, unknowns.z.flatten(1)), 1).requires_grad_()
    (gradient,) = torch.autograd.grad(whole(flat), flat)
    found = density.expanded(unknowns, density.at(unknowns), noise)
    torch.testing.assert_close(found.by_x, gradient[:, :2])
    torch.testing.assert_close(found.by_z.flatten(1), gradient[:, 2:])
    hessian = -torch.autograd.functional.hessian(whole, flat)
    for particle in range(PARTICLES):
        each = hessian[particle, :, particle]
        prior = torch.diag(SHARES.precision)
        torch.testing.assert_close(found.metric.shared[particle] - prior, each[:2, :2])
        across = found.metric.across[particle].movedim(0, 1).flatten(1)
        torch.testing.assert_close(across, each[:2, 2:])
        torch.testing.assert_close(torch.block_diag(*found.metric.own[particle]), each[2:, 2:])


def test_deviations_of_states_that_are_not_seen_are_the_mean_of_those_that_are() -> None:
    found = in_all_states(torch.tensor([[1.0, 3.0], [2.0, 2.0]]), 4)
    torch.testing.assert_close(found, torch.tensor([[1.0, 3.0, 2.0, 2.0], [2.0] * 4]))
    one = torch.tensor([[1.0, 3.0]])
    torch.testing.assert_close(in_all_states(one, 2), one)
