"""Synthetic speech: its rhythm, its pitch and its band, and that any sample rate says the same."""

import numpy as np
import pytest
from scipy import signal

from ricochet.models.sound import speech_synthesis

RATE = 44100


def spoken(duration: float = 8.0, seed: int = 1, rate: float = RATE) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return speech_synthesis.speech(duration, sample_rate=rate, draw=draw)


def test_voiced_sound_repeats_with_its_pitch():
    """At 200 Hz, gliding by at most a fifth, the autocorrelation peaks within 160 to 220 Hz."""
    time = np.arange(RATE // 4) / RATE
    sound = speech_synthesis._voiced(time, 200.0, RATE, np.random.default_rng(0))
    middle = sound[RATE // 10 : RATE // 5]
    alike = signal.correlate(middle, middle)[len(middle) - 1 :]
    lags = np.arange(round(RATE / 350), round(RATE / 100))
    assert 160.0 < RATE / lags[alike[lags].argmax()] < 220.0


@pytest.mark.parametrize("seed", range(4))
def test_most_of_it_is_below_4_khz_and_it_comes_in_syllables(seed: int):
    sound = spoken(seed=seed)
    frequency, power = signal.welch(sound, RATE, nperseg=4096)
    assert power[frequency < 4000].sum() > 0.8 * power.sum()
    # of the variance of the level, noise would have a fifth below 10 Hz; syllables have most there
    level = signal.resample_poly(np.abs(sound), 1, 441)
    rhythm, strength = signal.welch(level - level.mean(), 100.0, nperseg=512)
    assert strength[rhythm < 10.0].sum() > 0.6 * strength.sum()


def test_it_keeps_its_peak_and_a_seed_is_a_voice():
    assert np.abs(spoken()).max() == pytest.approx(speech_synthesis.PEAK)
    np.testing.assert_array_equal(spoken(seed=3), spoken(seed=3))
    assert not np.array_equal(spoken(seed=3), spoken(seed=4))


def test_what_cannot_be_spoken_is_refused():
    with pytest.raises(ValueError, match="duration"):
        spoken(0.1)
    with pytest.raises(ValueError, match="sample_rate"):
        spoken(rate=8000)
