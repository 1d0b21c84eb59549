"""The height of release integrated out: closed form against quadrature, and a whole posterior."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from ricochet.models.inference.grid_densities import Window
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import height_marginal, posterior
from ricochet.models.systems.bouncing_ball.calibration.likelihood import Quadrature
from ricochet.models.systems.bouncing_ball.features import Features
from ricochet.models.systems.bouncing_ball.problem import Noise, Release

TENNIS = (0.72, 3.0)
RULE = Quadrature(points=64, heights=10)


@pytest.mark.parametrize("curvature", [0.0, -0.5, -40.0, 0.3])
@pytest.mark.parametrize("slope", [0.0, 0.7, -0.7, 12.0, -300.0])
def test_the_gain_is_the_integral_over_the_height(slope: float, curvature: float) -> None:
    peak = max(slope * z + 0.5 * (curvature - 1.0) * z * z for z in np.linspace(-5, 5, 2001))

    def density(z: float) -> float:
        return math.exp(slope * z + 0.5 * (curvature - 1.0) * z * z - peak)

    nodes = sorted(np.clip([-5, slope / (1 - curvature), 5], -5, 5))
    value, _ = integrate.quad(density, -5, 5, points=nodes, epsabs=0, epsrel=1e-10, limit=200)
    expected = math.log(value) + peak - 0.5 * math.log(2 * math.pi)
    found = height_marginal.gain(np.array(slope), np.array(curvature))
    assert float(found) == pytest.approx(expected, abs=1e-7)


def test_a_height_that_changes_nothing_adds_nothing() -> None:
    # all but the 6e-7 of a normal law beyond five standard deviations
    assert float(height_marginal.gain(np.zeros(1), np.zeros(1))[0]) == pytest.approx(0.0, abs=1e-6)


def test_either_sign_of_the_slope_gains_the_same() -> None:
    slope, curvature = np.array([0.1, 3.0, 900.0]), np.array([-0.2, -30.0, -2.0])
    here, there = (height_marginal.gain(sign * slope, curvature) for sign in (1, -1))
    np.testing.assert_array_equal(here, there)


def test_the_window_grows_by_what_the_height_moves_concentration() -> None:
    rows = np.linspace(2.5, 3.5, 11)
    window = Window(rows, np.full(11, 0.7), np.full(11, 0.8))
    bounds = np.array([[0.55, 1.0], [0.95, 5.0]])
    wider = height_marginal.widened(window, 0.05, bounds)
    # kappa goes as h^2: five errors of 5 % are 2 * 0.25 / ln 10 of its logarithm
    assert wider.rows[[0, -1]] == pytest.approx([2.5 - 0.217, 3.5 + 0.217], abs=1e-3)
    assert height_marginal.widened(window, 1.0, bounds).rows[[0, -1]].tolist() == [1.0, 5.0]


def _session(
    count: int, relative_sd: float, height: float = 0.26
) -> tuple[Features, Noise, Release]:
    noise = problem.constant_noise((count,))
    theta = torch.tensor(TENNIS, dtype=torch.float64).expand(count, 2)
    exact = problem.constant_release((count,), height=height)
    features = problem.simulate_features(
        theta, noise, exact, draw=torch.Generator().manual_seed(31)
    )
    return (
        features,
        noise,
        problem.constant_release((count,), height=height, height_sd=relative_sd * height),
    )


@pytest.mark.proof
@pytest.mark.parametrize("count, relative_sd", [(12, 0.05), (40, 0.1), (12, 0.2)])
def test_the_posterior_is_the_mean_over_heights_of_the_plain_one(
    count: int, relative_sd: float
) -> None:
    """Against 41 heights, each with its own likelihood, weighted by the trapezoid rule."""
    features, noise, release = _session(count, relative_sd)
    found = posterior.posterior(features, noise, release, quadrature=RULE)
    sd = np.sqrt(np.diag(found.covariance))
    theta = found.mean + sd * np.array([[0, 0], [1, 0], [-1, 0.5], [0, 1.5], [0, -1.5], [0.5, -1]])
    z = np.linspace(-4.5, 4.5, 41)
    rows = []
    for shift in z:
        moved = Release(
            release.height * math.exp(relative_sd * shift), release.height_sd, release.session
        )
        drops = posterior.joined(features, noise, moved)
        rows.append(posterior.log_likelihood(drops, theta, RULE).sum(0))
    logs = np.array(rows) + stats.norm.logpdf(z)[:, None]
    plain = np.logaddexp.reduce(logs, axis=0)
    ours = found.log_density_at(theta)
    # parabola and splines: a tenth of a nat where the height is known to 20 %, less below
    np.testing.assert_allclose(ours - ours[0], plain - plain[0], atol=0.12)


@pytest.mark.proof
def test_what_is_less_sure_of_its_height_is_less_sure_of_concentration() -> None:
    features, noise, release = _session(40, 0.1)
    exact = problem.constant_release((40,))
    ours, plain = (
        posterior.posterior(features, noise, each, quadrature=RULE) for each in (release, exact)
    )
    here, there = math.sqrt(ours.covariance[1, 1]), math.sqrt(plain.covariance[1, 1])
    # kappa goes as h^2 at most: localisation and the hand's speed do not scale with h
    assert 1.03 * there < here < math.hypot(there, height_marginal.BY_HEIGHT * 0.1)
    assert ours.mean[0] == pytest.approx(plain.mean[0], abs=0.3 * math.sqrt(plain.covariance[0, 0]))


@pytest.mark.proof
def test_sessions_share_no_error() -> None:
    """The likelihood of two sessions is the product of theirs, each over its own height."""
    features, noise, release = _session(24, 0.1)
    apart = Release(release.height, release.height_sd, torch.arange(24) // 12)
    rule = Quadrature(points=256, heights=12)
    both = posterior.posterior(features, noise, apart, quadrature=rule)
    sd = np.sqrt(np.diag(both.covariance))
    theta = both.mean + sd * np.array([[0, 0], [1, 0], [-1, 0.5], [0, 1.5], [0, -1.5]])
    alone = np.zeros(len(theta))
    for part in (slice(0, 12), slice(12, 24)):
        some = Features(*(column[part] for column in vars(features).values()))
        rig = Noise(noise.time_sd[part], noise.position_sd[part])
        alone += posterior.posterior(some, rig, release.rows(part), quadrature=rule).log_density_at(
            theta
        )
    found = both.log_density_at(theta)
    # 24 drops, each with an error of the integration of about 0.01 nats
    np.testing.assert_allclose(found - found[0], alone - alone[0], atol=0.15)
