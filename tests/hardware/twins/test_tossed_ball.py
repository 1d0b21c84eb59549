"""The twin laboratory: events are what happened, the seed decides, the truth stays hidden."""

import dataclasses

import numpy as np
import pytest

from ricochet.hardware.microphones import stream
from ricochet.hardware.microphones.acoustics import Acoustics
from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.twins.occlusions import Obstacles
from ricochet.hardware.twins.tossed_ball import Laboratory, Surroundings
from ricochet.models.systems.bouncing_ball.balls import BALLS

RIG = default_rig("twin")


def laboratory(seed=1, *, occlusion=0.0, ball="ping-pong", **settings):
    surroundings = Surroundings(obstacles=Obstacles(occlusion=occlusion), **settings)
    return Laboratory(RIG, BALLS[ball], surroundings, draw=np.random.default_rng(seed))


def recorded(listener):
    whole = np.concatenate([buffer.samples for buffer in listener.buffers()], axis=1)
    return whole


def test_sound_arrives_when_geometry_says():
    """Exact places, no scatter, almost no noise, a free field: where the sound first exceeds a
    hundredth of its peak is within a click's rise (6 frames, 0.14 ms) of contact plus d / c."""
    exact = Acoustics(0.0, snr=60.0, noise_steps=0.3, survey_sd=0.0, contact_sd=0.0)
    twin = laboratory(acoustics=exact, robot_noise=-60.0)
    samples = recorded(twin.toss())
    toss, array = twin.truth_for_evaluation().toss, RIG.array()
    for when, where in zip(toss.times, toss.positions, strict=True):
        away = np.linalg.norm(array.positions - where, axis=1) / array.speed_of_sound
        for channel, late in enumerate(away):
            frame = (when + late) * 44100
            cut = np.abs(samples[channel, int(frame) - 40 : int(frame) + 40])
            first = int(frame) - 40 + int(np.argmax(cut > 0.1 * cut.max()))
            assert abs(first - frame) < 6


def test_events_are_what_happened():
    """With open paths each bounce is detected within 1 ms and 10 mm: the microphones stand
    1.5 mm off per axis, which moves a fix by a few millimetres."""
    for ball in BALLS:
        twin = laboratory(ball=ball)
        events = [event for _, found in stream.events(twin.toss()) for event in found]
        toss = twin.truth_for_evaluation().toss
        assert len(events) == len(toss.times)
        for event, when, where in zip(events, toss.times, toss.positions, strict=True):
            assert abs(event.time - when) < 1e-3
            assert np.linalg.norm(event.position - where[:2]) < 0.01 and not event.outlier


def test_the_seed_decides_and_every_toss_is_another():
    one, again = laboratory(3, occlusion=0.5), laboratory(3, occlusion=0.5)
    first = recorded(one.toss())
    np.testing.assert_array_equal(first, recorded(again.toss()))
    second = recorded(one.toss())
    assert second.shape != first.shape or not np.array_equal(first, second)
    np.testing.assert_array_equal(second, recorded(again.toss()))
    other = recorded(laboratory(4, occlusion=0.5).toss())
    assert other.shape != first.shape or not np.array_equal(first, other)


def test_occlusion_and_noise_change_no_toss():
    plain, hard = laboratory(5), laboratory(5, occlusion=1.0, robot_noise=10.0)
    for _ in range(3):
        plain.toss()
        hard.toss()
    for number in range(3):
        one, other = (twin.truth_for_evaluation(number) for twin in (plain, hard))
        np.testing.assert_array_equal(one.toss.positions, other.toss.positions)
        assert (one.blocked.channels == -1).all() and (other.blocked.channels >= 0).all()


def test_a_blocked_bounce_is_misplaced_or_owns_to_it():
    twin = laboratory(6, occlusion=1.0)
    events = [event for _, found in stream.events(twin.toss()) for event in found]
    toss = twin.truth_for_evaluation().toss
    assert len(events) == len(toss.times)
    for event, where in zip(events, toss.positions, strict=True):
        off = np.inf if event.position is None else np.linalg.norm(event.position - where[:2])
        assert event.outlier or off > 0.05


def test_the_robot_s_sound_adds_its_power_to_the_background():
    """Before the first bounce only noise: 0.45 s at 3 channels are n = 60 000 samples, so 0.9 % are
    three standard errors; hum is not white and its phases weigh, so 5 %."""
    for level in (-60.0, 0.0, 12.0):
        samples = recorded(laboratory(7, robot_noise=level).toss())
        quiet = samples[:, : round(0.45 * 44100)] * 2**15
        assert quiet.std() == pytest.approx(6.0 * np.hypot(1.0, 10 ** (level / 20)), rel=0.05)


def test_the_sound_goes_on_after_the_crossing_and_bounces_do_not():
    twin = laboratory(8)
    samples = recorded(twin.toss())
    toss = twin.truth_for_evaluation().toss
    assert samples.shape[1] / 44100 > toss.crossing_time + 0.25
    after = samples[:, round((toss.times[-1] + 0.02) * 44100) :]
    assert np.abs(after).max() < 0.25 * np.abs(samples).max()


def test_a_listener_reveals_nothing_of_the_ball():
    """What a controller holds: the rig as stated, its fault, and the sound."""
    listener = laboratory().toss()
    public = {name for name in dir(listener) if not name.startswith("_")}
    assert public == {"rig", "fault", "buffers"}
    fields = {field.name for field in dataclasses.fields(listener.rig)}
    assert fields == {"name", "sample_rate", "temperature", "microphones"}
