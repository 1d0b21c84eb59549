"""Moves on surfaces: laws known in closed form, and what must not change."""

import numpy as np
import pytest
import torch
from scipy import stats

from ricochet.models.inference import ridge_moves
from ricochet.models.inference.limits import Limits, Logistic, Shares
from ricochet.models.inference.ridge_moves import Ridge

SQUARE = Limits(torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64))
PRODUCT = 0.05


def product(theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return theta.prod(-1, keepdim=True), theta.flip(-1)[:, None]


def on_the_curve(count: int) -> torch.Tensor:
    first = torch.from_numpy(np.random.default_rng(0).uniform(0.06, 0.9, count))
    return torch.stack((first, PRODUCT / first), 1)


@pytest.mark.parametrize(
    "coordinates", [Shares(SQUARE), Logistic(SQUARE, torch.tensor([False, False]))]
)
def test_on_a_curve_of_equal_products_the_logarithms_are_uniform(coordinates) -> None:
    """dx dy = d(xy) dx / x: given xy, the density of x is 1 / x, whatever the coordinates."""
    generator = np.random.default_rng(1)
    ridge = Ridge(coordinates, product)
    x, length = coordinates.of(on_the_curve(1000)), 0.3
    x, length = ridge_moves.moved(ridge, x, 100, length, generator, adapt=True)
    x, _ = ridge_moves.moved(ridge, x, 100, length, generator)
    theta = coordinates.parameters(x)
    np.testing.assert_allclose(theta.prod(1), PRODUCT, rtol=1e-7)
    share = np.log(theta[:, 0].numpy()) / np.log(PRODUCT)
    assert stats.kstest(share, "uniform").pvalue > 1e-3


def test_on_a_circle_every_direction_is_as_likely() -> None:
    def radius(theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        centred = theta - 0.5
        return centred.square().sum(-1, keepdim=True), 2.0 * centred[:, None]

    generator = np.random.default_rng(2)
    angles = torch.from_numpy(generator.uniform(0.0, 0.5, 1000))
    x = 0.5 + 0.3 * torch.stack((angles.cos(), angles.sin()), 1)
    x, length = ridge_moves.moved(Ridge(Shares(SQUARE), radius), x, 100, 0.3, generator, adapt=True)
    x, _ = ridge_moves.moved(Ridge(Shares(SQUARE), radius), x, 100, length, generator)
    found = torch.atan2(*(x - 0.5).T).numpy() / (2.0 * np.pi) + 0.5
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_where_data_tell_everything_nothing_moves() -> None:
    def both(theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return theta, torch.eye(2, dtype=torch.float64).expand(len(theta), 2, 2)

    x = on_the_curve(50)
    moved, _ = ridge_moves.moved(Ridge(Shares(SQUARE), both), x, 5, 0.3, np.random.default_rng(3))
    torch.testing.assert_close(moved, x, rtol=0.0, atol=1e-8)


def test_functions_without_slope_stop_no_other_particle() -> None:
    x = torch.cat((torch.zeros(1, 2, dtype=torch.float64), on_the_curve(50)))
    ridge = Ridge(Shares(SQUARE), product)
    moved, _ = ridge_moves.moved(ridge, x, 20, 0.2, np.random.default_rng(4))
    assert bool((moved[0] == 0.0).all())
    assert float((moved[1:] - x[1:]).abs().amax(1).median()) > 0.01
