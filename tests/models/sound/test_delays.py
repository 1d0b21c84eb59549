import numpy as np
import pytest

from ricochet.models.sound import delays, impact_synthesis
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.impact_synthesis import Background

POSITIONS = np.array([[-0.30, -0.25, 0.0762], [0.30, -0.25, 0.0762], [0.0, 0.32, 0.0762]])
MICROPHONES = Microphones(POSITIONS, 44100.0)


def correlation(whitening):
    def estimate(samples, arrival_time, *, microphones):
        spectra = delays.window_spectra(samples, arrival_time, microphones=microphones, window=0.02)
        return delays.correlate(spectra, arrival_time, microphones=microphones, whitening=whitening)

    return estimate


ESTIMATORS = {
    "plain correlation": correlation(0.0),
    "phase correlation": correlation(1.0),
    "first arrival": lambda *a, **k: delays.first_arrivals(*a, **k)[0],
}
EACH = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)


def impact(place=(0.1, -0.05), *, seed=0, microphones=MICROPHONES, time=0.04, **background):
    place = np.array([[*place, 0.0]])
    samples = impact_synthesis.render(
        np.array([time]),
        place,
        np.ones(1),
        microphones=microphones,
        duration=0.1,
        draw=np.random.default_rng(seed),
        noise=Background(**background) if background else Background(level=1e-6),
    )
    travel = np.linalg.norm(place - microphones.positions, axis=1) / microphones.speed_of_sound
    return samples, travel, time + travel.min()


def errors(estimator, **case):
    samples, travel, arrival = impact(**case)
    found = estimator(samples, arrival, microphones=MICROPHONES)
    late = found.times - travel
    return late - late.mean(), found.sd


@EACH
def test_delays_are_exact_between_samples_without_noise(estimator):
    for place in ((0.1, -0.05), (-0.213, 0.177), (0.0, 0.0)):
        error, _ = errors(estimator, place=place)
        assert np.abs(error).max() < 0.01 / 44100.0  # a hundredth of a sample, 0.08 mm of sound


@EACH
def test_microphones_farther_apart_than_a_window_is_long_are_estimated_too(estimator):
    """As where centimetres are stated for metres: sound takes longer between them than 20 ms."""
    samples, travel, arrival = impact()
    wide = Microphones(30.0 * POSITIONS, 44100.0)
    found = estimator(samples, arrival, microphones=wide)
    assert found.times.shape == travel.shape and np.isfinite(found.times).all()


@EACH
def test_a_later_recording_shifts_the_arrivals_alone(estimator):
    samples, _, arrival = impact()
    later = np.roll(samples, 300, axis=1)
    first = estimator(samples, arrival, microphones=MICROPHONES)
    second = estimator(later, arrival + 300 / 44100.0, microphones=MICROPHONES)
    np.testing.assert_allclose(second.times - 300 / 44100.0, first.times, atol=1e-9)


@EACH
def test_order_of_microphones_and_gain_do_not_matter(estimator):
    samples, _, arrival = impact()
    order = [2, 0, 1]
    swapped = Microphones(POSITIONS[order], 44100.0)
    first = estimator(samples, arrival, microphones=MICROPHONES)
    second = estimator(-3.0 * samples[order], arrival, microphones=swapped)
    np.testing.assert_allclose(second.times, first.times[order], atol=1e-9)


@pytest.mark.parametrize("whitening", [0.0, 1.0])
def test_stated_deviation_of_correlation_is_that_of_its_errors(whitening):
    drawn = [errors(correlation(whitening), seed=seed, snr=20.0) for seed in range(60)]
    size = np.sqrt(np.mean([error**2 for error, _ in drawn]))
    stated = np.sqrt(np.mean([sd**2 for _, sd in drawn]))
    # 120 free errors: their root mean square is good to 1/sqrt(240) = 6.5 %; the mean removed from
    # three takes a share, and phases beyond the click add to the stated one: within a factor of two
    assert 0.5 < stated / size < 2.0


def test_first_arrival_says_when_there_is_none():
    samples = np.random.default_rng(0).uniform(-1, 1, (3, 4410))  # never four deviations
    [found] = delays.first_arrivals(samples, 0.05, microphones=MICROPHONES)
    assert not np.isfinite(found.sd).any()


def test_background_is_the_noise_before_the_arrival():
    samples, _, arrival = impact(level=0.02)
    level = delays.background(samples, arrival, sample_rate=44100.0)
    # 353 samples a channel: sd sqrt(1/706) = 3.8 %; four of them for the largest of three
    np.testing.assert_allclose(level, 0.02, rtol=0.15)


def test_refinement_passes_through_the_samples():
    fine = delays.refine(np.sin(0.3 * np.arange(64.0)) * np.hanning(64))
    np.testing.assert_allclose(
        fine[:: delays.REFINEMENT], np.sin(0.3 * np.arange(64.0)) * np.hanning(64), atol=1e-12
    )
