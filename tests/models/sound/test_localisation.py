import numpy as np
import pytest

from ricochet.models.sound import impact_synthesis, localisation, multilateration
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.models.sound.impact_synthesis import Background
from ricochet.models.sound.room_acoustics import Room

THREE = Microphones(
    np.array([[-0.30, -0.25, 0.0762], [0.30, -0.25, 0.0762], [0.0, 0.32, 0.0762]]), 44100.0
)
FOUR = Microphones(np.vstack([THREE.positions, [[0.35, 0.3, 0.25]]]), 44100.0)
CORNER = Room(origin=(0.30 + 0.106, 0.25 + 0.106, 0.75))  # microphone 0 stands 15 cm from a corner


def render(place, *, draw, microphones=THREE, room=None, snr=20.0):
    place = np.array([[*place, 0.0]])
    samples = impact_synthesis.render(
        np.array([0.03]),
        place,
        np.full(1, 0.1),
        microphones=microphones,
        duration=0.07,
        draw=draw,
        room=room,
        noise=Background(snr=snr),
    )
    nearest = np.linalg.norm(place - microphones.positions, axis=1).min()
    return samples, 0.03 + nearest / microphones.speed_of_sound


def locate_many(count, *, microphones=THREE, room=None, snr=20.0):
    """Located impacts all over the table, each with its error in place and time."""
    draw = np.random.default_rng(7)
    located, errors, late = [], [], []
    for _ in range(count):
        place = draw.uniform(-0.275, 0.275, 2)
        samples, arrival = render(place, draw=draw, microphones=microphones, room=room, snr=snr)
        found = localisation.locate(
            samples, arrival + draw.normal(0, 5e-5), microphones=microphones
        )
        located.append(found)
        errors.append(found.position - place)
        late.append(found.emission_time - 0.03)
    return located, np.array(errors), np.array(late)


def squared(located, errors):
    return np.array(
        [
            error @ np.linalg.solve(one.covariance, error)
            for one, error in zip(located, errors, strict=True)
        ]
    )


def test_a_clear_impact_is_found_to_a_hundredth_of_a_millimetre():
    samples, arrival = render((0.12, -0.08), draw=np.random.default_rng(0), snr=60.0)
    found = localisation.locate(samples, arrival, microphones=THREE)
    assert np.linalg.norm(found.position - (0.12, -0.08)) < 1e-5
    assert not found.outlier
    assert found.residual < 1e-6  # three arrivals, three unknowns


@pytest.mark.slow
def test_errors_in_free_field_are_small_and_as_stated():
    located, errors, late = locate_many(60)
    size = np.linalg.norm(errors, axis=1)
    assert not any(one.outlier for one in located)
    # the bound's mean error is 0.13 mm, one error's sd 0.12 mm: three of 0.12 / sqrt(60) above it
    assert size.mean() < 0.18e-3
    # chi-square with 2 degrees: mean 2, sd of the mean of 60 sqrt(4/60) = 0.26; three of them
    assert squared(located, errors).mean() == pytest.approx(2.0, abs=0.8)
    stated = np.sqrt(np.mean([one.time_sd**2 for one in located]))
    # the root mean square of 60 is good to 1/sqrt(120) = 9 %; three of them
    assert late.std() / stated == pytest.approx(1.0, abs=0.3)
    assert abs(late.mean()) < 20e-6  # the click's own shift, the same for all


@pytest.mark.proof
@pytest.mark.parametrize(("room", "limit"), [(Room(), 0.6e-3), (CORNER, 2e-3)])
def test_errors_in_a_room_are_small_and_as_stated(room, limit):
    located, errors, _ = locate_many(100, room=room)
    kept = np.array([not one.outlier for one in located])
    size = np.linalg.norm(errors, axis=1)[kept]
    assert kept.mean() > 0.95
    assert size.mean() < limit
    assert np.mean(size > 0.05) <= 0.02
    inside = squared(located, errors)[kept] < 4.605
    # 90 % of 100: sd 3 %; three of them
    assert inside.mean() == pytest.approx(0.9, abs=0.09)


