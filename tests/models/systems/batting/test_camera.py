"""The camera: slopes beside the outermost points of the boundary, order, scale and turns."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from ricochet.models.systems.batting import camera, clouds
from ricochet.models.systems.batting.shapes import SHAPES
from tests.models.systems.batting import scenes

KINDS = range(len(SHAPES))


def boundary_slope(psi: float, state: np.ndarray, kind: int) -> float:
    """Slope of the ray from the pinhole to the point of the boundary with body normal psi."""
    world = scenes.quiet()
    a, b = world.shapes.cosines[kind], world.shapes.sines[kind]
    k = np.arange(len(a))
    h = (a * np.cos(k * psi) + b * np.sin(k * psi)).sum()
    slope = (k * (b * np.cos(k * psi) - a * np.sin(k * psi))).sum()
    alpha = psi + state[2]
    x = state[0] + h * np.cos(alpha) - slope * np.sin(alpha)
    y = state[1] + h * np.sin(alpha) + slope * np.cos(alpha)
    return float((y - world.table.camera_y) / (x - world.table.camera_x))


def outermost(state: np.ndarray, kind: int, side: float) -> float:
    """Extreme slope of the whole boundary: of 200 points, then refined beside the best."""
    psi = 2.0 * np.pi * np.arange(200) / 200
    best = psi[np.argmax([side * boundary_slope(p, state, kind) for p in psi])]
    found = minimize_scalar(
        lambda p: -side * boundary_slope(p, state, kind),
        bounds=(best - 0.05, best + 0.05),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return -side * found.fun


# One step of Newton's method is said to be within 1e-8.
@pytest.mark.parametrize("kind", KINDS)
def test_slopes_are_those_of_the_outermost_points_of_the_boundary(kind: int) -> None:
    states = scenes.objects(8, kind).states
    world = scenes.quiet()
    for state in states:
        slopes = np.array(camera.project(state, kind, world)) / world.table.focal_length
        for side, found in zip((-1.0, 1.0), slopes, strict=True):
            assert found == pytest.approx(outermost(state, kind, side), abs=1e-7)


def test_a_disc_on_the_axis_is_seen_at_its_closed_form() -> None:
    world = scenes.quiet()
    radius, distance = SHAPES["disc"][0][0], 8.0
    state = np.array([world.table.camera_x + distance, world.table.camera_y, 0.4, 0.0, 0.0, 0.0])
    slope = radius / np.sqrt(distance**2 - radius**2)
    assert camera.project(state, 0, world) == pytest.approx((-slope, slope), abs=1e-12)


def test_lower_ends_are_below_upper_ends_and_the_centre_between() -> None:
    cloud = scenes.objects(500, 3)
    table = scenes.quiet().table
    ends = clouds.readings(cloud.states, cloud.kinds, scenes.quiet())
    middle = (cloud.states[:, 1] - table.camera_y) / (cloud.states[:, 0] - table.camera_x)
    assert (ends[:, 0] < middle).all() and (middle < ends[:, 1]).all()


def test_a_batch_is_seen_as_its_members_are() -> None:
    cloud = scenes.objects(50, 4)
    ends = clouds.readings(cloud.states, cloud.kinds, scenes.quiet())
    for row, state, kind in zip(ends, cloud.states, cloud.kinds, strict=True):
        assert tuple(row) == camera.project(state, kind, scenes.quiet())


@pytest.mark.parametrize("scale", [0.3, 4.0])
def test_what_is_as_many_times_larger_as_farther_is_seen_alike(scale: float) -> None:
    world = scenes.quiet()
    cloud = scenes.objects(100, 5)
    shapes = world.shapes._replace(
        cosines=scale * world.shapes.cosines, sines=scale * world.shapes.sines
    )
    pinhole = np.array([world.table.camera_x, world.table.camera_y])
    states = cloud.states.copy()
    states[:, :2] = pinhole + scale * (states[:, :2] - pinhole)
    found = clouds.readings(states, cloud.kinds, world._replace(shapes=shapes))
    np.testing.assert_allclose(found, clouds.readings(cloud.states, cloud.kinds, world), atol=1e-13)


def test_screens_farther_behind_the_pinhole_show_as_many_times_larger() -> None:
    world = scenes.quiet()
    cloud = scenes.objects(100, 6)
    far = world._replace(table=world.table._replace(focal_length=2.5))
    near = clouds.readings(cloud.states, cloud.kinds, world)
    found = clouds.readings(cloud.states, cloud.kinds, far)
    np.testing.assert_allclose(found, 2.5 * near, rtol=1e-14)


def test_what_is_mirrored_at_the_axis_is_seen_mirrored() -> None:
    world = scenes.quiet()
    cloud = scenes.objects(100, 7)
    even = (np.abs(world.shapes.sines[cloud.kinds]) < 1e-12).all(1)
    assert even.sum() > 50
    states, kinds = cloud.states[even], cloud.kinds[even]
    mirrored = states.copy()
    mirrored[:, 1] = 2.0 * world.table.camera_y - states[:, 1]
    mirrored[:, 2] = -states[:, 2]
    seen = clouds.readings(states, kinds, world)
    np.testing.assert_allclose(clouds.readings(mirrored, kinds, world), -seen[:, ::-1], atol=1e-13)
