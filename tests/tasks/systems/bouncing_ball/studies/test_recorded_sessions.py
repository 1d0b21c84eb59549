"""Departures of recordings are what their names say, and a session on the disk carries them."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.hardware.microphones import interface
from ricochet.hardware.microphones.simulated_drops import Scene
from ricochet.models.sound import impact_synthesis
from ricochet.models.sound.impact_synthesis import Click
from ricochet.tasks.recordings import sessions
from ricochet.tasks.systems.bouncing_ball.studies import recorded_sessions
from ricochet.tasks.systems.bouncing_ball.studies.departed_sessions import Ball
from ricochet.tasks.systems.bouncing_ball.studies.recorded_sessions import RECORDED

ARRAY = interface.default_rig("simulated").array()
RATE = ARRAY.sample_rate

BALL = Ball(0.85, 3.5)


def draw() -> np.random.Generator:
    return np.random.default_rng(0)


def clicks(*times: float) -> np.ndarray:
    """One second of three channels with a click at each of the times, s, in all of them."""
    samples = np.zeros((3, round(RATE)))
    for channel in samples:
        impact_synthesis.add_arrivals(
            channel, np.array(times), np.ones(len(times)), click=Click(), sample_rate=RATE
        )
    return samples


def test_a_late_channel_is_the_same_click_later():
    """The oracle renders the click at the later time; straight lines between err by 1 % at most."""
    found = recorded_sessions.late(clicks(0.3), ARRAY, draw(), delay=2e-4)
    np.testing.assert_allclose(found[1], clicks(0.3 + 2e-4)[1], atol=0.01)
    np.testing.assert_array_equal(found[[0, 2]], clicks(0.3)[[0, 2]])


def test_a_drifting_clock_delays_the_later_click_by_more():
    drift = 20.0 / 44100.0
    found = recorded_sessions.late(clicks(0.1, 0.9), ARRAY, draw(), drift=drift)
    expected = clicks(0.1 * (1.0 + drift), 0.9 * (1.0 + drift))
    np.testing.assert_allclose(found[1], expected[1], atol=0.01)


def test_delays_follow_one_another_and_none_changes_nothing():
    samples = clicks(0.2, 0.7)
    np.testing.assert_allclose(recorded_sessions.late(samples, ARRAY, draw()), samples, atol=1e-9)
    once = recorded_sessions.late(samples, ARRAY, draw(), delay=3e-4)
    twice = recorded_sessions.late(samples, ARRAY, draw(), delay=1e-4)
    twice = recorded_sessions.late(twice, ARRAY, draw(), delay=2e-4)
    np.testing.assert_allclose(twice, once, atol=0.02)


def test_exchanged_twice_is_in_order_and_a_dead_channel_has_no_click():
    samples = clicks(0.5) * np.array([[1.0], [2.0], [3.0]])
    once = recorded_sessions.exchanged(samples, ARRAY, draw())
    np.testing.assert_array_equal(once, samples[[0, 2, 1]])
    np.testing.assert_array_equal(recorded_sessions.exchanged(once, ARRAY, draw()), samples)
    dead = recorded_sessions.dead(samples, ARRAY, draw())
    # 44,100 numbers: their standard deviation is known to 0.34 %, the largest is below 6 of them
    assert np.std(dead[1]) == pytest.approx(recorded_sessions.NOISE, rel=0.011)
    assert np.abs(dead[1]).max() < 6.0 * recorded_sessions.NOISE


def test_speech_has_the_stated_power():
    silence = np.zeros((3, round(RATE)))
    click = recorded_sessions.NOISE**2 * 10.0 ** (Scene.snr / 10.0)
    found = recorded_sessions.spoken(silence, ARRAY, draw(), below=20.0)
    assert np.var(found) == pytest.approx(click / 100.0)
    louder = recorded_sessions.spoken(silence, ARRAY, draw(), below=10.0)
    np.testing.assert_allclose(louder, np.sqrt(10.0) * found)


@pytest.mark.slow
def test_a_session_is_written_as_any_other_and_departs_in_its_sound_alone(tmp_path):
    plain, swapped = (
        sessions.read_session(
            recorded_sessions.record(
                RECORDED[name], BALL, tmp_path / name.split()[0], takes=2, seed=3
            )
        )
        for name in ("recorded", "swapped channels")
    )
    assert replace(plain, folder=tmp_path, identity="", takes=(), started_at=plain.started_at) == (
        replace(swapped, folder=tmp_path, identity="", takes=(), started_at=plain.started_at)
    )
    assert plain.drop_height == recorded_sessions.HEIGHT and len(plain.takes) == 2
    for take in range(2):
        samples, other = (
            sessions.load_take(each.folder / each.takes[take].file) for each in (plain, swapped)
        )
        np.testing.assert_array_equal(samples[[0, 2, 1]], other)
