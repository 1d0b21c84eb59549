from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.sound import array_errors, multilateration
from ricochet.models.sound.array_errors import Spread
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.multilateration import Region

THREE = Microphones(
    np.array([[-0.30, -0.25, 0.0762], [0.25, -0.30, 0.0762], [0.0, 0.32, 0.0762]]), 44100.0
)
FIVE = Microphones(
    np.array(
        [
            [-0.3, -0.2, 0.08],
            [0.3, -0.25, 0.3],
            [0.0, 0.32, 0.15],
            [0.4, 0.4, 0.5],
            [-0.4, 0.3, 0.1],
        ]
    ),
    44100.0,
)
PLACES = np.array([[0.0, 0.0], [0.1, -0.05], [-0.15, 0.1], [0.05, 0.2]])
SINCE = np.array([0.25, 0.7, 1.1, 1.4])
WIDE = Region((-1.0, -1.0), (1.0, 1.0))


def split(microphones, sizes):
    """Errors by kind: places, speed, delays and drifts by channel."""
    count = len(microphones.positions)
    parts = np.split(sizes, np.cumsum([3 * count, 1, count - 1]))
    delays, drifts = (np.concatenate([[0.0], part]) for part in parts[2:])
    return parts[0].reshape(count, 3), float(parts[1][0]), delays, drifts


def located(microphones, place, since, sizes, sd):
    """Brute force: the arrivals of the true array, located with the stated one."""
    moved, faster, delays, drifts = split(microphones, sizes)
    point = np.array([*place, 0.0])
    ways = np.linalg.norm(point - microphones.positions - moved, axis=1)
    times = since + ways / (microphones.speed_of_sound * (1.0 + faster))
    times = times + delays + drifts * since
    (fix, *_) = multilateration.solve(times, sd, microphones=microphones, region=WIDE, start=place)
    return np.array([*(fix.position - place), fix.emission - since])


@pytest.mark.parametrize("microphones", [THREE, FIVE])
def test_first_order_equals_the_located_places_of_an_array_a_little_off(microphones):
    """Oracle: central differences of the nonlinear location, errors of a hundredth each."""
    count = len(microphones.positions)
    deviation = np.linspace(1.0, 2.0, count) * 1e-6
    found = array_errors.distortion(
        PLACES, SINCE, microphones=microphones, arrival_sd=np.tile(deviation, (len(PLACES), 1))
    )
    sizes = array_errors.errors(count).sd
    for number in range(len(sizes)):
        step = 0.01 * sizes * (np.arange(len(sizes)) == number)
        for index, (place, since) in enumerate(zip(PLACES, SINCE, strict=True)):
            ahead = located(microphones, place, since, step, deviation)
            behind = located(microphones, place, since, -step, deviation)
            slope = (ahead - behind) / 0.02
            # the third order is below 1e-4 of a slope of decimetres; location stops at 1e-8 m
            np.testing.assert_allclose(found.places[index, :, number], slope[:2], atol=2e-5)
            np.testing.assert_allclose(found.times[index, number], slope[2], atol=1e-7)


def test_errors_of_one_deviation_move_places_as_predicted_to_a_tenth():
    """The first order is good enough for what is to be found; the second is the rest."""
    draw = np.random.default_rng(0)
    everyday = Spread(place=3e-3, speed=0.005, delay=1e-5, drift=1e-5)
    sd = array_errors.errors(3, everyday).sd
    found = array_errors.distortion(PLACES, SINCE, microphones=THREE, spread=everyday)
    for _ in range(20):
        f = draw.standard_normal(len(sd))
        moves = [
            located(THREE, place, since, sd * f, np.full(3, 1e-6))[:2]
            for place, since in zip(PLACES, SINCE, strict=True)
        ]
        assert np.linalg.norm(found.places @ f - moves) < 0.1 * np.linalg.norm(moves)


@pytest.mark.parametrize("microphones", [THREE, FIVE])
def test_a_shift_of_all_microphones_shifts_all_places_back(microphones):
    count = len(microphones.positions)
    found = array_errors.distortion(PLACES, SINCE, microphones=microphones)
    for axis in (0, 1):
        f = np.zeros(found.places.shape[-1])
        f[axis : 3 * count : 3] = 2.0
        shift = np.zeros(2)
        shift[axis] = -2.0 * Spread().place
        np.testing.assert_allclose(found.places @ f, np.tile(shift, (4, 1)), atol=1e-12)
        np.testing.assert_allclose(found.times @ f, np.zeros(4), atol=1e-14)


def test_a_turn_of_all_microphones_turns_all_places_back():
    found = array_errors.distortion(PLACES, SINCE, microphones=THREE)
    turn = 1e-3 * np.array([[0.0, -1.0], [1.0, 0.0]])
    f = np.zeros(found.places.shape[-1])
    f[:9] = np.pad(THREE.positions[:, :2] @ turn.T, ((0, 0), (0, 1))).ravel() / Spread().place
    np.testing.assert_allclose(found.places @ f, -PLACES @ turn.T, atol=1e-12)


def test_a_larger_array_in_faster_sound_is_a_place_that_is_nearer():
    """Scaling: both together leave the arrivals of a place that is as much farther away."""
    found = array_errors.distortion(PLACES, SINCE, microphones=THREE)
    stretched = np.zeros(found.places.shape[-1])
    stretched[:9] = 0.01 * THREE.positions.ravel() / Spread().place
    faster = np.zeros(found.places.shape[-1])
    faster[9] = 0.01 / Spread().speed
    np.testing.assert_allclose(found.places @ (stretched + faster), -0.01 * PLACES, atol=1e-12)


