"""Coordinates of a pendulum: inverses, torch's derivatives, the prior, and what moves nothing."""

import numpy as np
import pytest
import torch

from ricochet.models.inference import shooting_moves
from ricochet.models.inference.limits import Limits
from ricochet.models.systems.rigid_bodies import double_pendulum
from ricochet.models.systems.rigid_bodies.pendulum_coordinates import PendulumCoordinates
from ricochet.models.systems.rigid_bodies.pendulum_limits import HIGH, LOW, PARAMETERS

COORDINATES = PendulumCoordinates(Limits(torch.from_numpy(LOW), torch.from_numpy(HIGH)))


def some_parameters(count: int, seed: int = 0) -> torch.Tensor:
    share = np.random.default_rng(seed).uniform(size=(count, len(PARAMETERS)))
    return torch.from_numpy(LOW + share * (HIGH - LOW))


def test_coordinates_lead_back_to_the_parameters() -> None:
    theta = some_parameters(100)
    torch.testing.assert_close(COORDINATES.parameters(COORDINATES.of(theta)), theta)


def test_slopes_are_those_that_torch_finds_and_the_prior_is_their_determinant() -> None:
    x = COORDINATES.of(some_parameters(20))
    found = COORDINATES.slopes(x)
    torch.testing.assert_close(found, torch.vmap(torch.func.jacrev(COORDINATES.parameters))(x))
    value, gradient = COORDINATES.log_prior(x)
    torch.testing.assert_close(value, torch.linalg.slogdet(found)[1])
    each = torch.func.grad(lambda one: COORDINATES.log_prior(one)[0])
    torch.testing.assert_close(gradient, torch.vmap(each)(x))


def test_beyond_the_limits_there_is_nothing() -> None:
    theta = some_parameters(len(PARAMETERS))
    theta[range(len(theta)), range(len(theta))] = torch.from_numpy(1.01 * HIGH)
    found = COORDINATES.log_prior(COORDINATES.of(theta))[0]
    assert bool((found == -torch.inf).all())


def test_free_coordinates_move_nothing() -> None:
    x = COORDINATES.of(some_parameters(5))
    changed = x.clone()
    changed[:, COORDINATES.free > 0.0] += torch.tensor([0.1, 0.2, -0.7])
    starts = torch.from_numpy(np.random.default_rng(1).uniform(-3.0, 3.0, (5, 4)))
    first, second = (
        double_pendulum.roll_out(COORDINATES.parameters(each), starts, steps=40, duration=2.5e-3)
        for each in (x, changed)
    )
    torch.testing.assert_close(first, second, rtol=1e-10, atol=1e-10)


@pytest.mark.proof
def test_free_moves_have_the_law_of_the_prior_given_all_else() -> None:
    """Masses and log a given the ratios: a^8 / (m_1 m_2)^2 within the limits, by a grid."""
    theta = torch.tensor([0.2, 0.01, 0.05, 0.02, 0.02, 0.15, 0.2, 0.01, 0.04, -0.01, 0.01]).double()
    x = COORDINATES.of(theta)
    masses = torch.linspace(0.05, 0.5, 62, dtype=torch.float64)
    masses = 0.5 * (masses[1:] + masses[:-1])
    inertia = torch.linspace(-8.0, 1.0, 901, dtype=torch.float64)
    cells = torch.cartesian_prod(masses, masses, 0.5 * (inertia[1:] + inertia[:-1]))
    grid = torch.cat((x[:8].expand(len(cells), 8), cells), 1)
    weights = torch.softmax(COORDINATES.log_prior(grid)[0], 0)
    mean = weights @ cells
    sd = (weights @ (cells - mean).square()).sqrt()
    generator = np.random.default_rng(2)
    found, length = x.expand(1000, -1), 0.3
    found, length = shooting_moves.moved_freely(
        COORDINATES, found, 200, length, generator, adapt=True
    )
    found, _ = shooting_moves.moved_freely(COORDINATES, found, 200, length, generator)
    torch.testing.assert_close(found[:, :8], x[:8].expand(1000, 8), rtol=0.0, atol=0.0)
    away = (found[:, 8:].mean(0) - mean) / sd * np.sqrt(1000)
    assert float(away.abs().max()) < 4.5
    assert float((found[:, 8:].std(0) / sd - 1.0).abs().max()) < 0.15
