"""Coherences of bands: a delay is a phase, noise leaves nothing, pairs stand in their order."""

from itertools import pairwise

import numpy as np
import pytest

from ricochet.models.sound.coherences import EDGES, band_coherences

RATE, LENGTH = 16_000.0, 1024


def complex_bands(samples: np.ndarray) -> np.ndarray:
    found = band_coherences(samples, LENGTH, RATE)
    return (found[:, ::2] + 1j * found[:, 1::2]).reshape(len(found), -1, len(EDGES) - 1)


def test_a_delay_of_a_click_is_the_mean_phase_of_each_band() -> None:
    """By the second after the first: exp(i w tau), averaged over the bins of the band."""
    click = np.zeros((2, LENGTH))
    click[0, 512], click[1, 515] = 1.0, 1.0
    frequency = np.fft.rfftfreq(LENGTH, 1.0 / RATE)
    for found, (low, high) in zip(complex_bands(click)[0, 0], pairwise(EDGES), strict=True):
        bins = frequency[(frequency >= low) & (frequency < high)]
        assert found == pytest.approx(np.exp(2j * np.pi * bins * 3.0 / RATE).mean(), abs=1e-9)


def test_noise_of_their_own_leaves_microphones_nothing_in_common() -> None:
    """A band of n bins has a mean of n random phases: 1 over the root of n."""
    noise = np.random.default_rng(0).standard_normal((2, 200 * LENGTH))
    sizes = np.sqrt((np.abs(complex_bands(noise)[:, 0]) ** 2).mean(0))
    bins = np.diff(np.array(EDGES)) * LENGTH / RATE
    # 200 frames; the window makes neighbours alike, so that there are some two thirds of the bins.
    assert (sizes * np.sqrt(bins) < 1.6).all() and (sizes * np.sqrt(bins) > 0.8).all()


def test_how_loud_a_microphone_is_does_not_matter() -> None:
    noise = np.random.default_rng(1).standard_normal((3, 4 * LENGTH))
    one = band_coherences(noise, LENGTH, RATE)
    other = band_coherences(noise * np.array([[1.0], [0.3], [2.0]]), LENGTH, RATE)
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_exchanged_microphones_have_the_conjugate_coherence() -> None:
    noise = np.random.default_rng(2).standard_normal((2, 3 * LENGTH))
    np.testing.assert_allclose(complex_bands(noise), complex_bands(noise[::-1]).conj(), atol=1e-12)


def test_pairs_are_those_of_the_upper_triangle() -> None:
    noise = np.random.default_rng(3).standard_normal((4, 2 * LENGTH))
    together = complex_bands(noise)
    for place, pair in enumerate(zip(*np.triu_indices(4, 1), strict=True)):
        np.testing.assert_allclose(together[:, place], complex_bands(noise[list(pair)])[:, 0])


def test_silence_is_a_number() -> None:
    assert np.isfinite(band_coherences(np.zeros((2, LENGTH)), LENGTH, RATE)).all()
