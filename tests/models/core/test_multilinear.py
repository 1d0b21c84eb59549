"""Interpolation in a grid is exact for what is linear along each axis, and stays in the grid."""

import numpy as np

from ricochet.models.core import multilinear

AXES = (np.linspace(0.0, 1.0, 3), np.linspace(-1.0, 1.0, 5), np.linspace(2.0, 3.0, 4))
GRID = np.stack(np.meshgrid(*AXES, indexing="ij"), -1)


def product(where: np.ndarray) -> np.ndarray:
    x, y, z = np.moveaxis(where, -1, 0)
    return np.stack((1.0 + x * y * z, x - 2.0 * z), -1)


def test_what_is_linear_along_each_axis_is_met_exactly() -> None:
    where = np.random.default_rng(0).uniform((0.0, -1.0, 2.0), (1.0, 1.0, 3.0), (4, 30, 3))
    found = multilinear.between(product(GRID), multilinear.cell_at(AXES, where))
    np.testing.assert_allclose(found, product(where), atol=1e-12)


def test_outside_the_nearest_place_of_the_grid_counts() -> None:
    outside, inside = np.array((-0.5, 0.2, 9.0)), np.array((0.0, 0.2, 3.0))
    found = multilinear.between(product(GRID), multilinear.cell_at(AXES, outside))
    np.testing.assert_allclose(found, product(inside), atol=1e-12)


def test_a_place_that_is_no_number_has_a_cell_and_no_value() -> None:
    cell = multilinear.cell_at(AXES, np.array((np.nan, 0.0, 2.5)))
    assert cell.corner[0] == 0 and np.isnan(multilinear.between(product(GRID), cell)).all()
