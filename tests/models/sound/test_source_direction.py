"""Directions of far sources: plane waves are found, and what is turned is found turned."""

import numpy as np
import pytest

from ricochet.models.sound import source_direction
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.source_direction import AZIMUTHS, ELEVATIONS

RATE, LENGTH = 16_000.0, 1024
ANGLES = 2.0 * np.pi * np.arange(6) / 6
RING = Microphones(0.046 * np.stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(6)], axis=1), RATE)


def plane_wave(direction: np.ndarray, seed: int = 0, frames: int = 3) -> np.ndarray:
    """Noise from far away: each microphone hears it earlier by its place along the direction."""
    noise = np.fft.rfft(np.random.default_rng(seed).standard_normal(frames * LENGTH))
    omega = 2.0 * np.pi * np.fft.rfftfreq(frames * LENGTH, 1.0 / RATE)
    earlier = RING.positions @ direction / RING.speed_of_sound
    return np.fft.irfft(noise * np.exp(1j * omega * earlier[:, None]), frames * LENGTH)


def towards(azimuth: float, elevation: float) -> np.ndarray:
    flat = np.cos(elevation)
    return np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)])


@pytest.mark.parametrize("azimuth", [0.3, 2.0, -1.2])
@pytest.mark.parametrize("elevation", [0.2, 0.7])
def test_a_plane_wave_is_found_to_a_cell_of_the_grid(azimuth: float, elevation: float) -> None:
    direction = towards(azimuth, elevation)
    found = source_direction.locate(plane_wave(direction), LENGTH, RING)
    # Two cells in elevation, which a level ring measures badly near the horizon, one in azimuth.
    level = found[:, :2] / np.linalg.norm(found[:, :2], axis=1, keepdims=True)
    assert (
        level @ direction[:2] / np.linalg.norm(direction[:2]) > np.cos(2 * np.pi / AZIMUTHS)
    ).all()
    assert np.arcsin(found[:, 2]) == pytest.approx(elevation, abs=np.pi / ELEVATIONS)


def test_a_source_that_is_turned_by_sixty_degrees_is_found_turned() -> None:
    """The ring is its own image then; the grid has a multiple of six azimuths."""
    turn = np.pi / 3
    one = source_direction.locate(plane_wave(towards(0.4, 0.5)), LENGTH, RING)
    other = source_direction.locate(plane_wave(towards(0.4 + turn, 0.5)), LENGTH, RING)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    np.testing.assert_allclose(other[:, :2], one[:, :2] @ rotation.T, atol=0.06)


def test_loudness_of_a_channel_does_not_matter() -> None:
    samples = plane_wave(towards(1.0, 0.4), 2)
    gains = np.array([[1.0], [0.5], [2.0], [1.0], [3.0], [0.2]])
    np.testing.assert_array_equal(
        source_direction.locate(samples, LENGTH, RING),
        source_direction.locate(samples * gains, LENGTH, RING),
    )
