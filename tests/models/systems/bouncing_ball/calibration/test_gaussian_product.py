"""The paper's product of Gaussians against conjugate formulas."""

import math

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.calibration.gaussian_product import (
    GaussianProduct,
    gaussian_product,
)


def _random_gaussians(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    roots = draw.normal(size=(count, 2, 2))
    return draw.normal(size=(count, 2)), roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(2)


def test_one_dimension_has_the_textbook_form() -> None:
    # N(1, 4) x N(4, 1): precision 5/4, mean (1/4 + 4) / (5/4) = 3.4, variance 0.8
    product = gaussian_product(np.array([[1.0], [4.0]]), np.array([[[4.0]], [[1.0]]]))
    assert product.mean[0] == pytest.approx(3.4) and product.covariance[0, 0] == pytest.approx(0.8)


def test_the_product_is_the_sequence_of_conjugate_updates() -> None:
    # Kalman's form with an identity observation: gain K = S (S + R)^-1
    means, covariances = _random_gaussians(6, 1)
    mean, covariance = means[0], covariances[0]
    for other, spread in zip(means[1:], covariances[1:], strict=True):
        gain = covariance @ np.linalg.inv(covariance + spread)
        mean = mean + gain @ (other - mean)
        covariance = covariance - gain @ covariance
    product = gaussian_product(means, covariances)
    np.testing.assert_allclose(product.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(product.covariance, covariance, rtol=1e-9)


def test_equal_factors_keep_the_mean_and_share_the_covariance() -> None:
    means, covariances = _random_gaussians(1, 2)
    product = gaussian_product(np.repeat(means, 7, 0), np.repeat(covariances, 7, 0))
    np.testing.assert_allclose(product.mean, means[0], rtol=1e-12)
    np.testing.assert_allclose(product.covariance, covariances[0] / 7, rtol=1e-12)


def test_neither_order_nor_units_matter() -> None:
    means, covariances = _random_gaussians(5, 3)
    scale = np.array([[2.0, 1.0], [0.0, 3.0]])
    product = gaussian_product(means, covariances)
    turned = gaussian_product(means[::-1] @ scale.T, scale @ covariances[::-1] @ scale.T)
    np.testing.assert_allclose(turned.mean, scale @ product.mean, rtol=1e-9)
    np.testing.assert_allclose(turned.covariance, scale @ product.covariance @ scale.T, rtol=1e-9)


def test_content_is_the_chi_square_of_two_degrees() -> None:
    # P(chi2_2 < d2) = 1 - exp(-d2 / 2)
    gaussian = GaussianProduct(np.array([1.0, 2.0]), np.diag([4.0, 0.25]))
    assert gaussian.content_above(np.array([1.0, 2.0])) == 0.0
    expected = 1 - math.exp(-0.5 * (1.0 + 4.0))
    assert gaussian.content_above(np.array([3.0, 3.0])) == pytest.approx(expected, rel=1e-12)


def test_a_singular_factor_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        gaussian_product(np.zeros((1, 2)), np.ones((1, 2, 2)))
