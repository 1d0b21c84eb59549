"""The density of parameters and starts: normal laws, torch's derivatives, and the exact metric."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions import Normal

from ricochet.models.inference import throws
from ricochet.models.inference.limits import Limits, Logistic, Shares
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns

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
