"""Densities on grids against Gaussians, truncated ones and a funnel, all known in closed form."""

import math

import numpy as np
import pytest
from scipy import stats

from ricochet.models.inference import grid_densities, window_search
from ricochet.models.inference.grid_densities import GridDensity

MEAN, SD, CORRELATION = np.array([0.7, 3.0]), np.array([0.004, 0.25]), 0.6
BOUNDS = np.array([[0.55, 1.0], [0.95, 5.0]])


def _covariance() -> np.ndarray:
    return np.outer(SD, SD) * np.array([[1.0, CORRELATION], [CORRELATION, 1.0]])


def _gaussian(mean: np.ndarray = MEAN):
    precision = np.linalg.inv(_covariance())

    def log_density(theta: np.ndarray) -> np.ndarray:
        centred = theta - mean
        return 123.0 - 0.5 * np.einsum("pi,ij,pj->p", centred, precision, centred)

    return log_density


def _fit(log_density, start=(0.69, 0.72), bounds: np.ndarray = BOUNDS) -> GridDensity:
    return grid_densities.tabulate(
        log_density, window_search.locate(log_density, start, bounds), bounds
    )


@pytest.fixture(scope="module")
def gaussian() -> GridDensity:
    return _fit(_gaussian())


def test_a_gaussian_keeps_its_moments(gaussian: GridDensity) -> None:
    # the bicubic spline is exact for the log of a Gaussian up to the windows' bend; 0.5 %
    assert np.abs((gaussian.mean - MEAN) / SD).max() < 0.005
    np.testing.assert_allclose(gaussian.covariance, _covariance(), rtol=0.01)
    assert gaussian.weights.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.abs((gaussian.peak - MEAN) / SD).max() < 0.2  # a grid point: 97 over twelve sd


def test_a_gaussian_keeps_its_normalised_density(gaussian: GridDensity) -> None:
    theta = stats.multivariate_normal(MEAN, _covariance()).rvs(200, random_state=1)
    expected = stats.multivariate_normal(MEAN, _covariance()).logpdf(theta)
    np.testing.assert_allclose(gaussian.log_density_at(theta), expected, atol=0.02)


def test_a_gaussian_keeps_its_intervals(gaussian: GridDensity) -> None:
    for level, z in ((0.5, 0.6745), (0.9, 1.6449)):
        expected = MEAN[:, None] + SD[:, None] * np.array([-z, z])
        np.testing.assert_allclose(
            (gaussian.interval(level) - expected) / SD[:, None], 0, atol=0.02
        )


@pytest.mark.parametrize("squared", [0.5, 1.0, 2.4, 4.6, 9.0])
def test_content_is_the_chi_square_of_two_degrees(gaussian: GridDensity, squared: float) -> None:
    # Whole cells are counted, an eighth of a standard deviation wide: of the 64 pi d^2 in a
    # contour, those that it cuts are off by a percent where the lattice sits badly.
    expected, off = 1 - math.exp(-squared / 2), []
    for angle in np.linspace(0, 2 * math.pi, 24, endpoint=False):
        step = math.sqrt(squared) * np.array([math.cos(angle), math.sin(angle)])
        theta = MEAN + np.linalg.cholesky(_covariance()) @ step
        off.append(gaussian.content_above(theta) - expected)
    assert np.abs(off).max() < 0.013


def test_outside_the_grid_nothing_is_left(gaussian: GridDensity) -> None:
    assert gaussian.content_above(np.array([0.6, 3.0])) == pytest.approx(1.0)
    assert gaussian.log_density_at(np.array([[0.7, 4.9], [0.9, 3.0]])).tolist() == [-np.inf] * 2


def test_ranks_are_the_marginals_distribution_functions(gaussian: GridDensity) -> None:
    for z in ((0.0, 0.0), (1.0, -1.0), (-2.0, 0.5)):
        found = gaussian.ranks(MEAN + SD * np.array(z))
        # a row is a sixteenth of a standard deviation, its mass 2.5 %: half of it either way
        np.testing.assert_allclose(found, stats.norm.cdf(z), atol=0.028)


def test_samples_have_the_moments_and_stay_inside(gaussian: GridDensity) -> None:
    count = 20_000
    drawn = gaussian.sample(count, draw=np.random.default_rng(2))
    # four standard errors of a mean, and of a variance (sqrt(2 / n)); 1 % for the cells
    assert np.abs((drawn.mean(0) - MEAN) / SD).max() < 4 / math.sqrt(count)
    np.testing.assert_allclose(
        np.cov(drawn.T), _covariance(), rtol=4 * math.sqrt(2 / count) * 1.5 + 0.01
    )
    assert np.isfinite(gaussian.log_density_at(drawn)).all()