def test_larger_arrays_are_distorted_alike():
    large = Microphones(3.0 * THREE.positions, 44100.0)
    here = array_errors.distortion(PLACES, SINCE, microphones=THREE)
    there = array_errors.distortion(3.0 * PLACES, SINCE, microphones=large)
    np.testing.assert_allclose(there.places[..., :9], here.places[..., :9], atol=1e-12)
    np.testing.assert_allclose(there.places[..., 9], 3.0 * here.places[..., 9], atol=1e-12)
    np.testing.assert_allclose(there.places[..., 10:], here.places[..., 10:], atol=1e-12)


def test_impacts_are_distorted_one_by_one():
    sd = np.random.default_rng(0).uniform(1e-6, 3e-6, (4, 5))
    whole = array_errors.distortion(PLACES, SINCE, microphones=FIVE, arrival_sd=sd)
    for index in range(4):
        rows = slice(index, index + 1)
        one = array_errors.distortion(
            PLACES[rows], SINCE[rows], microphones=FIVE, arrival_sd=sd[rows]
        )
        np.testing.assert_allclose(one.places[0], whole.places[index], rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(one.times[0], whole.times[index], rtol=1e-9, atol=1e-15)


def test_a_channel_without_weight_moves_nothing():
    sd = np.tile([1e-6, 1e-6, 1e-6, 1e-6, 1.0], (4, 1))
    found = array_errors.distortion(PLACES, SINCE, microphones=FIVE, arrival_sd=sd)
    assert np.abs(found.places[..., 12:15]).max() < 1e-9
    four = replace(FIVE, positions=FIVE.positions[:4])
    alone = array_errors.distortion(PLACES, SINCE, microphones=four)
    np.testing.assert_allclose(found.places[..., :12], alone.places[..., :12], atol=1e-9)


def test_places_are_right_once_the_errors_are_taken_out():
    """A round trip through gross errors, exact as three microphones fit any arrivals."""
    sizes = array_errors.errors(3).sd * np.random.default_rng(1).standard_normal(14)
    offs = [
        located(THREE, place, since, sizes, np.full(3, 1e-6))
        for place, since in zip(PLACES, SINCE, strict=True)
    ]
    stated, when = PLACES + np.array(offs)[:, :2], SINCE + np.array(offs)[:, 2]
    found, times = array_errors.relocated(stated, when, sizes, microphones=THREE)
    # drifts act on the time of emission as located, which is off by 0.1 ms: 2.5e-8 s, 0.01 mm
    np.testing.assert_allclose(found, PLACES, atol=3e-5)
    np.testing.assert_allclose(times, SINCE, atol=1e-7)


def test_taking_out_small_errors_is_the_first_order_backwards():
    sizes = 0.01 * array_errors.errors(3).sd * np.random.default_rng(2).standard_normal(14)
    found, times = array_errors.relocated(PLACES, SINCE, sizes, microphones=THREE)
    first = array_errors.distortion(PLACES, SINCE, microphones=THREE)
    f = sizes / array_errors.errors(3).sd
    size = np.abs(first.places @ f).max()
    np.testing.assert_allclose(PLACES - found, first.places @ f, atol=0.02 * size)
    np.testing.assert_allclose(SINCE - times, first.times @ f, atol=1e-7)


def test_areas_are_those_of_small_squares_that_are_located():
    """Shoelace's formula over squares of 2 mm, 0.2 of a deviation of every error."""
    f = 0.2 * np.random.default_rng(3).standard_normal(14)
    sizes = f * array_errors.errors(3).sd
    square = 1e-3 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    corners = (PLACES[:, None] + square).reshape(-1, 2)
    true, _ = array_errors.relocated(corners, np.repeat(SINCE, 4), sizes, microphones=THREE)
    x, y = np.moveaxis(true.reshape(-1, 4, 2), -1, 0)
    area = 0.5 * (x * np.roll(y, -1, 1) - y * np.roll(x, -1, 1)).sum(1) / 4e-6
    first = 1.0 - array_errors.distortion(PLACES, SINCE, microphones=THREE).areas @ f
    # of second order: the square of a change of a tenth
    np.testing.assert_allclose(area, first, atol=2.0 * np.abs(first - 1.0).max() ** 2)
    assert np.abs(area - 1.0).max() > 0.01


def test_areas_about_errors_have_the_slope_that_holds_there():
    areas, f = np.array([[0.2, -0.1]]), np.array([0.5, 1.0])
    found = array_errors.about(areas, f)
    slope = -found / (1.0 - found @ f)[:, None]  # of log(1 - t g) at g = f
    np.testing.assert_allclose(slope, -areas)


def test_arrivals_that_come_from_nowhere_have_no_place():
    sizes = np.zeros(14)
    sizes[10] = 5e-3  # s, more than sound needs between the microphones
    found, _ = array_errors.relocated(PLACES, SINCE, sizes, microphones=THREE)
    assert np.isnan(found).all()


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="finite"):
        array_errors.distortion(np.full((4, 2), np.nan), SINCE, microphones=THREE)
    with pytest.raises(ValueError, match="arrival_sd"):
        array_errors.distortion(PLACES, SINCE, microphones=THREE, arrival_sd=np.zeros((4, 3)))
    with pytest.raises(ValueError, match="place must be finite and at least 0, not -1"):
        Spread(place=-1.0)