def test_four_microphones_at_different_heights_leave_a_residual_of_one_degree():
    located, errors, _ = locate_many(40, microphones=FOUR)
    assert np.linalg.norm(errors, axis=1).mean() < 0.15e-3
    # chi-square with 1 degree: mean 1, sd of the mean of 40 sqrt(2/40) = 0.22; three of them
    assert np.mean([one.residual for one in located]) == pytest.approx(1.0, abs=0.67)


def test_gain_polarity_and_order_of_channels_do_not_matter():
    samples, arrival = render((0.05, 0.11), draw=np.random.default_rng(1))
    order = [1, 2, 0]
    swapped = Microphones(THREE.positions[order], 44100.0)
    first = localisation.locate(samples, arrival, microphones=THREE)
    second = localisation.locate(-0.01 * samples[order], arrival, microphones=swapped)
    np.testing.assert_allclose(second.position, first.position, atol=1e-7)
    np.testing.assert_allclose(second.covariance, first.covariance, rtol=1e-3)


def test_a_later_recording_moves_the_time_alone():
    samples, arrival = render((0.05, 0.11), draw=np.random.default_rng(1))
    later = np.concatenate([np.zeros((3, 441)), samples], axis=1)
    first = localisation.locate(samples, arrival, microphones=THREE)
    second = localisation.locate(later, arrival + 0.01, microphones=THREE)
    np.testing.assert_allclose(second.position, first.position, atol=1e-9)
    assert second.emission_time - first.emission_time == pytest.approx(0.01, abs=1e-9)


def test_noise_alone_is_an_outlier():
    noise = np.random.default_rng(2).standard_normal((3, 4410))
    assert localisation.locate(noise, 0.05, microphones=THREE).outlier


def test_an_impact_outside_the_region_is_an_outlier():
    samples, arrival = render((1.0, 0.9), draw=np.random.default_rng(3), snr=30.0)
    assert localisation.locate(samples, arrival, microphones=THREE).outlier


def test_a_channel_that_records_something_else_never_misleads():
    draw = np.random.default_rng(4)
    samples, arrival = render((0.05, 0.11), draw=draw, snr=30.0)
    other, _ = render((-0.2, -0.2), draw=draw, snr=30.0)
    samples[1] = np.roll(other[1], 37)
    found = localisation.locate(samples, arrival, microphones=THREE)
    wrong = np.linalg.norm(found.position - (0.05, 0.11)) > 0.05
    assert found.outlier or not wrong


def test_doubt_about_the_microphones_places_is_stated():
    samples, arrival = render((0.05, 0.11), draw=np.random.default_rng(5))
    sure = localisation.locate(samples, arrival, microphones=THREE)
    tape = localisation.locate(
        samples, arrival, microphones=THREE, tolerances=Tolerances(place_sd=1e-3)
    )
    np.testing.assert_allclose(tape.position, sure.position, atol=1e-6)
    assert np.sqrt(np.trace(tape.covariance)) > 1e-3 > np.sqrt(np.trace(sure.covariance))


def test_known_gains_choose_between_the_two_solutions():
    """At (0.37, -0.245) the delays also fit (0.82, -0.49); a gain of its own tips the balance."""
    place, wide = (0.3716, -0.2452), multilateration.surroundings(THREE, margin=0.6)
    samples, arrival = render(place, draw=np.random.default_rng(6), snr=28.0)
    gains = np.array([0.5, -0.5, 0.0])
    samples *= np.exp(gains)[:, None]
    unknown, known = (
        localisation.locate(samples, arrival, microphones=THREE, region=wide, gains=each)
        for each in (None, gains)
    )
    assert unknown.outlier
    assert not known.outlier
    assert np.linalg.norm(known.position - place) < 1e-3
