"""A camera's track at the ends of frames: smoothed, and not seen where there are no images."""

import numpy as np
import pytest

from ricochet.models.systems.drawers import tracks
from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.models.systems.drawers.tracking import track_sight
from ricochet.models.systems.drawers.tracking.paper_fusion import Velocities
from ricochet.models.systems.drawers.tracks import Track

NOISE = 0.003


def opening(times: np.ndarray) -> np.ndarray:
    return 0.2 - 0.15 * np.cos(0.8 * times)


def track(seed: int = 0) -> Track:
    times = np.arange(0.0, 20.0, 1.0 / 30.0)
    return Track(times, opening(times) + NOISE * np.random.default_rng(seed).standard_normal(600))


def test_positions_are_as_far_off_as_they_say() -> None:
    lit, seen = track_sight.follow(track(), NOISE, 15.0)
    ends = PERIOD * np.arange(1, len(seen) + 1)
    assert ends[-1] <= 15.0 < ends[-1] + PERIOD and len(lit.prismatic) == len(seen)
    errors = lit.places - opening(ends)
    # Up to an image ahead of the last one, by a velocity that a few images know.
    assert np.sqrt(np.mean(errors[20:] ** 2)) < 1.5 * NOISE
    deviations = [each.deviation if each else np.nan for each in seen]
    scores = errors[20:] / np.array(deviations[20:])
    assert np.std(scores) == pytest.approx(1.0, abs=0.35)


def test_where_no_image_came_it_is_not_seen() -> None:
    whole = track()
    kept = (whole.times < 6.0) | (whole.times > 8.0)
    _, seen = track_sight.follow(Track(whole.times[kept], whole.positions[kept]), NOISE, 15.0)
    ends = PERIOD * np.arange(1, len(seen) + 1)
    hidden = np.array([each is None for each in seen])
    assert hidden[(ends > 6.2) & (ends < 8.0)].all()
    assert not hidden[(ends < 6.0) | (ends > 8.1)].any()


def far_off(places: np.ndarray, ends: np.ndarray) -> float:
    return float(np.sqrt(np.mean((places - opening(ends))[20:] ** 2)))


def test_what_is_heard_moves_the_joint_and_stays_in_it() -> None:
    """A filter that hears goes on from what it heard: wrong signs harm, exact velocities help."""
    alone, seen = track_sight.follow(track(), NOISE, 15.0)
    ends = PERIOD * np.arange(1, len(seen) + 1)
    exact = 0.15 * 0.8 * np.sin(0.8 * ends)
    helped, _ = track_sight.follow(track(), NOISE, 15.0, Velocities(exact, 0.01))
    harmed, _ = track_sight.follow(track(), NOISE, 15.0, Velocities(-exact, 0.01))
    deaf, _ = track_sight.follow(track(), NOISE, 15.0, Velocities(-exact, 1e3))
    errors = [far_off(each.places, ends) for each in (helped, alone, harmed)]
    assert errors == sorted(errors) and errors[2] > 1.3 * errors[1] > 1.6 * errors[0]
    # The same filter, its steps cut at the ends of frames.
    np.testing.assert_allclose(deaf.places, alone.places, atol=1e-6)


def test_the_noise_of_a_track_is_found() -> None:
    assert tracks.noise(track(1)) == pytest.approx(NOISE, rel=0.15)
