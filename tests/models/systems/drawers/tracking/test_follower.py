"""Ours by camera and sound: the camera while it sees, the belief while it does not."""

import numpy as np
import pytest

from ricochet.models.systems.drawers.belief.place_and_direction import Grammar, Heard
from ricochet.models.systems.drawers.tracking import follower
from ricochet.models.systems.drawers.tracking.follower import Seen

GRAMMAR = Grammar(0.0, 0.4, turning=0.5, weight=0.1, direction_weight=0.3, blocked=0.3)
FRAME = 0.064


def strokes(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Openings at the ends of frames and velocities, m and m/s."""
    draw, at, places, velocities = np.random.default_rng(seed), 0.0, [], []
    while len(places) < count:
        places += [at] * int(draw.integers(3, 10))
        velocities += [0.0] * (len(places) - len(velocities))
        target = draw.uniform(0.0, 0.4)
        steps = max(2, int(abs(target - at) / 0.3 / FRAME))
        path = np.linspace(at, target, steps + 1)
        places += path[1:].tolist()
        velocities += (np.diff(path) / FRAME).tolist()
        at = target
    return np.array(places[:count]), np.array(velocities[:count])


def heard(places: np.ndarray, velocities: np.ndarray, seed: int) -> list[Heard]:
    draw, found = np.random.default_rng(seed), []
    for place, velocity in zip(places, velocities, strict=True):
        speed = max(abs(velocity) + 0.02 * draw.standard_normal(), 0.0)
        measured = place + 0.05 * draw.standard_normal()
        error = 0.05 if abs(velocity) > 0.05 else np.inf
        odds = 0.0 if velocity == 0.0 else np.sign(velocity) * 0.8 + draw.standard_normal()
        found.append(Heard(speed, 0.02, measured, error, FRAME, float(odds)))
    return found


def seen(places: np.ndarray, lit: int) -> list[Seen | None]:
    return [Seen(float(p), 0.001) if k < lit else None for k, p in enumerate(places)]


def test_while_it_is_seen_the_camera_is_believed_and_then_the_sound() -> None:
    errors, middles = [], []
    for seed in range(6):
        places, velocities = strokes(700, seed)
        sight = seen(places, 200)
        found = follower.follow(heard(places, velocities, seed + 50), sight, GRAMMAR)
        np.testing.assert_array_equal(found.place[:200], places[:200])
        assert (found.low <= found.place).all() and (found.place <= found.high).all()
        errors.append(found.place[200:] - places[200:])
        middles.append(places[200:] - 0.2)
    assert np.std(np.concatenate(errors)) < 0.5 * np.std(np.concatenate(middles))


def test_a_moment_in_which_it_is_hidden_is_bridged() -> None:
    places, velocities = strokes(200, 3)
    sight = seen(places, 200)
    sight[100:105] = [None] * 5
    found = follower.follow(heard(places, velocities, 9), sight, GRAMMAR)
    assert np.abs(found.place - places)[100:105].max() < 0.03


def test_it_widens_in_the_dark_where_nothing_is_heard() -> None:
    places, velocities = strokes(400, 4)
    sounds = heard(places, velocities, 5)
    deaf = [Heard(each.speed, 0.02, 0.0, np.inf, FRAME) for each in sounds]
    hearing, without = (
        follower.follow(each, seen(places, 100), GRAMMAR) for each in (sounds, deaf)
    )
    assert without.deviation[-100:].mean() > 1.5 * hearing.deviation[-100:].mean()


def test_a_follower_that_never_saw_it_begins_anywhere() -> None:
    places, velocities = strokes(400, 6)
    found = follower.follow(heard(places, velocities, 7), seen(places, 0), GRAMMAR)
    assert found.deviation[0] == pytest.approx(0.4 / np.sqrt(12.0), rel=0.1)
    assert np.std(found.place[100:] - places[100:]) < 0.6 * np.std(places)
