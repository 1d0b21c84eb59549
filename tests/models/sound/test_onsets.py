import tracemalloc

import numpy as np
import pytest
from scipy import stats

from ricochet.models.sound import first_arrivals, onsets

RATE = 44100.0


def clicks(times, *, rate=RATE, duration=2.0, noise=0.003, seed=0, channels=1, lag=0.0):
    """Damped sinusoids that begin at given times, later by `lag` from channel to channel."""
    draw = np.random.default_rng(seed)
    samples = noise * draw.standard_normal((channels, round(duration * rate)))
    for channel in range(channels):
        for time in np.asarray(times) + channel * lag:
            first = int(np.ceil(time * rate))
            after = np.arange(first, first + round(0.02 * rate)) / rate - time
            wave = np.sin(2 * np.pi * 2900.0 * after) + np.sin(2 * np.pi * 1700.0 * after)
            samples[channel, first : first + len(after)] += wave * np.exp(-after / 1e-3)
    return samples


def test_evidence_equals_the_likelihood_ratio_of_fitted_gaussians():
    draw = np.random.default_rng(3)
    for factor in (1.0, 1.5, 4.0):
        behind, ahead = draw.normal(0, 1, 40), draw.normal(0, factor, 25)
        power = np.mean(behind**2), np.mean(ahead**2)
        pooled = np.sqrt(np.mean(np.concatenate([behind, ahead]) ** 2))
        apart = stats.norm.logpdf(behind, 0, np.sqrt(power[0])).sum()
        apart += stats.norm.logpdf(ahead, 0, np.sqrt(power[1])).sum()
        same = stats.norm.logpdf(np.concatenate([behind, ahead]), 0, pooled).sum()
        expected = apart - same if power[1] > power[0] else 0.0
        found = onsets.evidence_of_rise(
            np.array([power[0]]), np.array([power[1]]), np.array([40.0]), np.array([25.0])
        )
        assert found[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("rate", [8000.0, 16000.0, 44100.0, 96000.0])
def test_clicks_are_found_to_a_fraction_of_a_frame_at_any_rate(rate):
    truth = 0.1 + np.cumsum(np.random.default_rng(1).uniform(0.04, 0.3, 9))
    found = onsets.detect(clicks(truth, rate=rate), rate)
    assert len(found.times) == len(truth)
    # the click crosses 0.4 of its first peak about 25 us after it begins; half a frame beside that
    assert np.abs(found.times - truth - 25e-6).max() < 0.5 / rate + 25e-6
    error = found.times - truth
    assert np.std(error) < 0.3 / rate


def test_white_noise_has_no_onsets():
    samples = np.random.default_rng(0).standard_normal((1, 15 * 44100))
    # under one in two minutes: none in 15 s with probability above 0.88, and the seed is fixed
    assert len(onsets.detect(samples, RATE).times) == 0


def test_a_voice_of_equal_pulses_starts_once_and_not_at_every_pulse():
    pulses = clicks(np.arange(0.5, 1.5, 1 / 150), noise=0.01)
    assert len(onsets.detect(pulses, RATE).times) <= 2


def test_scale_and_sign_do_not_matter():
    samples = clicks([0.4, 0.9, 1.2])
    first, second = onsets.detect(samples, RATE), onsets.detect(-3e4 * samples, RATE)
    np.testing.assert_allclose(first.times, second.times, atol=1e-9)
    np.testing.assert_allclose(first.strengths, second.strengths, rtol=1e-5)
    np.testing.assert_allclose(3e4 * first.loudness, second.loudness, rtol=1e-6)


def test_a_recording_that_begins_earlier_shifts_the_times():
    samples = clicks([0.4, 0.9, 1.2])
    frames = 100 * onsets.hop_length(RATE)
    early = np.concatenate([0.003 * np.random.default_rng(9).normal(size=(1, frames)), samples], 1)
    first, second = onsets.detect(samples, RATE), onsets.detect(early, RATE)
    np.testing.assert_allclose(second.times - frames / RATE, first.times, atol=1e-6)


def test_channels_may_come_in_any_order_and_the_first_arrival_counts():
    samples = clicks([0.4, 0.9, 1.2], channels=3, lag=0.7e-3)
    first, second = onsets.detect(samples, RATE), onsets.detect(samples[::-1], RATE)
    np.testing.assert_array_equal(first.times, second.times)
    np.testing.assert_allclose(first.times, [0.4, 0.9, 1.2], atol=60e-6)


def test_more_noise_means_a_wider_standard_deviation():
    quiet = onsets.detect(clicks([0.4, 0.9], noise=0.001), RATE)
    loud = onsets.detect(clicks([0.4, 0.9], noise=0.1), RATE)
    assert len(quiet.times) == len(loud.times) == 2
    assert np.all(loud.time_sd > 1.5 * quiet.time_sd)


def test_the_stated_standard_deviation_holds_the_error():
    truth = 0.1 + np.cumsum(np.random.default_rng(2).uniform(0.1, 0.2, 50))
    found = onsets.detect(clicks(truth, noise=0.05, seed=2, duration=9.0), RATE)
    error = found.times - truth
    share = np.mean(np.abs(error - np.median(error)) < 2.0 * found.time_sd)
    # 95 % of 50 expected; 95 - 3 sqrt(95 * 5 / 50) = 86 % at three standard errors
    assert share >= 0.86


def test_onsets_are_the_same_in_whatever_pieces_they_are_sought(monkeypatch):
    sound = clicks(np.linspace(0.2, 1.8, 17), channels=2, lag=1e-3)
    whole = onsets.detect(sound, RATE)
    monkeypatch.setattr(onsets, "HOPS", 7)
    monkeypatch.setattr(first_arrivals, "ROWS", 1)
    parts = onsets.detect(sound, RATE)
    assert len(whole.times) == 17
    for name, values in vars(whole).items():
        assert np.array_equal(getattr(parts, name), values)


def test_a_long_recording_takes_little_beside_itself():
    draw = np.random.default_rng(0)
    sound = 1e-3 * draw.standard_normal((1, 2**22))
    sound[0, :: 2**15] = 1.0
    tracemalloc.start()
    assert len(onsets.detect(sound, RATE).times) == 127
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3 * sound.nbytes


def test_silence_and_short_recordings_have_no_onsets():
    assert len(onsets.detect(np.zeros((2, 44100)), RATE).times) == 0
    assert len(onsets.detect(np.ones((1, 100)), RATE).times) == 0


@pytest.mark.wrong_types
@pytest.mark.parametrize(
    ("samples", "rate", "text"),
    [
        (np.ones(1000), RATE, "shape"),
        (np.full((1, 1000), np.nan), RATE, "finite"),
        (np.ones((1, 1000)), 4000.0, "sample_rate"),
    ],
)
def test_bad_arguments_are_named(samples, rate, text):
    with pytest.raises(ValueError, match=text):
        onsets.detect(samples, rate)
