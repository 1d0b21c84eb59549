"""Shapes: mass properties beside those of polygons of many points, convexity, moves and turns."""

import numpy as np
import pytest

from ricochet.models.systems.batting import shapes
from ricochet.models.systems.batting.shapes import SHAPES

CORNERS = 20_000
Series = tuple[np.ndarray, np.ndarray]


def series(name: str, harmonics: int = 5) -> Series:
    cosines, sines = np.zeros(harmonics), np.zeros(harmonics)
    cosines[: len(SHAPES[name][0])] = SHAPES[name][0]
    sines[: len(SHAPES[name][1])] = SHAPES[name][1]
    return cosines, sines


def polygon(cosines: np.ndarray, sines: np.ndarray) -> np.ndarray:
    """Crossings of neighbouring tangents: a polygon around the shape."""
    psi = 2.0 * np.pi * np.arange(CORNERS) / CORNERS
    k = np.arange(len(cosines))[:, None]
    h = (cosines[:, None] * np.cos(k * psi) + sines[:, None] * np.sin(k * psi)).sum(0)
    step = psi[1]
    along = (np.roll(h, -1) - h * np.cos(step)) / np.sin(step)
    u = np.stack([np.cos(psi), np.sin(psi)], axis=1)
    return h[:, None] * u + along[:, None] * np.stack([-u[:, 1], u[:, 0]], axis=1)


def area_centroid_and_gyration(corners: np.ndarray) -> tuple[float, np.ndarray, float]:
    """Shoelace formulas; gyration squared is about the origin."""
    a, b = corners, np.roll(corners, -1, axis=0)
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    area = 0.5 * cross.sum()
    centroid = ((a + b) * cross[:, None]).sum(0) / (6.0 * area)
    square = (a**2).sum(1) + (a * b).sum(1) + (b**2).sum(1)
    return area, centroid, (square * cross).sum() / (12.0 * area)


# A polygon's relative error is about (2 pi / CORNERS)^2 = 1e-7.
@pytest.mark.parametrize("name", SHAPES)
def test_centre_and_gyration_are_those_of_a_polygon(name: str) -> None:
    found = shapes.seven_shapes()
    kind = list(SHAPES).index(name)
    corners = polygon(found.cosines[kind], found.sines[kind])
    _, centroid, gyration = area_centroid_and_gyration(corners)
    np.testing.assert_allclose(centroid, 0.0, atol=1e-7)
    assert found.gyration_squared[kind] == pytest.approx(gyration, rel=1e-6)
    reach = np.hypot(*corners.T).max()
    assert reach < found.radius[kind] < reach * 1.001


@pytest.mark.parametrize("name", SHAPES)
def test_the_uncentred_series_has_the_area_of_the_polygon_and_is_moved_by_its_centroid(
    name: str,
) -> None:
    cosines, sines = series(name)
    cosines[1], sines[1] = 0.07, -0.04
    psi = 2.0 * np.pi * np.arange(720) / 720
    h, _, curvature = shapes.support(cosines, sines, psi)
    area, centroid, _ = area_centroid_and_gyration(polygon(cosines, sines))
    assert np.pi * (h * curvature).mean() == pytest.approx(area, rel=1e-6)
    moved = shapes.centred(cosines, sines)
    np.testing.assert_allclose(
        [cosines[1] - moved[0][1], sines[1] - moved[1][1]], centroid, atol=1e-7
    )


@pytest.mark.parametrize("name", SHAPES)
def test_boundaries_turn_left_everywhere(name: str) -> None:
    kind = list(SHAPES).index(name)
    found = shapes.seven_shapes()
    edges = np.diff(shapes.boundary(found.cosines[kind], found.sines[kind]), axis=0, append=np.nan)
    edges = edges[:-1]
    before, after = edges[:-1], edges[1:]
    assert (before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0] > 0.0).all()


