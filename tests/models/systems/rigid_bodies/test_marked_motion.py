"""Angles and rates from markers: polynomials, and what does not depend on the camera."""

import numpy as np
import pytest

from ricochet.models.systems.rigid_bodies import marked_motion

RATE = 400.0
TIMES = np.arange(200) / RATE
ANGLES = np.stack((3.0 + 8.0 * TIMES - 30.0 * TIMES**2, -1.0 + 20.0 * np.sin(2.0 * TIMES)), 1)
RATES = np.stack((8.0 - 60.0 * TIMES, 40.0 * np.cos(2.0 * TIMES)), 1)


def markers(angles: np.ndarray, lengths: tuple[float, float] = (591.0, 452.0)) -> list[np.ndarray]:
    absolute = np.cumsum(angles, 1)
    links = [
        length * np.stack((np.cos(turn), np.sin(turn)), 1)
        for length, turn in zip(lengths, absolute.T, strict=True)
    ]
    pivot = np.tile([1200.0, 1220.0], (len(angles), 1))
    return [pivot, pivot + links[0], pivot + links[0] + links[1]]


def test_angles_are_those_of_the_links() -> None:
    np.testing.assert_allclose(marked_motion.angles(*markers(ANGLES)), ANGLES, atol=1e-9)


def test_neither_the_camera_s_place_nor_its_scale_matters() -> None:
    shift = np.array([30.0, -400.0])
    moved = [0.2 * (each + shift) for each in markers(ANGLES)]
    np.testing.assert_allclose(marked_motion.angles(*moved), ANGLES, atol=1e-9)


def test_rates_are_slopes() -> None:
    found = marked_motion.states(ANGLES, RATE)
    np.testing.assert_allclose(found[:, :2], ANGLES, atol=1e-7)
    np.testing.assert_allclose(found[:, 2:], RATES, atol=1e-4)


def test_a_mirrored_pendulum_has_mirrored_angles() -> None:
    mirrored = [each * (1.0, -1.0) for each in markers(ANGLES)]
    np.testing.assert_allclose(marked_motion.angles(*mirrored), -ANGLES, atol=1e-9)


def test_swapped_markers_missing_frames_and_slow_films_are_refused() -> None:
    pivot, elbow, tip = markers(ANGLES)
    with pytest.raises(ValueError, match="length from pivot to elbow varies by"):
        marked_motion.angles(pivot, tip, elbow)
    gone = elbow.copy()
    gone[7] = np.nan
    with pytest.raises(ValueError, match="by nan"):
        marked_motion.angles(pivot, gone, tip)
    with pytest.raises(ValueError, match=r"changes by 1.* rad between two frames"):
        marked_motion.angles(*markers(np.stack((1.5 * np.arange(9.0), np.zeros(9)), 1)))
    with pytest.raises(ValueError, match="5 frames, expected at least 11"):
        marked_motion.states(ANGLES[:5], RATE)


def test_rates_of_earlier_instants_are_the_polynomials_slopes_there() -> None:
    time = np.arange(40) / 100.0
    found = marked_motion.states((time**4 - time)[:, None], 100.0, width=7, lag=0.004)
    np.testing.assert_allclose(found[:, 1], 4.0 * (time - 0.004) ** 3 - 1.0, atol=1e-9)
