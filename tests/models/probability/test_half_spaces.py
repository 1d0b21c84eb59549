"""The chance that a redraw leaves the plane: against draws, closed forms and finer tables."""

import math

import numpy as np
import pytest
import torch

from ricochet.models.probability import half_spaces
from tests.oracles import von_mises_fisher as oracle

CONCENTRATIONS = (1.0, 10.0, 60.0, 3e3)


def _probability(concentration: float, cosine: float) -> float:
    logs = half_spaces.log_upward_probability(
        torch.tensor([concentration], dtype=torch.float64),
        torch.tensor([cosine], dtype=torch.float64),
    )
    return math.exp(float(logs[0, 0]))


@pytest.mark.parametrize(
    "concentration, cosine",
    [(0.5, 0.9), (5.0, 0.1), (10.0, 0.3), (10.0, 0.7), (100.0, 0.05), (1e4, 0.01)],
)
def test_the_chance_is_the_share_of_draws_that_point_up(
    concentration: float, cosine: float
) -> None:
    count = 200_000
    mean = torch.tensor([math.sqrt(1 - cosine**2), 0.0, cosine], dtype=torch.float64)
    drawn = oracle.sample(
        mean.expand(count, 3),
        torch.full((count,), concentration, dtype=torch.float64),
        draw=torch.Generator().manual_seed(1),
    )
    share = float((drawn[:, 2] > 0).double().mean())
    expected = _probability(concentration, cosine)
    # binomial: three standard errors, sqrt(p (1 - p) / count) <= 0.0011
    assert abs(share - expected) < 3 * math.sqrt(expected * (1 - expected) / count)


@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_a_mean_along_the_normal_has_the_closed_form(concentration: float) -> None:
    # z has the density kappa exp(kappa (z - 1)) / (1 - exp(-2 kappa)): P(z > 0) = 1 / (1 + e^-k)
    expected = 1 / (1 + math.exp(-concentration))
    assert _probability(concentration, 1.0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("concentration", [*CONCENTRATIONS, 1e5])
def test_a_mean_in_the_plane_leaves_half(concentration: float) -> None:
    assert _probability(concentration, 0.0) == pytest.approx(0.5, rel=1e-10)


def test_a_nearly_uniform_law_leaves_half_whatever_the_mean() -> None:
    # to first order P = 1/2 + kappa cos(gamma) / 4
    for cosine in (0.2, 0.8):
        assert _probability(1e-3, cosine) == pytest.approx(0.5 + 1e-3 * cosine / 4, abs=1e-6)


@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_up_and_down_of_opposite_means_share_the_whole(concentration: float) -> None:
    # the chance of pointing up about -mean is that of pointing down about mean
    up = math.exp(
        float(
            half_spaces.log_upward_probability(
                torch.tensor([concentration], dtype=torch.float64),
                torch.tensor([-0.03], dtype=torch.float64),
            )
        )
    )
    assert up + _probability(concentration, 0.03) == pytest.approx(1.0, rel=1e-9)


def test_the_chance_grows_with_the_cosine_and_towards_one_with_concentration() -> None:
    cosine = torch.linspace(0, 1, 40, dtype=torch.float64)
    kappa = torch.tensor([2.0, 20.0, 200.0], dtype=torch.float64)
    logs = half_spaces.log_upward_probability(kappa, cosine)
    assert bool((torch.diff(logs, dim=1) >= -1e-12).all())
    assert bool((torch.diff(logs[:, 1:], dim=0) >= -1e-12).all())
    assert bool((logs <= 0).all())


@pytest.mark.parametrize("concentration", [10.0, 100.0, 200.0, 3e3])
def test_the_table_is_off_by_no_more_than_its_curvature_allows(concentration: float) -> None:
    # Near the plane P is Phi(sqrt(kappa) cos): log Phi bends by at most 2 / pi there, so chords
    # over steps of 1 / 128 are off by kappa (2 / pi) / (8 * 128^2); 5 % for the sphere.
    kappa = torch.tensor([concentration], dtype=torch.float64)
    cosine = torch.linspace(0, 1, 1500, dtype=torch.float64)
    exact = half_spaces.log_upward_probability(kappa, cosine)[0]
    off = (half_spaces.table(kappa).at(cosine[None])[0] - exact).abs()
    bound = 1.05 * concentration * (2 / math.pi) / (8 * 128**2)
    assert float(off.max()) < bound
    # and where the ball's mean directions lie, tan(gamma) = 0.4 / 1.2 and less, by nothing
    assert concentration < 100 or float(off[cosine > 0.9].max()) < 1e-9


def test_a_table_row_belongs_to_its_concentration_even_when_repeated() -> None:
    kappa = torch.tensor([30.0, 10.0, 30.0], dtype=torch.float64)
    table = half_spaces.table(kappa)
    alone = half_spaces.table(kappa[1:2])
    np.testing.assert_array_equal(table.log_probability[0], table.log_probability[2])
    np.testing.assert_array_equal(table.log_probability[1], alone.log_probability[0])