@pytest.mark.parametrize("name", SHAPES)
def test_boundary_points_are_supported_by_their_tangents(name: str) -> None:
    cosines, sines = shapes.centred(*series(name))
    corners = shapes.boundary(cosines, sines, 300)
    psi = 2.0 * np.pi * np.arange(300) / 300
    u = np.stack([np.cos(psi), np.sin(psi)], axis=1)
    heights = corners @ u.T  # of every point along every normal
    h, _, _ = shapes.support(cosines, sines, psi)
    np.testing.assert_allclose(np.diag(heights), h, atol=1e-14)
    assert (heights <= h + 1e-14).all()


def test_a_disc_has_half_its_squared_radius() -> None:
    found = shapes.seven_shapes()
    radius = SHAPES["disc"][0][0]
    assert found.gyration_squared[0] == pytest.approx(0.5 * radius**2, rel=1e-12)
    assert found.radius[0] == pytest.approx(radius, rel=2e-4)
    assert found.bend[0] == pytest.approx(0.0, abs=1e-11)


def test_an_ellipse_has_a_quarter_of_its_squared_axes() -> None:
    a, b = 0.7, 0.4
    psi = 2.0 * np.pi * np.arange(720) / 720
    h = np.sqrt((a * np.cos(psi)) ** 2 + (b * np.sin(psi)) ** 2)
    k = np.arange(60)
    cosines = (2.0 * h * np.cos(np.outer(k, psi))).mean(1)
    cosines[0] = h.mean()
    found = shapes.gather([shapes.centred(cosines, np.zeros(60))])
    assert found.gyration_squared[0] == pytest.approx(0.25 * (a**2 + b**2), rel=1e-9)


@pytest.mark.parametrize("name", SHAPES)
def test_no_turn_brings_a_wall_nearer_than_the_bend_says(name: str) -> None:
    found = shapes.seven_shapes()
    kind = list(SHAPES).index(name)
    psi = 2.0 * np.pi * np.arange(1000) / 1000
    k = np.arange(found.cosines.shape[1])[:, None]
    second = -(k**2 * found.cosines[kind][:, None] * np.cos(k * psi)).sum(0)
    second -= (k**2 * found.sines[kind][:, None] * np.sin(k * psi)).sum(0)
    assert max(second.max(), 0.0) < found.bend[kind] <= 1.002 * max(second.max(), 0.0) + 1e-11


@pytest.mark.parametrize("shift", [(0.1, 0.0), (-0.05, 0.12)])
@pytest.mark.parametrize("name", SHAPES)
def test_a_moved_series_is_the_same_shape_once_centred(
    name: str, shift: tuple[float, float]
) -> None:
    cosines, sines = series(name)
    before = shapes.centred(cosines, sines)
    cosines[1] += shift[0]
    sines[1] += shift[1]
    np.testing.assert_allclose(shapes.centred(cosines, sines), before, atol=1e-14)


@pytest.mark.parametrize("turn", [0.3, 2.0])
@pytest.mark.parametrize("name", SHAPES)
def test_a_turned_series_has_the_same_mass_properties(name: str, turn: float) -> None:
    cosines, sines = series(name)
    c, s = np.cos(turn * np.arange(5)), np.sin(turn * np.arange(5))
    turned = shapes.centred(cosines * c - sines * s, cosines * s + sines * c)
    found = shapes.gather([shapes.centred(cosines, sines), turned])
    assert found.gyration_squared[1] == pytest.approx(found.gyration_squared[0], rel=1e-12)
    assert found.bend[1] == pytest.approx(found.bend[0], rel=1e-3, abs=1e-11)


@pytest.mark.parametrize("cosines", [(0.5, 0.0, 0.3), (0.5, 0.6), (0.3, 0.0, 0.0, 0.0, 0.05)])
def test_what_is_not_convex_or_leaves_the_origin_out_is_refused(cosines: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="not convex"):
        shapes.centred(np.array(cosines), np.zeros(len(cosines)))
