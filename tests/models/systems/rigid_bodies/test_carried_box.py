"""A carried box as it is seen: angles from four points, and how its flange moves."""

import numpy as np
import torch
from scipy.interpolate import CubicSpline

from ricochet.models.arms import panda
from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.rigid_bodies import carried_box, hanging_box, shaking

RATE = 100.0


def some_angles(count: int, widest: float = 1.2) -> np.ndarray:
    return np.random.default_rng(0).uniform(-widest, widest, (count, 2))


def swung(frames: int = 60) -> np.ndarray:
    """Joints of an arm that moves in all of them, smoothly."""
    draw, times = np.random.default_rng(1), np.arange(frames) / RATE
    phases = draw.uniform(0.0, 2.0 * np.pi, 7)
    return shaking.READY + 0.1 * np.sin(3.0 * times[:, None] + phases)


def test_angles_of_exact_points_are_exact() -> None:
    wanted = some_angles(200)
    np.testing.assert_allclose(carried_box.angles(carried_box.turned(wanted)), wanted, atol=1e-12)


def test_points_are_those_of_the_hanging_box() -> None:
    wanted = some_angles(20)
    places = torch.cat((torch.zeros(1, 3), torch.eye(3))).double()
    expected = hanging_box.points(torch.from_numpy(wanted), places)
    np.testing.assert_allclose(carried_box.turned(wanted), expected.numpy(), atol=1e-12)


def test_angles_of_noisy_points_err_by_the_noise_over_the_root_of_two() -> None:
    """20 000 frames: three standard errors of a deviation are 3 / sqrt(40 000) = 1.5 %, and of a
    mean or a correlation 3 / sqrt(20 000) = 0.021. Each axis of turning moves three points a metre
    from the joint by 2 rad^2 in all, and the two are at right angles, at any angles."""
    sigma, draw = 2e-3, np.random.default_rng(2)
    wanted = some_angles(20_000)
    points = carried_box.turned(wanted)
    away = carried_box.angles(points + sigma * draw.normal(size=points.shape)) - wanted
    np.testing.assert_allclose(away.std(0), sigma / np.sqrt(2.0), rtol=0.015)
    assert np.abs(away.mean(0)).max() < 0.021 * sigma / np.sqrt(2.0)
    assert abs(np.corrcoef(away.T)[0, 1]) < 0.021


def test_of_noisy_points_no_other_angles_are_nearer() -> None:
    draw = np.random.default_rng(3)
    points = carried_box.turned(some_angles(50)) + 0.05 * draw.normal(size=(50, 4, 3))
    found = carried_box.angles(points)

    def misses(angles: np.ndarray) -> np.ndarray:
        return ((points - carried_box.turned(angles)) ** 2)[:, 1:].sum((1, 2))

    for step in (1e-3, -1e-3):
        for axis in np.eye(2):
            assert (misses(found + step * axis) > misses(found)).all()


def test_points_in_the_world_come_back_wherever_the_arm_is() -> None:
    joints, own = swung(), carried_box.turned(some_angles(60))
    frame = panda.flange(joints)
    world = np.einsum("nij,nkj->nki", frame[:, :3, :3], own) + frame[:, None, :3, 3]
    np.testing.assert_allclose(carried_box.in_flange(world, joints), own, atol=1e-12)


def test_at_frames_the_flange_moves_as_the_arm_does() -> None:
    joints, substeps = swung(), 3
    spline = CubicSpline(np.arange(len(joints)) / RATE, joints)
    times = np.arange(len(joints) - 1) / RATE
    moved = panda.moving(joints[:-1], spline(times, 1), spline(times, 2))
    pull = moved.acceleration + np.array((0.0, 0.0, GRAVITY))
    found = carried_box.carried(joints, RATE, substeps).numpy()
    assert found.shape == ((len(joints) - 1) * substeps, 9)
    for place, expected in enumerate((moved.spin, moved.angular_acceleration, pull)):
        own = found[::substeps, 3 * place : 3 * place + 3]
        world = np.einsum("nij,nj->ni", moved.turn, own)
        np.testing.assert_allclose(world, expected, atol=1e-9)


def test_a_flange_at_rest_is_pulled_up_by_gravity_alone() -> None:
    found = carried_box.carried(np.tile(shaking.READY, (5, 1)), RATE, 2).numpy()
    np.testing.assert_allclose(found[:, :6], 0.0, atol=1e-12)
    np.testing.assert_allclose(found[:, 6:], np.tile((0.0, 0.0, -GRAVITY), (8, 1)), atol=1e-12)


def test_an_arm_turned_about_the_vertical_carries_alike() -> None:
    joints = swung()
    turned = joints + np.array((0.7, 0, 0, 0, 0, 0, 0))
    one, other = (carried_box.carried(each, RATE, 2) for each in (joints, turned))
    torch.testing.assert_close(one, other)
