import numpy as np
import pytest
import torch

from ricochet.models.sound import impact_synthesis
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.impact_synthesis import Background
from ricochet.models.sound.room_acoustics import Room
from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.listening import takes

THREE = Microphones(
    np.array([[-0.30, -0.25, 0.0762], [0.30, -0.25, 0.0762], [0.0, 0.32, 0.0762]]), 44100.0
)


def drop(seed, *, restitution=0.8, log10_concentration=3.5, room=None, snr=25.0):
    """A recording of one drop, and the times and places that are in it."""
    fallen = simulator.simulate(
        torch.tensor(restitution, dtype=torch.float64),
        torch.tensor(10.0**log10_concentration, dtype=torch.float64),
        bounces=4,
        drop_height=0.26,
        draw=torch.Generator().manual_seed(seed),
    )
    times, places = fallen.times.numpy() + 0.05, fallen.positions.numpy()
    speeds = np.append(np.sqrt(2 * 9.81 * 0.26), fallen.velocities.numpy()[:-1, 2])
    samples = impact_synthesis.render(
        times,
        places,
        0.1 * speeds / speeds[0],
        microphones=THREE,
        duration=1.4,
        draw=np.random.default_rng(seed),
        room=room,
        noise=Background(snr=snr),
    )
    recorded = times < 1.39
    return samples, times[recorded], places[recorded, :2]


@pytest.fixture(scope="module")
def one_drop():
    return drop(0)


def scores(seeds, **case):
    """Errors of interval over stated deviation, and squared errors of place over covariance."""
    intervals, squares = [], []
    for seed in seeds:
        samples, times, places = drop(seed, **case)
        found = takes.detect(samples, THREE, most=3)
        assert not found.outliers.any()
        late = found.times - times[:3]
        sd = found.time_sd
        intervals += [(late[n + 1] - late[n]) / np.hypot(sd[n], sd[n + 1]) for n in (0, 1)]
        for error, covariance in zip(found.positions - places[:3], found.covariances, strict=True):
            squares.append(error @ np.linalg.solve(covariance, error))
    return np.array(intervals), np.array(squares)


def test_a_drop_is_detected_where_and_when_it_was(one_drop):
    samples, times, places = one_drop
    found = takes.detect(samples, THREE)
    assert len(found.times) == len(times)
    assert not found.outliers.any()
    assert np.abs(found.times - times).max() < 20e-6
    assert np.linalg.norm(found.positions - places, axis=1).max() < 1e-3


def test_a_second_ball_that_bounces_among_the_bounces_of_one_is_noticed(one_drop):
    samples, _, _ = one_drop
    later, lost = drop(7, restitution=0.7)[0], round(0.06 * THREE.sample_rate)
    second = np.pad(later, ((0, 0), (lost, 0)))[:, : later.shape[1]]
    alone, both = takes.detect(samples, THREE), takes.detect(samples + second, THREE)
    assert alone.other is None
    assert both.times[0] < both.other < both.times[-1]


@pytest.mark.slow
def test_errors_over_stated_deviations_are_about_one():
    intervals, squares = scores(range(8))
    # 16 intervals: root mean square good to 1/sqrt(32) = 18 %; three of them. Floors may widen
    assert 0.4 < np.sqrt(np.mean(intervals**2)) < 1.55
    # 24 places, mean 2, sd of the mean sqrt(4/24) = 0.41; three of them
    assert 0.75 < np.mean(squares) < 3.25


@pytest.mark.proof
@pytest.mark.slow
def test_errors_over_stated_deviations_are_about_one_in_a_room():
    intervals, squares = scores(range(40), room=Room(), snr=20.0)
    # 80 intervals: 1/sqrt(160) = 8 %; three of them, and floors may widen
    assert 0.6 < np.sqrt(np.mean(intervals**2)) < 1.25
    # 120 places: sqrt(4/120) = 0.18; three of them, and floors may widen
    assert 1.2 < np.mean(squares) < 2.55


def test_louder_and_later_recordings_say_the_same(one_drop):
    samples, *_ = one_drop
    later = np.concatenate([samples[:, :2205][:, ::-1] * 0.0, samples], axis=1)
    later[:, :2205] = samples[:, 100:2305]  # more background, no impact
    first, second = takes.detect(samples, THREE), takes.detect(4.0 * later, THREE)
    np.testing.assert_allclose(second.times - 0.05, first.times, atol=2e-6)
    np.testing.assert_allclose(second.positions, first.positions, atol=1e-4)


@pytest.mark.parametrize("channels", [1, 2])
def test_fewer_than_three_microphones_give_times_alone(one_drop, channels):
    samples, times, _ = one_drop
    few = Microphones(THREE.positions[:channels], 44100.0)
    found = takes.detect(samples[:channels], few)
    assert found.positions is None
    assert found.covariances is None
    assert np.abs(np.diff(found.times) - np.diff(times)).max() < 1e-3  # travel is not removed


def test_most_keeps_the_first_bounces(one_drop):
    samples, *_ = one_drop
    found = takes.detect(samples, THREE, most=3)
    assert len(found.times) == len(found.positions) == len(found.outliers) == 3


def spoilt(samples, kind):
    samples = samples.copy()
    if kind == "not finite":
        samples[1, 500] = np.nan
    elif kind == "channel 2 is flat":
        samples[2] = 0.0
    elif kind == "clipped":
        samples = np.clip(20 * samples, -1.0, 1.0)
    elif kind == "fewer than three":
        samples[:, 30000:] = samples[:, :1] * 0.0
        samples[:, 20000:] = np.random.default_rng(0).normal(0, 1e-3, samples[:, 20000:].shape)
    elif kind == "must have shape":
        samples = samples[:2]
    return samples


@pytest.mark.parametrize(
    "kind", ["not finite", "channel 2 is flat", "clipped", "fewer than three", "must have shape"]
)
def test_bad_recordings_are_refused_with_their_fault(one_drop, kind):
    with pytest.raises(ValueError, match=kind):
        takes.detect(spoilt(one_drop[0], kind), THREE)


def test_microphones_on_one_line_are_refused(one_drop):
    line = Microphones(np.outer([-1.0, 0.0, 1.0], [0.3, 0.1, 0.0]), 44100.0)
    with pytest.raises(ValueError, match="collinear"):
        takes.detect(one_drop[0], line)
