import numpy as np
import pytest

from ricochet.models.sound import direct_sound, impact_synthesis

RATE = 44100.0
WIDTH = np.array([1e-3])


def channels(offsets, gains, *, level=1e-9, seed=0):
    """One click in every channel, `offsets` after frame 400, with noise."""
    clicks = impact_synthesis.waveform(
        impact_synthesis.Click(), np.asarray(offsets), sample_rate=RATE
    )
    samples = np.zeros((len(gains), 1000))
    samples[:, 400 - impact_synthesis.LEAD : 1000] = clicks[:, : 600 + impact_synthesis.LEAD]
    noise = np.random.default_rng(seed).standard_normal(samples.shape)
    return samples * np.asarray(gains)[:, None] + level * noise


def align(samples, starts, *, level=1e-9, width=WIDTH):
    return direct_sound.align(
        samples, starts, width=width, sample_rate=RATE, noise=np.full(len(samples), level)
    )


OFFSETS = np.array([0.0, 3.1e-6, -7.3e-6])


def test_alignment_finds_fractions_of_a_sample():
    samples = channels(OFFSETS + 5e-5, [1.0, 0.7, 1.4])
    found = align(samples, np.full((1, 3), 400 / RATE + 5e-5))
    error = found.times[0] - OFFSETS
    assert np.ptp(error) < 1e-9  # a 20,000th of a sample
    np.testing.assert_allclose(
        found.strengths[0] / found.strengths[0, 0], [1.0, 0.7, 1.4], rtol=1e-4
    )
    assert found.misfit[0] < 1e-6


def test_several_starts_at_once_equal_each_alone():
    samples = channels(OFFSETS + 5e-5, [1.0, 0.7, 1.4], level=0.01)
    starts = 400 / RATE + 5e-5 + 4e-6 * np.random.default_rng(0).standard_normal((4, 3))
    width = np.array([0.3, 0.5, 1.0, 2.0]) * 1e-3
    together = align(samples, starts, level=0.01, width=width)
    for index in range(4):
        alone = align(samples, starts[index : index + 1], level=0.01, width=width[index][None])
        np.testing.assert_allclose(together.times[index], alone.times[0], atol=1e-12)
        np.testing.assert_allclose(together.sd[index], alone.sd[0], rtol=1e-6)


def test_an_echo_after_the_window_changes_nothing():
    samples = channels(OFFSETS + 5e-5, [1.0, 0.7, 1.4], level=0.003)
    echoed = samples.copy()
    echoed[1, 80:] += 0.8 * samples[1, :-80]  # 1.8 ms later
    starts = np.full((1, 3), 400 / RATE + 5e-5)
    np.testing.assert_allclose(align(echoed, starts).times, align(samples, starts).times, atol=2e-8)


def test_an_echo_within_the_window_widens_the_deviation():
    samples = channels(OFFSETS + 5e-5, [1.0, 0.7, 1.4], level=0.003)
    echoed = samples.copy()
    echoed[1, 20:] += 0.6 * samples[1, :-20]  # 0.45 ms later
    starts = np.full((1, 3), 400 / RATE + 5e-5)
    clean, spoilt = (align(each, starts, level=0.003) for each in (samples, echoed))
    assert spoilt.sd[0, 1] > 3 * clean.sd[0, 1]


def test_stated_deviation_is_that_of_the_errors():
    errors, stated = [], []
    for seed in range(100):
        samples = channels(OFFSETS + 5e-5, [1.0, 0.7, 1.4], level=0.03, seed=seed)
        found = align(samples, np.full((1, 3), 400 / RATE + 5e-5), level=0.03)
        weight = found.strengths[0] ** 2 / np.sum(found.strengths[0] ** 2)
        error = found.times[0] - OFFSETS
        errors.append(error - error @ weight)
        stated.append(found.sd[0] * np.sqrt(1 - weight))
    ratio = np.sqrt(np.mean(np.square(errors))) / np.sqrt(np.mean(np.square(stated)))
    # 200 free errors: root mean square good to 1/sqrt(400) = 5 %; three of them
    assert ratio == pytest.approx(1.0, abs=0.15)
