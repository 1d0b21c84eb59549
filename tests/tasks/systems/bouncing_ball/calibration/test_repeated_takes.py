"""A recording counts once, whatever was done to its samples; two drops count as two."""

import numpy as np
import pytest
from scipy import signal

from ricochet.hardware.microphones.interface import default_rig
from ricochet.models.sound import impact_synthesis
from ricochet.tasks.systems.bouncing_ball.calibration import detections
from tests.tasks.recordings import small_sessions

RATE = 44100
RIG = default_rig("bench", sample_rate=RATE)
TIMES = 0.1 + np.cumsum([0.0, 0.38, 0.32, 0.27])


def take(seed, *, times=TIMES, snr=30.0):
    """A drop on one spot in three channels."""
    return impact_synthesis.render(
        times,
        np.tile([0.05, -0.08, 0.0], (len(times), 1)),
        0.1 * 0.84 ** np.arange(len(times)),
        microphones=RIG.array(),
        duration=times[-1] + 0.23,
        draw=np.random.default_rng(seed),
        noise=impact_synthesis.Background(snr=snr),
    )


def quieter(samples):
    return 0.6 * samples


def inverted(samples):
    return -samples


def later(samples):
    silence = np.random.default_rng(9).normal(0.0, 1e-5, (len(samples), 333))
    return np.concatenate([silence, samples[:, :-333]], axis=1)


def cut(samples):
    return samples[:, 2000 : int((TIMES[3] - 0.05) * RATE)]


def without_the_first(samples):
    return samples[:, int((TIMES[1] - 0.06) * RATE) :]


def between_samples(samples):
    """As one that was sampled anew: moved by 0.4 of a frame."""
    whole = np.fft.rfft(samples)
    turn = np.exp(-2j * np.pi * np.fft.rfftfreq(samples.shape[1]) * 0.4)
    return np.fft.irfft(whole * turn, samples.shape[1])


def without_highest(samples):
    """As one that was coded with loss."""
    return signal.sosfiltfilt(signal.butter(6, 11e3, fs=RATE, output="sos"), samples)


def in_few_bits(samples):
    return np.round(samples * 2**7) / 2**7


def in_a_narrow_band(samples):
    return signal.sosfiltfilt(
        signal.butter(4, [300.0, 3400.0], "band", fs=RATE, output="sos"), samples
    )


def without_noise(samples):
    """As a spectral gate leaves it."""
    *_, parts = signal.stft(samples, RATE, nperseg=1024)
    floor = np.median(np.abs(parts), axis=-1, keepdims=True)
    kept = np.where(np.abs(parts) > 4.0 * floor, parts, 0.05 * parts)
    return signal.istft(kept, RATE, nperseg=1024)[1][:, : samples.shape[1]]


def in_other_noise(samples):
    return samples + np.random.default_rng(8).normal(0.0, 1e-3, samples.shape)


def detected(folder, takes):
    made = small_sessions.write_session(small_sessions.plan(folder, rig=RIG), takes)
    found = detections.detect([folder])
    return made, found


@pytest.mark.parametrize(
    "change", [quieter, inverted, later, cut, without_the_first, between_samples, without_highest]
)
def test_a_recording_that_was_changed_counts_once(tmp_path, change):
    first = take(0)
    made, found = detected(tmp_path / "drops", [first, take(1), change(first)])
    assert [each.path.name for each in found.takes] == [each.file for each in made.takes[:2]]
    (left_out,) = found.rejected
    assert left_out.file.endswith(made.takes[2].file)
    assert made.takes[0].file in left_out.reason and "expected each once" in left_out.reason


@pytest.mark.parametrize(
    "change", [in_few_bits, in_a_narrow_band, without_noise, in_other_noise, quieter]
)
def test_a_recording_whose_noise_was_taken_out_counts_once(tmp_path, change):
    """Eight bounces come at the same times, which those of two drops do not."""
    gaps = np.r_[0.0, 0.38 * 0.88 ** np.arange(7)]
    strays = np.random.default_rng(1).normal(0.0, 2.5e-4, (2, 8))
    sounds = [take(seed, times=0.1 + np.cumsum(gaps + strays[seed])) for seed in range(2)]
    made, found = detected(tmp_path / "drops", [*sounds, change(sounds[0])])
    assert [each.path.name for each in found.takes] == [each.file for each in made.takes[:2]]
    assert made.takes[0].file in found.rejected[0].reason


@pytest.mark.parametrize("rate", [RATE, 48_000])
def test_a_copy_in_another_session_is_left_out_too(tmp_path, rate):
    first, second = tmp_path / "first", tmp_path / "second"
    sounds = [take(seed) for seed in range(2)]
    small_sessions.write_session(small_sessions.plan(first, rig=RIG), sounds)
    copies = [
        0.5 * signal.resample(each, round(each.shape[1] * rate / RATE), axis=1) for each in sounds
    ]
    rig = default_rig("bench", sample_rate=rate)
    small_sessions.write_session(small_sessions.plan(second, rig=rig), copies)
    found = detections.detect([first, second])
    assert len(found.takes) == 2 and len(found.rejected) == 2


def test_drops_at_the_same_times_count_each(tmp_path):
    """As a simulator makes them whose collisions do not stray, with little noise too."""
    _, found = detected(tmp_path / "drops", [take(seed, snr=60.0) for seed in range(5)])
    assert len(found.takes) == 5 and not found.rejected


def test_drops_in_the_same_noise_count_each(tmp_path):
    """As a hum is the same in all takes, and a recorder's noise may be."""
    places = [TIMES, np.add(TIMES, [0.0, 0.0, 3e-4, 0.0])]
    _, found = detected(tmp_path / "drops", [take(0, times=times) for times in places])
    assert len(found.takes) == 2
