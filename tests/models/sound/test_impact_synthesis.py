import numpy as np
import pytest

from ricochet.models.sound import impact_synthesis
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.impact_synthesis import Background, Click, Room

RATE = 44100.0
POSITIONS = np.array([[-0.30, -0.25, 0.0762], [0.30, -0.25, 0.0762], [0.0, 0.32, 0.0762]])
MICROPHONES = Microphones(POSITIONS, RATE)


def render(times, positions, loudness, **more):
    settings = {"microphones": MICROPHONES, "duration": 0.2, "draw": np.random.default_rng(0)}
    return impact_synthesis.render(times, positions, loudness, **(settings | more))


def phase_delay(first, second):
    """Delay of second after first in frames, by a weighted line through the cross-phase."""
    cross = np.conj(np.fft.rfft(first)) * np.fft.rfft(second)
    bins = np.arange(1, int(0.2 * len(first)))
    weight = np.abs(cross[bins])
    return (
        -np.sum(weight * bins * np.angle(cross[bins]))
        * len(first)
        / (2 * np.pi * np.sum(weight * bins**2))
    )


def gaussian_with_modes(click, time):
    """The click in the time domain, before the recorder's roll-off, by direct convolution."""
    step = time[1] - time[0]
    pulse = np.exp(-0.5 * (time / click.width) ** 2) / (np.sqrt(2 * np.pi) * click.width)
    total = -click.width * np.gradient(pulse, step) * -1
    for frequency, decay, share in zip(click.frequencies, click.decays, click.shares, strict=True):
        tail = np.where(time >= 0, np.exp(-np.clip(time, 0, None) / decay), 0.0)
        mode = tail * np.sin(2 * np.pi * frequency * time)
        scale = share / (np.sqrt(2 * np.pi * np.e) * click.width)
        total = total + scale * step * np.convolve(mode, pulse, mode="same")
    return total


def test_spectrum_is_the_transform_of_the_click_written_in_time():
    """Oracle: the waveform from Gaussians and damped sines, transformed by plain summation."""
    click, step = Click(), 1e-6
    time = (np.arange(24001) - 12000) * step
    written = gaussian_with_modes(click, time)
    frequency = np.array([500.0, 3000.0, 4300.0, 8000.0, 12000.0, 16000.0])
    direct = step * np.exp(-2j * np.pi * frequency[:, None] * time) @ written
    closed = impact_synthesis.spectrum(click, frequency, sample_rate=1e6)  # no roll-off so far down
    assert np.abs(direct - closed).max() < 2e-3 * np.abs(closed).max()  # steps of 1 us: (w step)^2


def test_clicks_of_unit_loudness_peak_at_one():
    offsets = np.linspace(0, 1 / RATE, 50)
    peaks = np.abs(impact_synthesis.waveform(Click(), offsets, sample_rate=RATE)).max(axis=1)
    assert 0.99 < peaks.max() < 1.001  # the peak is found on a grid of an eighth of a sample


def test_delays_are_exact_to_a_thousandth_of_a_sample():
    position = np.array([[0.1234, -0.0567, 0.0]])
    samples = render(np.array([0.05]), position, np.ones(1))
    distances = np.linalg.norm(position - POSITIONS, axis=1)
    expected = (distances - distances[0]) / MICROPHONES.speed_of_sound * RATE
    for channel in (1, 2):
        whole = round(expected[channel])
        near = np.roll(samples[channel], -whole)
        assert abs(phase_delay(samples[0], near) + whole - expected[channel]) < 1e-4


