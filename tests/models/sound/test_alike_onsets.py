"""Onsets by their likeness: weak clicks in noise and under a voice, and none of noise itself."""

import numpy as np
import pytest

from ricochet.models.sound import alike_onsets, onsets
from ricochet.models.sound.onsets import Onsets

RATE = 44100.0
TIMES = 0.4 + np.cumsum(0.5 * 0.85 ** np.arange(12))


def click(frames=300):
    time = np.arange(frames) / RATE
    return (np.sin(2 * np.pi * 2900 * time) + np.sin(2 * np.pi * 4700 * time)) * np.exp(
        -time / 2e-3
    )


def recording(*, noise, loudness=None, seed=0, voice=0.0, duration=4.0):
    """Clicks at TIMES in noise, as loud as stated, with pulses of a voice over all of it."""
    draw = np.random.default_rng(seed)
    sound = noise * draw.standard_normal(round(duration * RATE))
    loudness = 0.85 ** np.arange(len(TIMES)) if loudness is None else loudness
    for time, loud in zip(TIMES, loudness, strict=True):
        first = round(time * RATE)
        sound[first : first + 300] += loud * click()
    pulse = np.arange(200) / RATE
    for begin in np.arange(0.2, duration - 0.4, 0.45):
        formant = draw.uniform(500.0, 2500.0)
        for time in np.arange(begin, begin + 0.2, 1.0 / draw.uniform(90.0, 200.0)):
            first = round(time * RATE)
            wave = np.sin(2 * np.pi * formant * pulse) * np.exp(-pulse / 3e-3)
            sound[first : first + 200] += voice * wave
    return sound[None]


def heard_of(times, *, duration=4.0):
    count = len(times)
    return Onsets(
        np.sort(times), np.full(count, 50.0), np.full(count, 1e-5), np.ones(count), duration
    )


def found_of(kinds, times=TIMES, *, within=5e-4):
    """Most clicks that one kind holds, after its own constant offset."""
    best = 0
    for kind in kinds:
        apart = kind.times[:, None] - times
        apart = (
            apart - np.median(apart[np.abs(apart) < 2e-3])
            if np.any(np.abs(apart) < 2e-3)
            else apart
        )
        best = max(best, int((np.abs(apart).min(axis=0) < within).sum()))
    return best


def test_weak_clicks_in_noise_are_found_that_onsets_alone_miss():
    samples = recording(noise=0.25)
    heard = onsets.detect(samples, RATE)
    alone = int((np.abs(heard.times[:, None] - TIMES).min(axis=0) < 2e-3).sum())
    # |c|^2 = 44, so z = 26 * 0.85^n, above 5 up to n = 10; 0.5 less where T is learnt from noise
    assert alone <= 8
    assert found_of(alike_onsets.detect(samples, RATE, heard)) >= 10


def test_clicks_under_a_voice_are_found_with_few_of_its_pulses():
    samples = recording(noise=0.01, voice=1.0)
    kinds = alike_onsets.detect(samples, RATE, onsets.detect(samples, RATE))
    strict = max(kinds, key=lambda kind: found_of([kind]) / len(kind.times))
    assert found_of([strict]) >= 9
    assert len(strict.times) < 2 * len(TIMES)


def test_times_are_right_as_far_as_they_say():
    samples = recording(noise=0.1)
    (first, *_) = alike_onsets.detect(samples, RATE, heard_of(TIMES[:6]))
    assert len(first.times) >= 10
    near = np.abs(first.times[:, None] - TIMES).argmin(axis=1)
    apart = first.times - TIMES[near]
    # clicks are placed to a frame, 6.5 us; offset and spread are those of whole frames
    assert np.abs(apart - np.median(apart)).max() < 1e-4
    assert np.all(first.time_sd > 1e-6)


def test_strength_and_time_do_not_depend_on_gain():
    samples = recording(noise=0.1)
    (one, *_), (other, *_) = (
        alike_onsets.detect(gain * samples, RATE, heard_of(TIMES)) for gain in (1.0, 1e-3)
    )
    assert other.times == pytest.approx(one.times, abs=1e-9)
    assert other.strengths == pytest.approx(one.strengths, rel=1e-6)


def test_a_recording_that_begins_later_moves_the_times_alone():
    samples = recording(noise=0.1)
    shift = 4410
    later = np.concatenate((0.1 * np.random.default_rng(9).standard_normal((1, shift)), samples), 1)
    (one, *_) = alike_onsets.detect(samples, RATE, heard_of(TIMES))
    (other, *_) = alike_onsets.detect(later, RATE, heard_of(TIMES + 0.1, duration=4.1))
    strong = one.times[one.strengths > 60.0]
    apart = np.abs(other.times[:, None] - strong - shift / RATE).min(axis=0)
    assert apart.max() < 5e-5


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_not_like_itself(seed):
    """A click of noise alone, which its own members would otherwise confirm."""
    sound = np.random.default_rng(seed).standard_normal((1, 3 * 44100))
    times = np.linspace(0.2, 2.8, 20)
    # z > 5 has a chance of 3e-7 in each of 132,300 frames: 0.04 a kind of click
    assert sum(len(kind.times) for kind in alike_onsets.detect(sound, RATE, heard_of(times))) <= 3


def test_one_onset_or_silence_has_no_kind():
    samples = recording(noise=0.1)
    assert alike_onsets.detect(samples, RATE, heard_of(TIMES[:1])) == ()


def test_the_clearest_of_two_channels_is_used():
    samples = recording(noise=0.1)
    worse = 0.5 * np.random.default_rng(2).standard_normal(samples.shape)
    (alone, *_) = alike_onsets.detect(samples, RATE, heard_of(TIMES))
    (both, *_) = alike_onsets.detect(np.concatenate((worse, samples)), RATE, heard_of(TIMES))
    assert both.times == pytest.approx(alone.times)


def _echoes_of_all_pairs(times, loudness):
    """The rule as it is said: of each pair its delay, and how many delays are near it."""
    delay = times[:, None] - times
    follows = (delay > 0.0) & (delay < alike_onsets.ECHO_SPAN)
    follows &= loudness[:, None] < 0.9 * loudness
    order, width = np.sort(delay[follows]), alike_onsets.ECHO_WIDTH
    near = np.searchsorted(order, delay + width) - np.searchsorted(order, delay - width)
    enough = near >= max(3.0, alike_onsets.ECHO_SHARE * len(times))
    return np.any(follows & enough, axis=1)


@pytest.mark.parametrize("seed", range(20))
def test_echoes_are_those_of_the_rule_in_any_order(seed):
    draw = np.random.default_rng(seed)
    times = np.round(draw.uniform(0.0, 0.5, draw.integers(0, 40)), 3)
    times = np.concatenate([times, times + 0.0123])
    loudness = draw.uniform(0.1, 2.0, len(times))
    found = alike_onsets.echoes(times, loudness)
    np.testing.assert_array_equal(found, _echoes_of_all_pairs(times, loudness))
