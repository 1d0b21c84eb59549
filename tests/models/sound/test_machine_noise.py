"""A machine's steady sound: its level, its lines, its spreading and its delays."""

from dataclasses import replace

import numpy as np

from ricochet.models.sound import machine_noise
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.machine_noise import Machine

RATE, FRAMES = 45000.0, 45000  # one second, a length the transform likes
ARRAY = Microphones(np.array([[-0.3, -0.25, 0.08], [0.3, -0.25, 0.08], [0.0, 0.32, 0.08]]), RATE)


def recorded(machine=None, level=0.01, *, seed=1, array=ARRAY):
    return machine_noise.steady(
        machine or Machine(),
        level,
        microphones=array,
        frames=FRAMES,
        draw=np.random.default_rng(seed),
    )


def test_the_level_is_the_root_mean_square_and_scales():
    samples = recorded()
    np.testing.assert_allclose(np.sqrt(np.mean(samples**2)), 0.01)
    np.testing.assert_allclose(recorded(level=0.02), 2.0 * samples)


def test_the_harmonics_have_the_stated_powers():
    """One second at 1 Hz a bin: the k-th line has the amplitude of the first over k."""
    spectrum = np.abs(np.fft.rfft(recorded(replace(Machine(), share=1.0))[0]))
    order = np.arange(1, 25)
    np.testing.assert_allclose(spectrum[130 * order] * order, spectrum[130], rtol=1e-6)
    np.testing.assert_allclose(np.sum(spectrum[130 * order] ** 2), np.sum(spectrum**2), rtol=1e-9)


def test_the_rush_stays_in_its_band():
    power = np.abs(np.fft.rfft(recorded(replace(Machine(), share=0.0))[0])) ** 2
    assert power[400:4001].sum() > (1 - 1e-9) * power.sum()


def test_the_far_microphone_records_the_same_later_and_fainter():
    """Along x: distances 0.5 and 1 m; the later one is half as high, 0.5 m / c behind."""
    array = Microphones(np.array([[0.25, 0.0, 0.3], [-0.25, 0.0, 0.3]]), RATE)
    near, far = np.fft.rfft(recorded(array=array), axis=1)
    loud = np.abs(near) > 1e-3 * np.abs(near).max()
    ratio = (far / np.where(loud, near, 1.0))[loud]
    frequency = np.arange(len(loud))[loud]
    expected = 0.5 * np.exp(-2j * np.pi * frequency * 0.5 / array.speed_of_sound)
    np.testing.assert_allclose(ratio, expected, atol=1e-9)
