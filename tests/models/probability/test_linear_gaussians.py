"""Conditioning a joint Gaussian equals regression and finds a known law again."""

import numpy as np
import pytest

from ricochet.models.probability import linear_gaussians
from ricochet.models.probability.linear_gaussians import LinearGaussian
from tests.oracles.linear_gaussians import sample

LAW = LinearGaussian(
    np.array([[-0.7, 0.1, 1.4], [0.0, 0.8, 0.2]]),
    np.array([0.1, -0.2]),
    np.array([[0.04, 0.01], [0.01, 0.02]]),
)


def samples(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    inputs = draw.normal(0.5, 1.0, (count, 3))
    return sample(LAW, inputs, draw=draw), inputs


def test_fit_equals_the_blocks_of_the_joint_covariance():
    """Eqs. 4-5 as written, but for the scale of the covariance."""
    outputs, inputs = samples(50)
    fitted = linear_gaussians.fit(outputs, inputs)
    joint = np.cov(np.hstack((outputs, inputs)).T, bias=True)
    matrix = joint[:2, 2:] @ np.linalg.inv(joint[2:, 2:])
    np.testing.assert_allclose(fitted.matrix, matrix, rtol=1e-9)
    np.testing.assert_allclose(fitted.offset, outputs.mean(0) - matrix @ inputs.mean(0), rtol=1e-9)
    biased = joint[:2, :2] - matrix @ joint[2:, :2]
    np.testing.assert_allclose(fitted.covariance, biased * 50 / 46, rtol=1e-9)


def test_fit_finds_the_law_again():
    """N = 20000: numbers of the matrix are known to 0.2 / sqrt(N) = 0.0014 (three: 0.0042)."""
    fitted = linear_gaussians.fit(*samples(20000))
    np.testing.assert_allclose(fitted.matrix, LAW.matrix, atol=4.5e-3)
    np.testing.assert_allclose(fitted.offset, LAW.offset, atol=6e-3)
    # A variance is known to sqrt(2 / N) = 1 % of itself.
    np.testing.assert_allclose(fitted.covariance, LAW.covariance, atol=0.03 * 0.04)


def test_noise_of_known_size_is_weighed():
    """u from 0.1 to 10: the law is found to the best samples' error, the covariance at u = 1."""
    draw = np.random.default_rng(3)
    outputs, inputs = samples(20000)
    scale = 10.0 ** draw.uniform(-1.0, 1.0, (20000, 2))
    expected = linear_gaussians.mean(LAW, inputs)
    loud = expected + scale * (outputs - expected)
    fitted = linear_gaussians.fit(loud, inputs, scale=scale)
    np.testing.assert_allclose(fitted.matrix, LAW.matrix, atol=3e-3)
    np.testing.assert_allclose(fitted.covariance, LAW.covariance, atol=0.03 * 0.04)


def test_covariance_of_few_samples_is_right_on_average():
    """400 fits to 9 samples: variance of each is 2 / 5 of its square, so 3 errors are 9.5 %."""
    found = np.mean(
        [linear_gaussians.fit(*samples(9, seed)).covariance for seed in range(400)], axis=0
    )
    np.testing.assert_allclose(np.diag(found), np.diag(LAW.covariance), rtol=0.1)


def test_fit_turns_with_its_outputs_and_forgets_the_order():
    outputs, inputs = samples(40)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    plain = linear_gaussians.fit(outputs, inputs)
    turned = linear_gaussians.fit(outputs[::-1] @ turn.T, inputs[::-1])
    np.testing.assert_allclose(turned.matrix, turn @ plain.matrix, atol=1e-12)
    np.testing.assert_allclose(turned.covariance, turn @ plain.covariance @ turn.T, atol=1e-12)


@pytest.mark.parametrize(
    ("outputs", "inputs", "says"),
    [
        (np.zeros((3, 2)), np.eye(3), "too few"),
        (np.full((9, 2), np.nan), np.arange(27.0).reshape(9, 3) ** 2, "finite"),
        (np.zeros((9, 2)), np.ones((9, 3)), "span"),
    ],
)
def test_samples_that_tell_no_law_are_refused(outputs, inputs, says):
    with pytest.raises(ValueError, match=says):
        linear_gaussians.fit(outputs, inputs)
