"""A claim beside the exact posterior: uniform if right, and by how much not where it is wrong."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ricochet.models.inference import grid_densities
from ricochet.models.inference.grid_densities import GridDensity, Window
from ricochet.models.systems.bouncing_ball.calibration import posterior_agreement
from ricochet.models.systems.bouncing_ball.calibration.posterior_agreement import Claim

CENTRE, SPREAD = np.array([0.85, 3.5]), np.array([1.5e-4, 0.15])
DRAWS = 2000
LINE = 1.95 / np.sqrt(DRAWS)  # distance of Kolmogorov that is passed once in a thousand


def gaussian(*, spread=1.0, shift=(0.0, 0.0)) -> GridDensity:
    """A Gaussian posterior, known in closed form."""
    centre, sd = CENTRE + np.array(shift) * SPREAD, spread * SPREAD
    rows = np.linspace(centre[1] - 6 * sd[1], centre[1] + 6 * sd[1], 97)
    low, high = np.full(97, centre[0] - 6 * sd[0]), np.full(97, centre[0] + 6 * sd[0])
    window = Window(rows, low, high)
    values = -0.5 * (((window.points(97) - centre) / sd) ** 2).sum(-1)
    return grid_densities.normalise(window, values)


def claim(density: GridDensity) -> Claim:
    samples = density.sample(DRAWS, draw=np.random.default_rng(1))
    return Claim(density, samples, density.mean, density.covariance)


def compare(stated: Claim, exact: GridDensity) -> posterior_agreement.Agreement:
    return posterior_agreement.compare(stated, exact, draws=DRAWS, draw=np.random.default_rng(2))


def distance(values, law=lambda u: u) -> float:
    return stats.kstest(law(values), "uniform").statistic


def test_levels_are_those_of_a_gaussian_in_closed_form():
    theta = CENTRE + SPREAD * np.array([[0.03, 0.02], [1.03, 0.07], [0.06, 2.02], [1.55, -1.43]])
    radius = (((theta - CENTRE) / SPREAD) ** 2).sum(1)
    found = posterior_agreement.levels(gaussian(), theta)
    # the grid's cells are an eighth of a standard deviation wide
    np.testing.assert_allclose(found, 1 - np.exp(-radius / 2), atol=0.01)
    normal = stats.norm.cdf((theta - CENTRE) / SPREAD)
    np.testing.assert_allclose(posterior_agreement.ranks(gaussian(), theta), normal, atol=0.005)


def test_a_right_claim_is_uniform_in_every_way():
    found = compare(claim(gaussian()), gaussian())
    for values in (found.levels, found.sample_levels, *found.sample_ranks.T):
        assert distance(values) < LINE
    assert found.mean_distance < 0.01
    np.testing.assert_allclose(found.variance_ratios, 1.0, atol=0.01)


@pytest.mark.parametrize("division", [2.0, 4.0, 0.25])
def test_levels_under_a_divided_variance_follow_the_stated_law(division):
    found = compare(claim(gaussian(spread=division**-0.5)), gaussian())
    held = (found.levels < 0.9).mean()
    expected = 1 - 0.1 ** (1 / division)
    # 4 standard errors of a share of 2000 draws, and the grid
    assert abs(held - expected) < 4 * np.sqrt(expected * (1 - expected) / DRAWS) + 0.01
    assert distance(found.sample_levels, lambda u: 1 - (1 - u) ** division) < LINE + 0.01
    np.testing.assert_allclose(found.variance_ratios, 1 / division, rtol=0.01)


def test_a_shifted_claim_shows_in_the_ranks_and_in_the_mean():
    found = compare(claim(gaussian(shift=(0.0, 0.5))), gaussian())
    assert found.mean_distance == pytest.approx(0.5, abs=0.01)
    assert distance(found.sample_ranks[:, 1]) > 0.15 > LINE > distance(found.sample_ranks[:, 0])


def test_a_point_outside_the_claimed_grid_has_level_one():
    found = posterior_agreement.levels(gaussian(), CENTRE[None] + 1.0)
    np.testing.assert_allclose(found, 1.0, atol=1e-6)


def test_a_batch_equals_its_members_and_units_change_nothing():
    exact = gaussian()
    theta = exact.sample(20, draw=np.random.default_rng(3))
    alone = np.concatenate([posterior_agreement.levels(exact, row[None]) for row in theta])
    np.testing.assert_array_equal(posterior_agreement.levels(exact, theta), alone)
    window = Window(exact.window.rows, 10 * exact.window.low, 10 * exact.window.high)
    scaled = grid_densities.normalise(window, exact.log_density)
    tenfold = theta * np.array([10.0, 1.0])
    np.testing.assert_allclose(posterior_agreement.levels(scaled, tenfold), alone, atol=1e-6)


def test_claims_that_are_not_finite_are_refused():
    wrong = replace(claim(gaussian()), mean=np.array([np.nan, 3.5]))
    with pytest.raises(ValueError, match="finite"):
        compare(wrong, gaussian())
