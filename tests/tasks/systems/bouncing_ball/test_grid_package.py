"""The log density of a packaged posterior is read by interpolation, and nowhere outside."""

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from ricochet.tasks.systems.bouncing_ball import grid_package


def test_the_grid_reader_equals_an_independent_interpolator(package):
    draw = np.random.default_rng(1)
    arrays = package.arrays | {"log_density": draw.normal(size=(61, 61))}
    theta = np.column_stack([draw.uniform(0.55, 0.95, 200), draw.uniform(1.0, 5.0, 200)])
    axes = (arrays["rows"], np.linspace(0.55, 0.95, 61))
    oracle = RegularGridInterpolator(axes, arrays["log_density"])
    found = grid_package.grid_log_density(arrays, {"theta": theta})["log_density"]
    np.testing.assert_allclose(found, oracle(theta[:, ::-1]), atol=1e-12)


def test_rows_may_have_intervals_of_their_own():
    """A function linear in the place within the row is read exactly, at any width of the rows."""
    rows = np.array([1.0, 2.0, 3.0])
    low, high = np.array([0.8, 0.7, 0.6]), np.array([0.81, 0.75, 0.9])
    table = np.add.outer(rows, np.linspace(0.0, 1.0, 11))
    arrays = {"rows": rows, "low": low, "high": high, "log_density": table}
    theta = np.array([[0.8 + 0.25 * 0.01, 1.0], [0.75 + 0.5 * 0.03, 1.5], [0.6, 3.0], [0.9, 1.0]])
    found = grid_package.grid_log_density(arrays, {"theta": theta})["log_density"]
    np.testing.assert_allclose(found, [1.25, 2.0, 3.0, -np.inf], atol=1e-12)


def test_there_is_no_density_outside_the_grid(package):
    theta = np.array([[0.5, 3.0], [0.7, 5.1]])
    assert np.isneginf(
        grid_package.grid_log_density(package.arrays, {"theta": theta})["log_density"]
    ).all()


def test_a_batch_of_points_equals_its_members(package):
    theta = np.array([[0.6, 1.5], [0.7, 2.5], [0.8, 4.5]])
    together = grid_package.grid_log_density(package.arrays, {"theta": theta})["log_density"]
    alone = [
        grid_package.grid_log_density(package.arrays, {"theta": t[None]})["log_density"][0]
        for t in theta
    ]
    np.testing.assert_array_equal(together, alone)


def test_a_family_is_listed_by_what_a_further_take_has(package):
    from dataclasses import replace

    from ricochet.tasks.systems.bouncing_ball.grid_package import describe

    moments = {"mean": np.array([0.8, 3.0]), "covariance": np.diag([1e-4, 0.04])}
    grid = replace(package, kind="grid", arrays=moments)
    assert [each.name for each in describe(grid)] == ["restitution", "log10_concentration"]
    family = replace(grid, kind="family")
    assert describe(family)[0].name == "restitution of a further take"
    assert describe(family)[0].sd == describe(grid)[0].sd
