"""The Panda's flange: documented postures, and how it moves by differences of where it is."""

import math

import numpy as np

from ricochet.models.arms import panda

READY = 0.25 * math.pi * np.array((0.0, -1.0, 0.0, -3.0, 0.0, 2.0, 1.0))


def test_the_ready_posture_is_within_the_limits_and_looks_down() -> None:
    assert ((READY > panda.LOW) & (READY < panda.HIGH)).all()
    frame = panda.flange(READY)
    np.testing.assert_allclose(frame[:3, 2], (0.0, 0.0, -1.0), atol=1e-12)
    np.testing.assert_allclose(frame[:3, 3], (0.3069, 0.0, 0.5903), atol=1e-4)


def test_velocities_and_accelerations_are_those_of_the_place() -> None:
    generator, step = np.random.default_rng(0), 1e-4
    joints, rates, accelerations = generator.normal(size=(3, 6, 7))
    found = panda.moving(joints, rates, accelerations)

    def at(time: float) -> np.ndarray:
        return panda.flange(joints + time * rates + 0.5 * time**2 * accelerations)

    before, now, after = at(-step), at(0.0), at(step)
    np.testing.assert_allclose(found.place, now[:, :3, 3], atol=1e-12)
    np.testing.assert_allclose(found.turn, now[:, :3, :3], atol=1e-12)
    velocity, acceleration = (after - before) / (2 * step), (after - 2 * now + before) / step**2
    np.testing.assert_allclose(found.velocity, velocity[:, :3, 3], atol=1e-6)
    np.testing.assert_allclose(found.acceleration, acceleration[:, :3, 3], atol=1e-5)
    turned = velocity[:, :3, :3] @ now[:, :3, :3].swapaxes(1, 2)
    np.testing.assert_allclose(found.spin, _vector(turned), atol=1e-6)
    later, earlier = (
        panda.moving(
            joints + t * rates + 0.5 * t**2 * accelerations,
            rates + t * accelerations,
            accelerations,
        ).spin
        for t in (step, -step)
    )
    np.testing.assert_allclose(
        found.angular_acceleration, (later - earlier) / (2 * step), atol=1e-5
    )


def test_turning_the_base_joint_turns_everything_about_the_vertical() -> None:
    generator, by = np.random.default_rng(1), 0.7
    one, other = generator.normal(size=(2, 7)), np.zeros((2, 7))
    other[:, 0] = by
    turn = np.array(
        ((np.cos(by), -np.sin(by), 0.0), (np.sin(by), np.cos(by), 0.0), (0.0, 0.0, 1.0))
    )
    np.testing.assert_allclose(
        panda.flange(one + other)[:, :3], turn @ panda.flange(one)[:, :3], atol=1e-12
    )


def _vector(matrices: np.ndarray) -> np.ndarray:
    return np.stack((matrices[:, 2, 1], matrices[:, 0, 2], matrices[:, 1, 0]), -1)
