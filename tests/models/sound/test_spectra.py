"""Spectra of frames: tones, Parseval, decibels, bands against sums by hand."""

import numpy as np
import pytest

from ricochet.models.sound import spectra

RATE, LENGTH = 16_000.0, 1024


def tone(frequency: float, amplitude: float = 1.0, channels: int = 1) -> np.ndarray:
    times = np.arange(4 * LENGTH) / RATE
    return np.repeat(amplitude * np.sin(2 * np.pi * frequency * times)[None], channels, axis=0)


@pytest.mark.parametrize("frequency", [250.0, 1000.0, 5000.0])
def test_the_pitch_of_a_tone_is_its_frequency(frequency: float) -> None:
    found = spectra.pitch(spectra.powers(tone(frequency), LENGTH), RATE)
    assert found == pytest.approx([frequency] * 4, abs=RATE / LENGTH)


def test_powers_are_those_of_the_windowed_samples() -> None:
    """Parseval, without the constant: both halves of the spectrum hold the windowed power."""
    noise = np.random.default_rng(0).standard_normal((1, LENGTH))
    windowed = noise[0] * np.hanning(LENGTH)
    power = spectra.powers(noise, LENGTH)[0]
    both = 2.0 * power.sum() - power[-1] + (windowed.mean()) ** 2
    assert both == pytest.approx(np.mean(windowed**2), rel=1e-9)


def test_a_frame_is_the_same_alone_and_among_others() -> None:
    noise = np.random.default_rng(1).standard_normal((3, 5 * LENGTH + 100))
    together = spectra.powers(noise, LENGTH)
    assert together.shape == (5, LENGTH // 2)
    alone = spectra.powers(noise[:, 2 * LENGTH : 3 * LENGTH], LENGTH)[0]
    np.testing.assert_allclose(together[2], alone)


def test_twice_the_amplitude_is_six_decibels_more_in_every_band() -> None:
    noise = np.random.default_rng(2).standard_normal((2, 3 * LENGTH))
    one, two = (
        spectra.mel_decibels(spectra.powers(size * noise, LENGTH), RATE) for size in (1.0, 2.0)
    )
    assert two - one == pytest.approx(20.0 * np.log10(2.0), abs=1e-6)


def test_loudness_does_not_depend_on_which_microphone_heard_it() -> None:
    noise = np.random.default_rng(3).standard_normal((4, 2 * LENGTH))
    one = spectra.loudness(spectra.powers(noise, LENGTH))
    np.testing.assert_allclose(spectra.loudness(spectra.powers(noise[::-1], LENGTH)), one)


def test_bands_are_triangles_that_add_up_to_one_between_the_first_and_the_last_corner() -> None:
    weights = spectra._mel_weights(512, RATE, 24)
    frequency = np.arange(1, 513) * RATE / 1024
    first, last = frequency[weights[0].argmax()], frequency[weights[-1].argmax()]
    inner = (frequency > first + 60.0) & (frequency < last - 200.0)
    assert weights.sum(0)[inner] == pytest.approx(1.0, abs=1e-9)
    assert (weights >= 0.0).all() and (np.diff(weights.argmax(1)) > 0).all()
