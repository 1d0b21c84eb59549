"""What the networks see: of a frame, of those before it, of all pairs of microphones."""

import numpy as np

from ricochet.models.systems.drawers import features
from ricochet.models.systems.drawers.features import BANDS, STEPS
from ricochet.models.systems.drawers.labels import FRAME

WIDTH = BANDS + STEPS


def noise(channels: int, frames: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((channels, frames * FRAME))


def test_speed_is_heard_in_a_frame_and_in_those_before_it() -> None:
    samples = noise(2, 6)
    found = features.of_samples(samples).speed
    assert found.shape == (6, 3 * WIDTH)
    np.testing.assert_array_equal(found[4, WIDTH : 2 * WIDTH], found[3, :WIDTH])
    later = features.of_samples(samples[:, 2 * FRAME :]).speed
    np.testing.assert_allclose(found[4], later[2])


def test_steps_say_when_in_a_frame_it_was_loud() -> None:
    samples = np.zeros((1, FRAME))
    samples[0, 3 * FRAME // STEPS : 4 * FRAME // STEPS] = 1.0
    assert int(features.loudness(samples)[0, BANDS:].argmax()) == 3


def test_places_are_heard_by_all_pairs_now_and_before() -> None:
    found = features.of_samples(noise(4, 5)).place
    assert found.shape == (5, 2 * (6 * 12 * 2 + WIDTH))
    half = found.shape[1] // 2
    np.testing.assert_array_equal(found[3, half:], found[2, :half])


def test_directions_are_heard_by_all_pairs_now_and_a_quarter_of_a_second_ago() -> None:
    found = features.of_samples(noise(3, 9)).direction
    assert found.shape == (9, 2 * (3 * 12 * 2))
    half = found.shape[1] // 2
    np.testing.assert_array_equal(found[7, half:], found[3, :half])


def test_the_last_frame_is_what_it_is_in_the_whole() -> None:
    found = features.of_samples(noise(3, 6))
    np.testing.assert_array_equal(features.last(found).place[0], found.place[5])
