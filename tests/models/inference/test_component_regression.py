"""Principal component regression against least squares, and what must not change it."""

import numpy as np
import pytest

from ricochet.models.inference import component_regression


def cases(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    inputs = draw.standard_normal((200, 6)) * np.array([5.0, 3.0, 2.0, 1.0, 0.5, 0.2])
    return inputs, inputs @ np.arange(1.0, 7.0) + 0.1 * draw.standard_normal(200)


def test_all_components_are_least_squares() -> None:
    inputs, outputs = cases()
    fitted = component_regression.fit(inputs, outputs, 6)
    design = np.hstack([inputs, np.ones((200, 1))])
    weights = np.linalg.lstsq(design, outputs, rcond=None)[0]
    np.testing.assert_allclose(
        component_regression.predict(fitted, inputs), design @ weights, atol=1e-9
    )


def test_few_components_are_regression_on_the_largest_singular_vectors() -> None:
    inputs, outputs = cases(1)
    fitted = component_regression.fit(inputs, outputs, 2)
    centred = inputs - inputs.mean(0)
    left = np.linalg.svd(centred, full_matrices=False)[0][:, :2]
    expected = outputs.mean() + left @ (left.T @ (outputs - outputs.mean()))
    np.testing.assert_allclose(component_regression.predict(fitted, inputs), expected, atol=1e-9)


def test_rotated_inputs_predict_alike() -> None:
    inputs, outputs = cases(2)
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((6, 6)))[0]
    one = component_regression.fit(inputs, outputs, 3)
    other = component_regression.fit(inputs @ turn, outputs, 3)
    np.testing.assert_allclose(
        component_regression.predict(one, inputs),
        component_regression.predict(other, inputs @ turn),
        atol=1e-8,
    )


def test_eigenvalues_are_variances_of_the_components() -> None:
    inputs, outputs = cases(4)
    fitted = component_regression.fit(inputs, outputs, 4)
    projected = (inputs - fitted.centre) @ fitted.components.T
    assert projected.var(0) == pytest.approx(fitted.eigenvalues[:4], rel=1e-9)
    np.testing.assert_allclose(fitted.components @ fitted.components.T, np.eye(4), atol=1e-12)
