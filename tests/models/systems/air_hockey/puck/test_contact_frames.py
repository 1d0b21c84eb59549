"""Frames are rotations with the normal first; the noise's sizes are speeds."""

import numpy as np
from numpy import ndarray

from ricochet.models.systems.air_hockey.puck import contact_frames


def drawn(count: int) -> tuple[ndarray, ndarray]:
    draw = np.random.default_rng(0)
    angle = draw.uniform(-np.pi, np.pi, count)
    return np.column_stack((np.cos(angle), np.sin(angle))), draw.normal(size=(count, 2))


def test_a_frame_turns_its_normal_to_the_first_axis_and_keeps_lengths():
    normal, vector = drawn(50)
    frame = contact_frames.frames(normal)
    seen = contact_frames.applied(frame, normal)
    np.testing.assert_allclose(seen, np.tile((1.0, 0.0), (50, 1)), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(frame), 1.0)
    back = contact_frames.applied(frame.swapaxes(-1, -2), contact_frames.applied(frame, vector))
    np.testing.assert_allclose(back, vector, atol=1e-12)


def test_four_turns_to_the_left_are_none_and_one_is_square():
    normal, vector = drawn(50)
    once = contact_frames.left(vector)
    np.testing.assert_allclose((once * vector).sum(-1), 0.0, atol=1e-12)
    np.testing.assert_array_equal(contact_frames.left(once), -vector)
    tangent = contact_frames.frames(normal)[:, 1]
    np.testing.assert_array_equal(tangent, contact_frames.left(normal))


def test_sizes_scale_with_the_speed_and_are_mirror_symmetric():
    _, vector = drawn(50)
    size = contact_frames.sizes(vector)
    np.testing.assert_allclose(contact_frames.sizes(3.0 * vector), 3.0 * size)
    np.testing.assert_array_equal(contact_frames.sizes(vector * (1.0, -1.0)), size)
    np.testing.assert_array_equal(size[:, 0], np.abs(vector[:, 0]))
    np.testing.assert_allclose(contact_frames.sizes(np.array((1.0, 0.0))), (1.0, 0.2))
