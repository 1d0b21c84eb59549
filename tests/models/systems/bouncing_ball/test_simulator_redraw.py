"""Exits of the simulator: the redraw's law, its energy, and that it leaves the plane."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from ricochet.models.probability.von_mises_fisher import log_density
from ricochet.models.systems.bouncing_ball import simulator
from tests.models.systems.bouncing_ball.simulator_cases import (
    GRAVITY,
    HEIGHT,
    entry_velocities,
    full,
    plane_normal,
    seeded,
)
from tests.oracles.von_mises_fisher import mean_resultant_length


@pytest.mark.parametrize("tilt", [0.0, 0.25])
@pytest.mark.parametrize("concentration", [3.0, 1e4])
def test_redraw_keeps_the_energy_of_the_exit(tilt: float, concentration: float) -> None:
    e = 0.75
    ours = simulator.simulate(
        full(2000, e),
        full(2000, concentration),
        bounces=4,
        tilt=tilt,
        drop_height=HEIGHT,
        draw=seeded(),
    )
    entry = entry_velocities(ours)
    into = entry @ plane_normal(tilt)
    along_squared = (entry - into[..., None] * plane_normal(tilt)).square().sum(-1)
    expected = torch.sqrt(along_squared + e**2 * into.square())
    speed = ours.velocities[:, 1:].norm(dim=-1)
    torch.testing.assert_close(speed, expected, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("tilt", [0.0, 0.25])
def test_contacts_lie_on_the_plane_and_exits_leave_it(tilt: float) -> None:
    ours = simulator.simulate(
        full(5000, 0.6), full(5000, 2.0), tilt=tilt, drop_height=HEIGHT, draw=seeded()
    )
    assert float((ours.positions @ plane_normal(tilt)).abs().max()) < 1e-15
    assert float((ours.velocities @ plane_normal(tilt)).min()) > 0.0
    assert float(torch.diff(ours.times, dim=-1).min()) > 0.0


def test_redrawn_exit_follows_the_law_given_that_it_leaves_the_plane() -> None:
    """A shallow throw at k = 3, where about a third of the first draws point into the plane."""
    size, k = 100_000, 3.0
    start = torch.tensor([1.0, 0.0, -0.1], dtype=torch.float64)
    ours = simulator.simulate(
        full(size, 0.9),
        full(size, k),
        bounces=1,
        drop_height=1e-3,
        start_velocity=start,
        draw=seeded(),
    )
    into = -math.sqrt(0.1**2 + 2.0 * GRAVITY * 1e-3)
    unperturbed = torch.tensor([1.0, 0.0, -0.9 * into], dtype=torch.float64)
    unperturbed /= unperturbed.norm()
    expected, rejected = _moments_above_the_plane(unperturbed, k)
    assert 0.2 < rejected < 0.5
    direction = ours.velocities[:, 0] / ours.velocities[:, 0].norm(dim=-1, keepdim=True)
    moments = torch.cat((direction, direction.square()), -1)
    # Three standard errors of six means over 100,000 draws; the quadrature is good to 1e-6.
    error = 3.0 * moments.std(0) / math.sqrt(size) + 1e-6
    assert bool(((moments.mean(0) - expected).abs() < error).all())


def _moments_above_the_plane(mean: Tensor, concentration: float) -> tuple[Tensor, float]:
    """First and second moments of x given z > 0 by quadrature, and P(z <= 0)."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    azimuth = torch.arange(240, dtype=torch.float64) * (2.0 * math.pi / 240)
    moments, mass = torch.zeros(6, dtype=torch.float64), 0.0
    for node, weight in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
        side = math.sqrt(1.0 - node**2)
        z = torch.full_like(azimuth, float(node))
        x = torch.stack((side * azimuth.cos(), side * azimuth.sin(), z), -1)
        density = log_density(1.0 - x @ mean, full(240, concentration))
        share = density.exp() * (float(weight) * 2.0 * math.pi / 240)
        mass += float(share.sum())
        moments += share @ torch.cat((x, x.square()), -1)
    return moments / mass, 1.0 - mass


@pytest.mark.parametrize("concentration", [1e2, 1e5])
def test_deflections_have_the_mean_resultant_length_of_the_law(concentration: float) -> None:
    """Steep exits at k >= 100: the share drawn again, e^-100 or less, does not bend the mean."""
    size = 20_000
    start = torch.zeros(3, dtype=torch.float64)
    ours = simulator.simulate(
        full(size, 0.9),
        full(size, concentration),
        bounces=1,
        start_velocity=start,
        drop_height=HEIGHT,
        draw=seeded(),
    )
    direction = ours.velocities[:, 0] / ours.velocities[:, 0].norm(dim=-1, keepdim=True)
    fall = 0.5 * (direction - plane_normal(0.0)).square().sum(-1)
    length = mean_resultant_length(concentration)
    assert abs(fall.mean() - (1.0 - length)) < 3.0 * fall.std() / math.sqrt(size)


@pytest.mark.parametrize("concentration", [10.0, 1e3, 1e5])
def test_energy_balance_of_two_flights_returns_restitution(concentration: float) -> None:
    """Eq. 6's kinetic energies, with restitution on the normal component alone.

    (d2/t2)^2 + (g t2/2)^2 = (d1/t1)^2 + e^2 (g t1/2)^2, whatever the redraw was.
    """
    truth = torch.linspace(0.55, 0.95, 500, dtype=torch.float64)
    ours = simulator.simulate(truth, full(500, concentration), drop_height=HEIGHT, draw=seeded())
    flight = torch.diff(ours.times, dim=-1)
    distance = torch.diff(ours.positions, dim=-2).norm(dim=-1)
    along = (distance / flight).square()
    rise = (0.5 * GRAVITY * flight).square()
    found = torch.sqrt((along[:, 1] + rise[:, 1] - along[:, 0]) / rise[:, 0])
    # A grazing exit loses digits of rise[0]; steep ones, the rule, keep them to 1e-9.
    steep = rise[:, 0] > 0.01 * along[:, 0]
    assert int(steep.sum()) > 490
    torch.testing.assert_close(found[steep], truth[steep], rtol=1e-9, atol=0.0)


def test_concentration_is_recovered_from_exit_directions() -> None:
    size, e, truth = 20_000, 0.85, 10.0**2.5
    ours = simulator.simulate(
        full(size, e), full(size, truth), bounces=2, drop_height=HEIGHT, draw=seeded()
    )
    unperturbed = entry_velocities(ours)[:, 0]
    unperturbed[:, 2] *= -e
    cosine = torch.nn.functional.cosine_similarity(unperturbed, ours.velocities[:, 1], dim=-1)
    # 1 - cosine is exponential with mean 1 / k, so the relative standard error is 1 / sqrt(20,000).
    recovered = 1.0 / float((1.0 - cosine).mean())
    assert abs(recovered / truth - 1.0) < 3.0 / math.sqrt(size)
