import numpy as np
import pytest

from ricochet.models.sound import (
    delays,
    impact_stream,
    impact_synthesis,
    multilateration,
    onsets,
    realtime_localisation,
)
from ricochet.models.sound.arrays import Microphones

RATE = 44100.0
PLACES = np.array([[-0.30, -0.25, 0.0762], [0.30, -0.25, 0.0762], [0.0, 0.32, 0.0762]])
ARRAY = Microphones(PLACES, RATE)


def impacts(count=6, *, seed=0, snr=20.0, array=ARRAY):
    """Impacts on the table in free field: samples, times of emission, places."""
    draw = np.random.default_rng(seed)
    times = 0.4 + np.cumsum(draw.uniform(0.08, 0.3, count))
    places = np.column_stack([draw.uniform(-0.22, 0.22, (count, 2)), np.zeros(count)])
    samples = impact_synthesis.render(
        times,
        places,
        np.ones(count),
        microphones=array,
        duration=float(times[-1]) + 0.2,
        draw=draw,
        noise=impact_synthesis.Background(snr=snr),
    )
    return samples, times, places[:, :2]


def listen(samples, *, size=485, array=ARRAY):
    state, events = impact_stream.init(array), []
    for first in range(0, samples.shape[1], size):
        state, found = impact_stream.step(state, samples[:, first : first + size])
        events.extend(found)
    return state, events


def test_impacts_are_detected_and_located_within_their_covariance():
    samples, times, places = impacts(25, seed=3)
    _, events = listen(samples)
    assert len(events) == 25
    error = np.array([event.position for event in events]) - places
    assert np.linalg.norm(error, axis=1).mean() < 1e-3
    squares = [
        away @ np.linalg.solve(event.covariance, away)
        for away, event in zip(error, events, strict=True)
    ]
    # a chi-square of two degrees has mean 2 and variance 4: 2 + 3 sqrt(4 / 25) = 3.2
    assert np.mean(squares) < 3.2
    late = np.array([event.time for event in events]) - times
    assert np.abs(late - np.median(late)).max() < 0.02e-3
    assert not any(event.outlier for event in events)


@pytest.mark.parametrize("size", [pytest.param(37, marks=pytest.mark.slow), 500, 1111, 10**6])
def test_the_cut_into_buffers_does_not_matter(size):
    samples, _, _ = impacts(4)
    _, one = listen(samples)
    _, other = listen(samples, size=size)
    assert len(one) == len(other) == 4
    for left, right in zip(one, other, strict=True):
        assert (left.time, left.arrival) == (right.time, right.arrival)
        assert left.strength == pytest.approx(right.strength, rel=1e-9)
        np.testing.assert_array_equal(left.position, right.position)
        np.testing.assert_array_equal(left.covariance, right.covariance)


def test_the_stream_detects_what_the_recording_holds():
    samples, _, _ = impacts(12, seed=5)
    _, events = listen(samples)
    found = onsets.detect(samples, RATE)
    live = np.array([event.arrival for event in events])
    # both cross a fixed fraction of the first peak (0.5 and 0.4): half a frame apart at most
    np.testing.assert_allclose(live, found.times, atol=0.5 / RATE)


def test_louder_sound_changes_nothing_but_rounding():
    samples, _, _ = impacts(4)
    _, one = listen(samples)
    _, other = listen(2.0**15 * samples)
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose(left.position, right.position, atol=1e-9)


def test_moving_the_array_moves_the_events():
    shift = np.array([0.7, -1.3])
    moved = Microphones(PLACES + np.array([*shift, 0.0]), RATE)
    samples, _, _ = impacts(4)
    _, one = listen(samples)
    _, other = listen(samples, array=moved)
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose(left.position + shift, right.position, atol=1e-7)


def test_noise_alone_makes_no_events():
    _, events = listen(np.random.default_rng(2).standard_normal((3, 3 * 44100)))
    assert events == []


def test_an_event_is_out_within_ten_milliseconds_of_sound():
    samples, _, _ = impacts(1)
    _, (event,) = listen(samples)
    stop = int((event.arrival + 10e-3) * RATE)
    _, events = listen(samples[:, :stop], size=64)
    assert len(events) == 1


def test_the_state_keeps_its_size_and_its_arrays():
    samples, _, _ = impacts(2)
    state = impact_stream.init(ARRAY)
    before = {name: id(part) for name, part in vars(state).items() if isinstance(part, np.ndarray)}
    sizes = {name: getattr(state, name).nbytes for name in before}
    for first in range(0, samples.shape[1], 485):
        state, _ = impact_stream.step(state, samples[:, first : first + 485])
    assert {name: id(getattr(state, name)) for name in before} == before
    assert {name: getattr(state, name).nbytes for name in before} == sizes


def test_one_microphone_gives_times_without_places():
    single = Microphones(PLACES[:1], RATE)
    samples, _, _ = impacts(3)
    _, events = listen(samples[:1], array=single)
    assert len(events) == 3
    assert all(event.position is None and event.outlier for event in events)


def test_a_short_descent_ends_where_the_long_one_does():
    search = realtime_localisation.prepare(ARRAY)
    draw = np.random.default_rng(8)
    for point in draw.uniform(-0.25, 0.25, (20, 2)):
        travel, _ = multilateration.gradients(point, microphones=ARRAY)
        fixes = multilateration.solve(
            travel, np.full(3, 1e-6), microphones=ARRAY, region=search.region
        )
        arrivals = delays.Arrivals(travel, np.full(3, 1e-6))
        quick = realtime_localisation.crossings(arrivals, search)
        np.testing.assert_allclose(quick[0].position, fixes[0].position, atol=1e-7)
        assert len(quick) == len(fixes)


def test_bad_buffers_and_arrays_are_named():
    state = impact_stream.init(ARRAY)
    with pytest.raises(ValueError, match=r"shape \(3, frame\)"):
        impact_stream.step(state, np.zeros((2, 485)))
    with pytest.raises(ValueError, match="finite"):
        impact_stream.step(state, np.full((3, 485), np.inf))
    with pytest.raises(ValueError, match="line"):
        impact_stream.init(Microphones(PLACES * np.array([1.0, 0.0, 1.0]), RATE))
    with pytest.raises(ValueError, match="sample_rate"):
        impact_stream.init(Microphones(PLACES, 4000.0))
