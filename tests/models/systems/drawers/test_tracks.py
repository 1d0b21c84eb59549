"""Tracks: how late one is, in level and speed made to go together, and where one jumps."""

import numpy as np
import pytest

from ricochet.models.systems.drawers import tracks
from ricochet.models.systems.drawers.labels import SAMPLE_RATE
from ricochet.models.systems.drawers.tracks import Compared, Track


def moved(seconds: float = 20.0, seed: int = 0) -> Track:
    """Strokes between rests, at 100 Hz."""
    draw = np.random.default_rng(seed)
    times = np.arange(0.0, seconds, 0.01)
    speed = np.repeat(draw.uniform(-0.5, 0.5, len(times) // 40) * (draw.random(50) < 0.6), 40)
    return Track(times, 0.2 + np.cumsum(speed) * 0.01)


def sound(track: Track, late: float, seed: int = 1) -> np.ndarray:
    """Noise whose size is the speed, a time after the motion."""
    draw = np.random.default_rng(seed)
    times = np.arange(round(track.times[-1] * SAMPLE_RATE)) / SAMPLE_RATE
    at = np.interp(times - late, track.times, track.positions)
    speed = np.abs(np.gradient(at, times))
    return (0.01 + speed) * draw.standard_normal((2, len(times)))


@pytest.mark.parametrize("late", [-0.5, 0.0, 0.1, 0.8])
def test_a_shift_between_track_and_sound_is_found(late: float) -> None:
    """To a step of 8 ms or two."""
    found = tracks.compare(moved(), sound(moved(), -late))
    assert found.late == pytest.approx(late, abs=0.02)


def test_louder_sound_and_another_direction_change_nothing() -> None:
    track = moved()
    mirrored = Track(track.times, 0.4 - track.positions)
    heard = sound(track, 0.2)
    assert tracks.compare(mirrored, 7.0 * heard) == tracks.compare(track, heard)


def test_what_does_not_go_together_has_no_shift() -> None:
    other = np.random.default_rng(3).standard_normal((2, 19 * SAMPLE_RATE))
    assert tracks.compare(moved(), other) == Compared(None, moves=True, heard=False)


@pytest.mark.parametrize("seed", range(2, 8))
def test_a_track_of_another_take_is_foreign(seed: int) -> None:
    assert tracks.compare(moved(), sound(moved(seed=seed), 0.0)) == Compared(None, True, True)


def test_a_track_that_hardly_moves_is_not_foreign_where_something_else_is_heard() -> None:
    track, heard = moved(), sound(moved(seed=2), 0.0)
    still = Track(track.times, 0.2 + 0.01 * (track.times > 12.0))
    assert tracks.compare(still, heard) == Compared(None, moves=False, heard=True)


def test_a_track_that_jumps_is_caught_and_one_of_fast_strokes_is_not() -> None:
    track = moved()
    assert tracks.jump(track) is None
    jumped = track.positions + 0.1 * (track.times > 7.0)
    found = tracks.jump(Track(track.times, jumped))
    assert found is not None
    assert found[0] == pytest.approx(7.0, abs=0.02) and found[1] > 9.0