def test_samples_follow_the_density_everywhere(gaussian: GridDensity) -> None:
    drawn = gaussian.sample(4000, draw=np.random.default_rng(3))
    for k in range(2):
        found = stats.kstest((drawn[:, k] - MEAN[k]) / SD[k], "norm").statistic
        assert found < 1.95 / math.sqrt(4000) + 0.003  # the 99.9 % point, and the cells
    squared = np.einsum("pi,ij,pj->p", drawn - MEAN, np.linalg.inv(_covariance()), drawn - MEAN)
    assert stats.kstest(squared, "chi2", args=(2,)).statistic < 1.95 / math.sqrt(4000) + 0.003


def test_samples_repeat_by_seed(gaussian: GridDensity) -> None:
    first, second = (gaussian.sample(10, draw=np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("start", [(0.55, 0.56), (0.9, 0.95), (0.699, 0.7001), (0.55, 0.95)])
def test_the_mass_is_found_from_any_start(start: tuple[float, float]) -> None:
    density = _fit(_gaussian(), start)
    assert np.abs((density.mean - MEAN) / SD).max() < 0.02
    np.testing.assert_allclose(density.covariance, _covariance(), rtol=0.03)


def test_a_narrow_mass_in_a_corner_is_found() -> None:
    density = _fit(_gaussian(np.array([0.93, 4.8])), (0.6, 0.65))
    assert (density.mean[0] - 0.93) / SD[0] < 0.0 or density.mean[1] < 4.8  # cut at b = 5
    assert np.isfinite(density.log_density_at(np.array([[0.93, 4.8]])))[0]


def test_a_gaussian_cut_at_a_bound_has_the_truncated_moments() -> None:
    sd_a, sd_b = 0.01, 0.3

    def log_density(theta: np.ndarray) -> np.ndarray:
        return -0.5 * ((theta[:, 0] - 0.95) / sd_a) ** 2 - 0.5 * ((theta[:, 1] - 5.2) / sd_b) ** 2

    density = _fit(log_density, (0.9, 0.95))
    a = stats.truncnorm(-np.inf, 0, loc=0.95, scale=sd_a)
    b = stats.truncnorm(-np.inf, (5 - 5.2) / sd_b, loc=5.2, scale=sd_b)
    assert abs(density.mean[0] - a.mean()) < 0.02 * a.std()
    assert abs(density.mean[1] - b.mean()) < 0.02 * b.std()
    np.testing.assert_allclose(np.diag(density.covariance), [a.var(), b.var()], rtol=0.03)
    assert density.points[..., 0].max() <= 0.95 and density.points[..., 1].max() <= 5.0
    drawn = density.sample(4000, draw=np.random.default_rng(5))
    assert drawn[:, 0].max() <= 0.95 and drawn[:, 1].max() <= 5.0
    for k, law in enumerate((a, b)):
        assert stats.kstest(drawn[:, k], law.cdf).statistic < 1.95 / math.sqrt(4000) + 0.01
        np.testing.assert_allclose(
            density.interval(0.9)[k], law.ppf([0.05, 0.95]), atol=0.04 * law.std()
        )


def test_a_flat_density_fills_the_box() -> None:
    density = _fit(lambda theta: np.zeros(len(theta)))
    middle, width = BOUNDS.mean(0), BOUNDS[1] - BOUNDS[0]
    np.testing.assert_allclose(density.mean, middle, rtol=1e-3)
    np.testing.assert_allclose(np.diag(density.covariance), width**2 / 12, rtol=0.02)


FUNNEL = np.array([[-20.0, -2.5], [20.0, 2.5]])


def _funnel(theta: np.ndarray) -> np.ndarray:
    """b ~ N(0, 0.5^2), a | b ~ N(0, exp(-2 b))."""
    a, b = theta.T
    return -0.5 * (b / 0.5) ** 2 + b - 0.5 * (a * np.exp(b)) ** 2


def test_a_funnel_keeps_its_moments_and_marginals() -> None:
    density = _fit(_funnel, (-1.0, 1.0), FUNNEL)
    # E a^2 = E exp(-2 b) = exp(2 x 0.25); rows of the grid are 0.05 apart
    expected = math.exp(0.5)
    assert abs(density.mean[0]) < 0.01 and abs(density.mean[1]) < 0.01
    np.testing.assert_allclose(
        density.covariance, [[expected, 0.0], [0.0, 0.25]], atol=0.02 * expected
    )
    np.testing.assert_allclose(density.interval(0.9)[1], [-0.8224, 0.8224], atol=0.01)
    drawn = density.sample(6000, draw=np.random.default_rng(6))
    scaled = drawn[:, 0] * np.exp(drawn[:, 1])
    assert stats.kstest(scaled, "norm").statistic < 1.95 / math.sqrt(6000) + 0.005


def test_content_in_a_funnel_is_that_of_many_draws() -> None:
    density = _fit(_funnel, (-1.0, 1.0), FUNNEL)
    draw = np.random.default_rng(7)
    b = 0.5 * draw.normal(size=40_000)
    drawn = np.stack([np.exp(-b) * draw.normal(size=40_000), b], axis=-1)
    levels = _funnel(drawn)
    for theta in np.array([[0.2, 0.3], [1.0, -0.5], [0.5, 0.8]]):
        share = (levels > _funnel(theta[None])[0]).mean()
        # 3 standard errors, 3 sqrt(0.25 / 40000) = 0.0075, and the cells on the contour
        assert density.content_above(theta) == pytest.approx(share, abs=0.0125)


def test_moving_and_stretching_the_parameters_moves_and_stretches_the_answer() -> None:
    plain = _fit(_gaussian())

    def moved(theta: np.ndarray) -> np.ndarray:
        return _gaussian()((theta - np.array([5.0, -2.0])) / np.array([100.0, 2.0]))

    bounds = BOUNDS * np.array([100.0, 2.0]) + np.array([5.0, -2.0])
    other = _fit(moved, (74.0, 77.0), bounds)
    np.testing.assert_allclose(
        other.mean, plain.mean * [100.0, 2.0] + [5.0, -2.0], rtol=0, atol=1e-6
    )


def test_intervals_fitted_to_a_rough_density_leave_the_moments() -> None:
    # half an sd aside, the intervals reach from -5.5 to 6.5 sd: 4e-8 of the mass is outside
    window = window_search.locate(_gaussian(), (0.69, 0.72), BOUNDS)
    rough = _gaussian(MEAN + 0.5 * SD)
    density = grid_densities.tabulate(_gaussian(), window, BOUNDS, rough=rough)
    # as close as intervals fitted to the density itself
    assert np.abs((density.mean - MEAN) / SD).max() < 0.005
    np.testing.assert_allclose(density.covariance, _covariance(), rtol=0.01)


def test_a_density_that_is_not_a_number_is_refused() -> None:
    def spoilt(theta: np.ndarray) -> np.ndarray:
        return np.where(theta[:, 1] > 3, np.nan, 0.0)

    with pytest.raises(ValueError, match="not finite"):
        window_search.locate(spoilt, (0.6, 0.8), BOUNDS)
    with pytest.raises(ValueError, match="not finite"):
        window_search.locate(lambda theta: np.full(len(theta), -np.inf), (0.6, 0.8), BOUNDS)


def test_a_start_that_lies_inside_the_mass_grows_until_it_holds_the_mass() -> None:
    # a start of a tenth of a standard deviation, without an edge above the middle
    log_density = _gaussian()
    window = window_search.locate(log_density, (0.6998, 0.7002), BOUNDS)
    for row, low, high in zip(window.rows, window.low, window.high, strict=True):
        values = log_density(np.stack([np.linspace(low, high, 200), np.full(200, row)], axis=-1))
        # e^-9 of a row's peak at its edges: 4.2 of its standard deviations
        assert values.max() - values[[0, -1]].max() > 9.0


def test_a_density_that_vanishes_in_places_is_no_error() -> None:
    # rows of b below 2 are impossible altogether, as where the law cannot reach the features
    def partly(theta: np.ndarray) -> np.ndarray:
        return np.where(theta[:, 1] < 2.0, -np.inf, _gaussian()(theta))

    density = _fit(partly)
    assert np.abs((density.mean - MEAN) / SD).max() < 0.03


def test_rows_that_the_first_look_misses_are_found_from_their_neighbours() -> None:
    # restitution is known a hundred times better at the top: all points of the first columns there
    # lie more than fifty standard deviations from the ridge, where doubt makes the density flat
    def log_density(theta: np.ndarray) -> np.ndarray:
        sd = 0.03 * 10.0 ** (-0.5 * (theta[:, 1] - 1.0))
        values = -0.5 * ((theta[:, 0] - 0.583) / sd) ** 2 - np.log(sd)
        return np.maximum(values, values.max() - 40.0)

    bounds = BOUNDS
    window = window_search.locate(log_density, (0.55, 0.95), bounds)
    assert window.rows[0] == 1.0 and window.rows[-1] == 5.0
    density = grid_densities.tabulate(log_density, window, bounds)
    # each row holds the same mass where no bound cuts it
    share = density.weights.sum(1)
    assert share[-2] == pytest.approx(share[len(share) // 2], rel=0.02)
