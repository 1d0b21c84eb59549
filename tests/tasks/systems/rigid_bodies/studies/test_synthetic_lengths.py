"""Synthetic pendulums: the grid against densities made otherwise, and the predictive law."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats

from ricochet.models.inference.limits import Shares
from ricochet.tasks.systems.rigid_bodies.studies import synthetic_lengths
from ricochet.tasks.systems.rigid_bodies.studies.methods import Problem
from ricochet.tasks.systems.rigid_bodies.studies.synthetic_lengths import Data, Rolled

COUNT = 20_000


@pytest.fixture(scope="module")
def data() -> Data:
    return synthetic_lengths.drawn(np.random.default_rng(0), trajectories=4, tests=9)


@pytest.fixture(scope="module")
def coarse() -> Rolled:
    """Cells of a tenth of a metre about the law."""
    axis = torch.arange(0.9, 3.2, 0.1, dtype=torch.float64)
    centres = torch.cartesian_prod(axis, axis)
    return Rolled(centres, synthetic_lengths.moved(centres).flatten(1).float())


def test_pendulums_are_seen_from_where_they_are_let_go_with_the_noise_stated(data: Data) -> None:
    assert data.observed.shape == (4, 401, 4)
    start = torch.tensor(synthetic_lengths.START).double()
    torch.testing.assert_close(data.observed[:, 0], start.expand(4, 4))
    away = data.observed[:, 1:] - synthetic_lengths.moved(torch.from_numpy(data.lengths))
    count = away.numel()
    error = 4.0 * synthetic_lengths.NOISE / math.sqrt(2 * count)
    assert abs(float(away.std()) - synthetic_lengths.NOISE) < error


@pytest.mark.parametrize("mixture", [True, False])
def test_the_grid_is_the_density_that_methods_are_given(
    data: Data, coarse: Rolled, mixture: bool
) -> None:
    """Differences between cells, so that what normalises either does not matter."""
    sigma = 4.0
    problem = Problem(data.shooting(1), Shares(synthetic_lengths.limits()), sigma, mixture=mixture)
    density, cells = problem.density, torch.arange(0, len(coarse.centres), 17)
    value = density.value(density.coordinates.of(coarse.centres[cells]))
    found = coarse.compared(data).log_density(sigma, mixture=mixture)[cells]
    torch.testing.assert_close(found - found[0], value - value[0], rtol=1e-4, atol=1e-3)


def test_draws_have_the_density_s_moments(data: Data, coarse: Rolled) -> None:
    grid, generator = coarse.compared(data), np.random.default_rng(1)
    chance = torch.softmax(grid.log_density(3.0), 0)
    mean = chance @ grid.centres
    spread = (chance @ (grid.centres - mean) ** 2 + synthetic_lengths.CELL**2 / 12.0).sqrt()
    drawn = torch.from_numpy(grid.draws(3.0, COUNT, generator))
    assert bool(((drawn.mean(0) - mean).abs() < 4.0 * spread / math.sqrt(COUNT)).all())
    torch.testing.assert_close(drawn.std(0), spread, rtol=4.0 / math.sqrt(COUNT), atol=0.0)


def test_a_bandwidth_far_too_narrow_or_wide_predicts_worse(data: Data, coarse: Rolled) -> None:
    grid, generator = coarse.compared(data), np.random.default_rng(2)
    best = grid.bandwidth(generator)
    assert synthetic_lengths.BANDWIDTHS[0] < best < synthetic_lengths.BANDWIDTHS[-1]
    least = grid.left_out(best, generator)
    assert least < grid.left_out(0.05, generator)
    assert least < grid.left_out(200.0, generator)


def test_the_next_pendulum_has_student_s_law() -> None:
    """Each length against the quantiles of its law, by Kolmogorov and Smirnov."""
    lengths = synthetic_lengths.draws_of_law(np.random.default_rng(3), 10)
    generator = np.random.default_rng(4)
    found = synthetic_lengths.population(np.broadcast_to(lengths, (COUNT, 10, 2)), generator)
    scale = np.sqrt(np.diag(9.0 * np.cov(lengths.T)) * 11.0 / (10.0 * 8.0))
    for place in range(2):
        law = stats.t(8, loc=lengths[:, place].mean(), scale=scale[place])
        assert stats.kstest(found[:, place], law.cdf).pvalue > 1e-3


def test_the_predictive_law_covers_as_it_says() -> None:
    """Of pendulums drawn from the law: 90 % regions hold the next one in nine of ten."""
    generator, inside, tried = np.random.default_rng(5), 0, 400
    for _ in range(tried):
        lengths = synthetic_lengths.draws_of_law(generator, 11)
        seen = np.broadcast_to(lengths[:10], (300, 10, 2))
        draws = synthetic_lengths.population(seen, generator)
        centre, inverse = draws.mean(0), np.linalg.inv(np.cov(draws.T))
        away = np.einsum("di,ij,dj->d", draws - centre, inverse, draws - centre)
        own = (lengths[10] - centre) @ inverse @ (lengths[10] - centre)
        inside += bool(own < np.quantile(away, 0.9))
    assert abs(inside / tried - 0.9) < 4.0 * math.sqrt(0.09 / tried)


def test_units_of_length_do_not_matter_to_the_prediction() -> None:
    lengths = synthetic_lengths.draws_of_law(np.random.default_rng(6), 10)
    two = [
        synthetic_lengths.population(np.broadcast_to(each, (50, 10, 2)), np.random.default_rng(7))
        for each in (lengths, 100.0 * lengths + 3.0)
    ]
    np.testing.assert_allclose(two[1], 100.0 * two[0] + 3.0)


def test_the_order_of_the_trajectories_does_not_matter(data: Data, coarse: Rolled) -> None:
    turned = replace(data, observed=data.observed.flip(0))
    torch.testing.assert_close(
        coarse.compared(turned).log_density(3.0), coarse.compared(data).log_density(3.0)
    )
