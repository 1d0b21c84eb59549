"""The exact joint posterior: recovery, ranks and coverage of one drop and of products."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from scipy import stats

from ricochet.models.inference import calibration_checks
from ricochet.models.inference.grid_densities import GridDensity
from ricochet.models.probability import boxes
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import posterior
from ricochet.models.systems.bouncing_ball.calibration.likelihood import Quadrature
from ricochet.models.systems.bouncing_ball.features import Features
from ricochet.models.systems.bouncing_ball.problem import PRIOR, Noise, Release

TENNIS = (0.72, 3.0)
RULE = Quadrature(points=32, heights=8)


def _session(theta: tuple[float, float], drops: int, seed: int) -> tuple[Features, Noise]:
    noise = problem.constant_noise((drops,))
    rows = torch.tensor(theta, dtype=torch.float64).expand(drops, 2)
    draw = torch.Generator().manual_seed(seed)
    return problem.simulate_features(rows, noise, _release(drops), draw=draw), noise


def _release(drops: int) -> Release:
    return problem.constant_release((drops,))


def _rows(features: Features, index: list[int]) -> Features:
    return Features(*(getattr(features, field.name)[index] for field in fields(features)))


def _scaled(noise: Noise, factor: float) -> Noise:
    return Noise(factor * noise.time_sd, factor * noise.position_sd)


def _sd(density: GridDensity) -> np.ndarray:
    return np.sqrt(np.diag(density.covariance))


@pytest.fixture(scope="module")
def six() -> tuple[Features, Noise, GridDensity]:
    features, noise = _session(TENNIS, 6, 1)
    return (
        features,
        noise,
        posterior.posterior(features, noise, _release(len(noise.time_sd)), quadrature=RULE),
    )


def test_the_parameters_that_made_the_drops_are_recovered(six) -> None:
    density = six[2]
    # chi-square of two degrees: beyond 13.8 once in a thousand
    centred = density.mean - np.array(TENNIS)
    assert centred @ np.linalg.solve(density.covariance, centred) < 13.8
    # ten drops, two redraws of two degrees of freedom each: log10 kappa to 1 / (ln 10 sqrt(20))
    # = 0.097 without noise, and not much more with it
    assert 0.08 < _sd(density)[1] < 0.25
    assert _sd(density)[0] < 0.0036 / math.sqrt(
        10
    )  # below what one average drop of the prior tells


def test_more_drops_tell_more(six) -> None:
    features, noise, density = six
    alone = Noise(noise.time_sd[:1], noise.position_sd[:1])
    one = posterior.posterior(_rows(features, [0]), alone, _release(1))
    assert (_sd(density) < 0.7 * _sd(one)).all()


def test_larger_stated_noise_widens_the_posterior(six) -> None:
    features, noise, density = six
    wider = posterior.posterior(features, _scaled(noise, 3.0), _release(6), quadrature=RULE)
    assert _sd(wider)[0] > 1.3 * _sd(density)[0]


def test_the_order_of_the_drops_does_not_matter(six) -> None:
    features, noise, density = six
    turned = posterior.posterior(
        _rows(features, list(range(5, -1, -1))), noise, _release(6), quadrature=RULE
    )
    # each drop gets other nodes: errors of about 0.01 nats a drop shift a mean by a few percent
    assert (np.abs(turned.mean - density.mean) < 0.15 * _sd(density)).all()
    np.testing.assert_allclose(_sd(turned), _sd(density), rtol=0.1)


def test_mirrored_drops_tell_the_same(six) -> None:
    features, noise, density = six
    mirrored = Features(
        features.ratio, features.first_distance, features.second_distance, -features.turn
    )
    other = posterior.posterior(mirrored, noise, _release(6), quadrature=RULE)
    assert (np.abs(other.mean - density.mean) < 0.15 * _sd(density)).all()
    np.testing.assert_allclose(_sd(other), _sd(density), rtol=0.1)


@pytest.mark.slow
def test_no_mass_lies_outside_the_prior() -> None:
    features, noise = _session((0.9495, 1.05), 1, 3)
    density = posterior.posterior(features, noise, _release(len(noise.time_sd)), quadrature=RULE)
    points = density.sample(2000, draw=np.random.default_rng(1))
    assert bool(boxes.contains(PRIOR, torch.from_numpy(points)).all())


def test_the_posterior_is_the_normalised_likelihood() -> None:
    # a difference of log posteriors is a difference of log likelihoods: the prior is uniform
    features, noise = _session(TENNIS, 1, 4)
    rule = Quadrature(points=256, heights=12)
    density = posterior.posterior(features, noise, _release(1), quadrature=rule)
    spread = _sd(density)
    theta = density.mean + np.array([[0, 0], [0.5, 0], [-0.5, 0.4], [0, 1], [0.6, -0.8]]) * spread
    drops = posterior.joined(features, noise, _release(1))
    plain = posterior.log_likelihood(drops, theta, rule)[0]
    found = density.log_density_at(theta)
    # the bicubic spline between 17 x 13 evaluations: a few hundredths of a nat
    np.testing.assert_allclose(found - found[0], plain - plain[0], atol=0.1)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("height", "relative_sd"),
    [
        (0.08, 0.03),
        pytest.param(0.08, 0.0, marks=pytest.mark.slow),
        pytest.param(1.3, 0.03, marks=pytest.mark.slow),
        (1.3, 0.0),
    ],
)
def test_a_take_scaled_to_another_height_has_the_same_posterior(
    six, height: float, relative_sd: float
) -> None:
    """Lengths x s, times and speeds x sqrt(s), errors too: the law has no scale of its own."""
    features, noise, density = six
    scale = height / problem.REFERENCE_HEIGHT
    larger = replace(
        features,
        first_distance=features.first_distance * scale,
        second_distance=features.second_distance * scale,
    )
    poorer = Noise(noise.time_sd * math.sqrt(scale), noise.position_sd * scale)
    faster = problem.HORIZONTAL_SD * math.sqrt(scale)
    release = replace(_release(6), height_sd=_release(6).height * relative_sd)
    if relative_sd:
        density = posterior.posterior(features, noise, release, quadrature=RULE)
    other = Release(release.height * scale, release.height_sd * scale, release.session, faster)
    theirs = posterior.posterior(larger, poorer, other, quadrature=RULE)
    np.testing.assert_allclose(theirs.mean, density.mean, rtol=0, atol=1e-7)
    np.testing.assert_allclose(theirs.covariance, density.covariance, rtol=1e-4, atol=1e-12)


@pytest.mark.proof
@pytest.mark.slow
def test_drops_from_another_height_are_not_taken_for_those_of_the_paper() -> None:
    """The height was recorded and never read: 20 drops from 0.6 m gave 2.4 +- 0.1 for 3."""
    theta, noise = (0.85, 3.0), problem.constant_noise((20,))
    rows = torch.tensor(theta, dtype=torch.float64).expand(20, 2)
    high = problem.constant_release((20,), height=0.6)
    draw = torch.Generator().manual_seed(3)
    features = problem.simulate_features(rows, noise, high, draw=draw)
    right, wrong = (
        posterior.posterior(features, noise, release, quadrature=RULE)
        for release in (high, _release(20))
    )
    assert (np.abs(right.mean - theta) < 3.3 * _sd(right)).all()
    assert abs(wrong.mean[1] - theta[1]) > 4 * _sd(wrong)[1]


@pytest.mark.parametrize("name", ["ratio", "first_distance", "turn"])
def test_a_feature_that_is_not_finite_is_refused(name: str) -> None:
    features, noise = _session(TENNIS, 2, 5)
    spoilt = {f.name: getattr(features, f.name).clone() for f in fields(features)}
    spoilt[name][1] = math.nan
    with pytest.raises(ValueError, match=name):
        posterior.posterior(Features(**spoilt), noise, _release(2))


def test_a_session_without_drops_is_refused() -> None:
    features, noise = _session(TENNIS, 2, 6)
    with pytest.raises(ValueError, match="no drop"):
        none = Noise(noise.time_sd[:0], noise.time_sd[:0])
        posterior.posterior(_rows(features, []), none, _release(0))


@pytest.mark.proof
@pytest.mark.parametrize(
    "theta, seed", [((0.9, 1.8), 2), ((0.85, 3.5), 12), (TENNIS, 7), (TENNIS, 4)]
)
def test_one_drop_has_the_moments_of_a_plain_dense_grid(
    theta: tuple[float, float], seed: int
) -> None:
    features, noise = _session(theta, 1, seed)
    rule = Quadrature(points=128, heights=12)
    density = posterior.posterior(features, noise, _release(1), quadrature=rule)
    reach = 9 * _sd(density)[0]
    a = np.linspace(
        max(PRIOR.low[0], density.mean[0] - reach), min(PRIOR.high[0], density.mean[0] + reach), 201
    )
    b = np.linspace(PRIOR.low[1], PRIOR.high[1], 41)
    theta_grid = np.stack(np.meshgrid(a, b, indexing="ij"), axis=-1)
    drops = posterior.joined(features, noise, _release(1))
    logs = posterior.log_likelihood(drops, theta_grid.reshape(-1, 2), rule).reshape(201, 41)
    weights = np.exp(logs - logs.max())
    weights[[0, -1]] /= 2
    weights[:, [0, -1]] /= 2
    weights /= weights.sum()
    mean = np.einsum("ab,abk->k", weights, theta_grid)
    sd = np.sqrt(np.einsum("ab,abk->k", weights, (theta_grid - mean) ** 2))
    np.testing.assert_allclose((density.mean - mean) / sd, 0, atol=0.05)
    np.testing.assert_allclose(_sd(density), sd, rtol=0.1)


@pytest.mark.proof
def test_a_drop_that_two_restitutions_explain_has_both_in_its_posterior() -> None:
    """A search for one interval of restitution found the higher one alone; 0.62 was the truth."""
    values = (0.8526, 0.4242, 0.1709, 0.446)
    features = Features(*(torch.tensor([value], dtype=torch.float64) for value in values))
    noise, release = problem.constant_noise((1,)), problem.constant_release((1,), height=0.6)
    a, b = np.linspace(0.55, 0.95, 401), np.linspace(1.0, 5.0, 41)
    theta = np.stack(np.meshgrid(a, b, indexing="ij"), axis=-1).reshape(-1, 2)
    drops = posterior.joined(features, noise, release)
    logs = posterior.log_likelihood(drops, theta, Quadrature(points=256, heights=12))[0]
    plain = np.exp(logs - logs.max()).reshape(401, 41)
    plain[:, [0, -1]] /= 2.0  # trapezoid rule
    plain = plain.sum(1)
    expected = plain[a < 0.7].sum() / plain.sum()
    for height_sd in (0.0, 1e-3):
        sure = replace(release, height_sd=torch.full((1,), height_sd, dtype=torch.float64))
        found = posterior.posterior(features, noise, sure)
        below = float(found.weights[found.points[..., 0] < 0.7].sum())
        assert 0.01 < expected < 0.99
        # 256 nodes of one drop and a spline over the valley: some per cent of a mode's mass
        assert below == pytest.approx(expected, rel=0.15)


def _levels_and_ranks(cases: int, drops: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = torch.Generator().manual_seed(seed)
    truths = boxes.sample(PRIOR, (cases,), draw=draw)
    levels, ranks = [], []
    for index, truth in enumerate(truths.numpy()):
        features, noise = _session(tuple(truth), drops, 1000 * seed + index)
        density = posterior.posterior(features, noise, _release(drops))
        levels.append(density.content_above(truth))
        ranks.append(density.ranks(truth))
    return np.array(levels), np.array(ranks)


@pytest.mark.proof
@pytest.mark.parametrize("drops, cases", [(1, 30), (10, 20)])
def test_ranks_and_levels_are_uniform_over_the_prior(drops: int, cases: int) -> None:
    """`ricochet study ball-inference` counts the coverage of 1000 drops and 500 products."""
    levels, ranks = _levels_and_ranks(cases, drops, seed=drops)
    for found in (levels, ranks[:, 0], ranks[:, 1]):
        # three tests for two sizes: each at one in a thousand
        assert stats.kstest(np.clip(found, 0, 1), "uniform").pvalue > 1e-3
    for row in calibration_checks.coverage(levels):
        # 3.3 binomial standard errors, sqrt(p (1 - p) / cases): 0.30 (30) or 0.37 (20) at 50 %
        error = math.sqrt(row.nominal * (1 - row.nominal) / cases)
        assert abs(row.found - row.nominal) < 3.3 * error
