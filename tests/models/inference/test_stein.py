"""Stein particles: the law of a normal density, and steps that know no order and no place."""

import numpy as np
import pytest
import torch

from ricochet.models.inference import stein


def descended(
    particles: torch.Tensor, covariance: torch.Tensor, mean: torch.Tensor, steps: int = 3000
) -> torch.Tensor:
    """Adagrad along the direction, as Liu and Wang do, towards a normal law."""
    inverse, total = torch.linalg.inv(covariance), torch.zeros_like(particles)
    for _ in range(steps):
        phi = stein.direction(particles, -(particles - mean) @ inverse)
        total = 0.9 * total + 0.1 * phi**2
        particles = particles + 0.02 * phi / (1e-6 + total.sqrt())
    return particles


@pytest.mark.slow
def test_particles_get_mean_and_covariance_of_a_normal_law() -> None:
    """Of 100 particles: the mean within a tenth, the spread within a quarter of its own."""
    draw = torch.Generator().manual_seed(0)
    start = torch.rand(100, 2, generator=draw, dtype=torch.float64) * 6.0 - 3.0
    covariance = torch.tensor([[1.0, 0.6], [0.6, 0.8]], dtype=torch.float64)
    mean = torch.tensor([1.0, -0.5], dtype=torch.float64)
    found = descended(start, covariance, mean)
    np.testing.assert_allclose(found.mean(0), mean, atol=0.1)
    ratio = torch.linalg.solve(covariance, found.T.cov())
    np.testing.assert_allclose(torch.linalg.eigvals(ratio).real, 1.0, atol=0.25)


def test_the_direction_is_the_sum_that_is_printed() -> None:
    """Eq. 1 term by term, with the kernel's derivative by torch."""
    draw = torch.Generator().manual_seed(1)
    particles, gradients = torch.randn(2, 7, 3, generator=draw, dtype=torch.float64)
    width = stein.bandwidth((particles[:, None] - particles[None]).square().sum(-1))

    def kernel(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return torch.exp(-(one - other).square().sum() / width)

    expected = [
        sum(
            kernel(own, at) * gradient + torch.func.grad(kernel)(own, at)
            for own, gradient in zip(particles, gradients, strict=True)
        )
        / 7
        for at in particles
    ]
    torch.testing.assert_close(stein.direction(particles, gradients), torch.stack(expected))


def test_the_order_and_the_origin_do_not_matter() -> None:
    draw = torch.Generator().manual_seed(2)
    particles, gradients = torch.randn(2, 9, 2, generator=draw, dtype=torch.float64)
    plain = stein.direction(particles, gradients)
    order = torch.randperm(9, generator=draw)
    torch.testing.assert_close(stein.direction(particles[order], gradients[order]), plain[order])
    torch.testing.assert_close(stein.direction(particles + 5.0, gradients), plain)


def test_one_particle_climbs() -> None:
    one = torch.tensor([[0.3, 0.4]], dtype=torch.float64)
    torch.testing.assert_close(stein.direction(one, 2.0 * one), 2.0 * one)