def test_direct_sound_in_a_room_is_where_it_is_in_free_field():
    """Before the first echo the room's response is the free field's, to 1e-3 of a sample."""
    position, times = np.array([[0.02, 0.03, 0.0]]), np.array([0.05])
    free = render(times, position, np.ones(1))
    room = render(times, position, np.ones(1), room=Room())
    for channel in range(3):
        distance = np.linalg.norm(position[0] - POSITIONS[channel])
        start = int((0.05 + distance / MICROPHONES.speed_of_sound) * RATE)
        taper = np.zeros(free.shape[1])
        taper[start - 30 : start + 60] = np.hanning(90)  # the nearest wall's echo is 90 frames on
        assert abs(phase_delay(free[channel] * taper, room[channel] * taper)) < 1e-3
        assert np.abs((free - room)[channel] * taper).max() < 5e-3 * np.abs(free[channel]).max()


def test_room_falls_by_sixty_decibels_in_its_reverberation_time():
    samples = render(
        np.array([0.01]),
        np.zeros((1, 3)),
        np.ones(1),
        duration=0.4,
        room=Room(reverberation_time=0.3, reflections=60),
    )
    energy = np.cumsum(samples[0, ::-1] ** 2)[::-1]
    decay = 10 * np.log10(energy / energy[0])
    low, high = np.argmax(decay < -25), np.argmax(decay < -45)
    slope = 20 / ((high - low) / RATE)
    assert 60 / slope == pytest.approx(0.3, rel=0.25)  # Sabine's rule is good to about a fifth


def test_loudness_falls_with_distance_and_scales():
    samples = render(np.array([0.05]), np.array([[0.2, -0.2, 0.0]]), np.ones(1))
    twice = render(np.array([0.05]), np.array([[0.2, -0.2, 0.0]]), 2 * np.ones(1))
    np.testing.assert_allclose(twice, 2 * samples, atol=1e-12)
    distances = np.linalg.norm(np.array([0.2, -0.2, 0.0]) - POSITIONS, axis=1)
    energy = np.sqrt(np.sum(samples**2, axis=1))
    np.testing.assert_allclose(energy * distances, energy[0] * distances[0], rtol=1e-6)


def test_a_recording_is_the_sum_of_its_impacts():
    times, places = np.array([0.03, 0.11]), np.array([[0.1, 0.0, 0.0], [-0.1, 0.05, 0.0]])
    both = render(times, places, np.array([1.0, 0.5]))
    first = render(times[:1], places[:1], np.array([1.0]))
    second = render(times[1:], places[1:], np.array([0.5]))
    np.testing.assert_allclose(both, first + second, atol=1e-12)


def test_rendering_later_by_whole_samples_shifts_the_recording():
    place = np.array([[0.1, 0.0, 0.0]])
    now = render(np.array([0.05]), place, np.ones(1))
    later = render(np.array([0.05 + 100 / RATE]), place, np.ones(1))
    np.testing.assert_allclose(later[:, 100:], now[:, :-100], atol=1e-9)


def test_signal_to_noise_ratio_is_as_defined():
    times, places = np.full(1, 0.1), np.array([[0.05, 0.02, 0.0]])
    clean = render(times, places, np.ones(1))
    noise = render(times, places, np.ones(1), noise=Background(snr=20.0)) - clean
    window = int(impact_synthesis.length(Click(), sample_rate=RATE) * RATE)
    power = []
    for channel in clean:
        energy = np.concatenate([[0.0], np.cumsum(channel**2)])
        power.append(np.max(energy[window:] - energy[:-window]) / window)
    ratio = 10 * np.log10(np.mean(power) / np.mean(noise**2))
    # 3 x 8820 noise samples: sd of their power sqrt(2/26460) = 0.9 %, 0.04 dB; three of them
    assert ratio == pytest.approx(20.0, abs=0.15)


@pytest.mark.parametrize("sizes", [{}, {"level": 0.1, "snr": 20.0}])
def test_background_has_exactly_one_size(sizes):
    with pytest.raises(ValueError, match="level or snr"):
        Background(**sizes)


def test_an_impact_outside_the_room_is_refused():
    with pytest.raises(ValueError, match="positions reach outside the room"):
        render(np.zeros(1), np.array([[9.0, 0.0, 0.0]]), np.ones(1), room=Room())
