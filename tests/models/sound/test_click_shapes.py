"""Clicks that sound alike: their likeness, their clusters, and the waveform they share."""

import numpy as np
import pytest

from ricochet.models.sound import click_shapes

RATE = 44100.0


def ring(*frequencies, decay=2e-3, frames=300):
    time = np.arange(frames) / RATE
    return sum(np.sin(2.0 * np.pi * each * time) for each in frequencies) * np.exp(-time / decay)


def sound_of(clicks, *, duration=3.0, noise=0.01, seed=0):
    """Sound with (time, waveform) pairs in white noise."""
    sound = noise * np.random.default_rng(seed).standard_normal(round(duration * RATE))
    for time, wave in clicks:
        first = round(time * RATE)
        sound[first : first + len(wave)] += wave
    return sound


def test_likeness_equals_the_correlation_at_every_lag_tried_in_turn():
    pieces = np.random.default_rng(1).standard_normal((4, 60))
    rho, lags = click_shapes.likeness(pieces, 7)
    for first, one in enumerate(pieces):
        for second, other in enumerate(pieces):
            slow = {}
            for lag in range(-7, 8):
                moved = np.zeros_like(other)
                moved[max(0, -lag) : 60 - max(0, lag)] = other[max(0, lag) : 60 - max(0, -lag)]
                slow[lag] = one @ moved / np.linalg.norm(one) / np.linalg.norm(other)
            best = max(slow, key=slow.__getitem__)
            assert rho[first, second] == pytest.approx(slow[best])
            assert lags[first, second] == best


def test_weights_of_the_common_click_are_those_of_the_first_singular_vector():
    draw = np.random.default_rng(2)
    click = click_shapes.unit(draw.standard_normal(80))
    pieces = np.outer([5.0, 3.0, 1.0], click) + 0.02 * draw.standard_normal((3, 80))
    left, values, _ = np.linalg.svd(pieces, full_matrices=False)
    expected = np.abs(left[:, 0]) * values[0]
    assert click_shapes.common(pieces) == pytest.approx(expected, rel=1e-6)


def test_likeness_does_not_depend_on_loudness():
    pieces = np.random.default_rng(3).standard_normal((3, 50))
    louder = pieces * np.array([[1.0], [20.0], [0.03]])
    assert click_shapes.likeness(louder, 5)[0] == pytest.approx(
        click_shapes.likeness(pieces, 5)[0], abs=1e-12
    )


def test_whitening_forgets_gain_and_colour():
    draw = np.random.default_rng(4)
    white = draw.standard_normal(3 * 44100)
    coloured = np.convolve(white, [1.0, 0.9, 0.5])[: len(white)]
    found = click_shapes.whitened(coloured, RATE)
    np.testing.assert_allclose(click_shapes.whitened(0.01 * coloured, RATE), found, atol=1e-9)
    power = np.abs(np.fft.rfft(found)) ** 2
    parts = [part.mean() for part in np.array_split(power[4000:56000], 8)]
    # 6500 values of a chi-squared law with two degrees of freedom each: 1.2 % of its mean; the
    # spectrum that whitens has 3 * 516 frames, of which the median is known to 5 % or so
    assert max(parts) / min(parts) < 1.3


def test_two_kinds_of_click_fall_into_two_aligned_clusters():
    one, other = ring(2900.0, 4100.0), ring(1500.0, 6400.0)
    first, second = np.array([0.3, 0.9, 1.4, 1.8]), np.array([0.6, 1.1, 2.2])
    pairs = [(time, one) for time in first] + [(time, 0.4 * other) for time in second]
    errors = 2e-4 * np.random.default_rng(5).standard_normal(7)
    times = np.concatenate((first, second)) + errors
    found = click_shapes.clusters(click_shapes.whitened(sound_of(pairs), RATE), RATE, times, most=3)
    assert [len(each) for each in found] == [4, 3]
    # aligned: one offset for all members, to a frame
    assert np.ptp(found[0] - first) < 1.5 / RATE
    assert np.ptp(found[1] - second) < 1.5 / RATE


def test_noise_is_not_alike():
    sound = np.random.default_rng(6).standard_normal(3 * 44100)
    times = np.linspace(0.1, 2.9, 40)
    assert click_shapes.clusters(sound, RATE, times, most=3) == ()
