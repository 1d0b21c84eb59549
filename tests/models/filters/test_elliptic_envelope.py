"""The elliptic envelope: Gaussian samples, contamination, affine maps, false alarms."""

import numpy as np
import pytest
from scipy import stats

from ricochet.models.filters import elliptic_envelope

COVARIANCE = np.array([[4.0, 1.2], [1.2, 1.0]])


def gaussian(count: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return draw.multivariate_normal([0.3, -0.1], COVARIANCE, count)


def test_moments_of_gaussian_samples_are_recovered() -> None:
    found = elliptic_envelope.fit(gaussian(20_000, 1))
    # three standard errors: of a mean 3 * 2 / sqrt(20000) = 0.042; of a variance 4 with the
    # efficiency of 0.9 or more that the reweighted estimate has, 3 * 4 * sqrt(2 / 18000) = 0.127
    assert np.abs(found.mean - [0.3, -0.1]).max() < 0.042
    assert np.abs(found.covariance - COVARIANCE).max() < 0.127


def test_a_fifth_of_far_samples_does_not_move_the_envelope() -> None:
    samples = gaussian(5000, 2)
    samples[:1000] += [30.0, -40.0]
    found = elliptic_envelope.fit(samples)
    # the 4000 good ones: three standard errors 3 * 2 / sqrt(4000) = 0.095 and
    # 3 * 4 * sqrt(2 / 3600) = 0.28; half of all samples are 5/8 of the good ones, whose covariance
    # is 0.411 / 0.307 = 1.34 times that of the half, so the second look keeps 99.3 % for 97.5 %
    # and is too wide by 0.965 / 0.905: 6.5 % of 4
    assert np.abs(found.mean - [0.3, -0.1]).max() < 0.095
    assert np.abs(found.covariance - COVARIANCE).max() < 0.28 + 0.26
    plain = np.cov(samples.T)
    assert np.abs(plain - COVARIANCE).max() > 100.0


def test_one_good_observation_in_a_hundred_is_taken_for_an_outlier() -> None:
    envelope = elliptic_envelope.fit(gaussian(20_000, 3))
    alarms = int(elliptic_envelope.is_outlier(envelope, gaussian(20_000, 4)).sum())
    # binomial standard error sqrt(20000 * 0.01 * 0.99) = 14; the envelope's own error moves the
    # share by 0.01 * 9.2 / 2 * 2 % at most, 18 of 20000; three of both together
    assert abs(alarms - 200) < 3 * np.hypot(14, 18)


def test_the_distance_is_that_of_mahalanobis() -> None:
    envelope = elliptic_envelope.Envelope(np.array([1.0, 2.0]), COVARIANCE)
    away = np.array([[0.5, -0.2], [3.0, 1.0]])
    plain = np.einsum("bi,ij,bj->b", away, np.linalg.inv(COVARIANCE), away)
    np.testing.assert_allclose(
        elliptic_envelope.squared_distance(envelope, away + envelope.mean), plain
    )


def test_the_threshold_is_the_chi_square_quantile() -> None:
    envelope = elliptic_envelope.Envelope(np.zeros(2), np.eye(2))
    edge = np.sqrt(stats.chi2.ppf(0.99, 2))
    assert not elliptic_envelope.is_outlier(envelope, np.array([edge - 1e-6, 0.0]))
    assert elliptic_envelope.is_outlier(envelope, np.array([0.0, edge + 1e-6]))


def test_an_affine_map_of_samples_and_observation_changes_nothing() -> None:
    samples, observed = gaussian(400, 5), gaussian(50, 6)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]]) * 1e-3
    one = elliptic_envelope.squared_distance(elliptic_envelope.fit(samples), observed)
    mapped = elliptic_envelope.fit(samples @ turn.T + 7.0)
    other = elliptic_envelope.squared_distance(mapped, observed @ turn.T + 7.0)
    np.testing.assert_allclose(other, one, rtol=1e-6)  # 7.0 + 1e-3 loses four of 16 digits


def test_the_order_of_the_samples_does_not_matter() -> None:
    samples = gaussian(400, 7)
    one, other = elliptic_envelope.fit(samples), elliptic_envelope.fit(samples[::-1])
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-9)


def test_samples_without_spread_hold_their_own_place_only() -> None:
    envelope = elliptic_envelope.fit(np.tile([0.1, 0.2], (50, 1)))
    assert not elliptic_envelope.is_outlier(envelope, np.array([0.1, 0.2]))
    assert elliptic_envelope.is_outlier(envelope, np.array([0.1, 0.2001]))
    widened = elliptic_envelope.fit(np.tile([0.1, 0.2], (50, 1)), noise=1e-6 * np.eye(2))
    assert not elliptic_envelope.is_outlier(widened, np.array([0.1, 0.2001]))


def test_an_observation_that_is_no_number_is_an_outlier() -> None:
    envelope = elliptic_envelope.Envelope(np.zeros(2), np.eye(2))
    assert elliptic_envelope.is_outlier(envelope, np.array([np.nan, 0.0]))


def test_too_few_samples_and_bad_ones_are_refused() -> None:
    with pytest.raises(ValueError, match="samples"):
        elliptic_envelope.fit(np.zeros((9, 2)))
    with pytest.raises(ValueError, match="samples"):
        elliptic_envelope.fit(np.full((20, 2), np.nan))
    with pytest.raises(ValueError, match="mass"):
        elliptic_envelope.is_outlier(
            elliptic_envelope.Envelope(np.zeros(2), np.eye(2)), np.zeros(2), mass=1.0
        )
