from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.sound import array_errors, impact_synthesis, multilateration
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.models.sound.impact_synthesis import Background
from ricochet.models.systems.bouncing_ball.chains import observations
from ricochet.models.systems.bouncing_ball.listening import shared_errors, takes

FOUR = Microphones(
    np.array(
        [[-0.30, -0.25, 0.0762], [0.25, -0.30, 0.0762], [0.0, 0.32, 0.0762], [0.4, 0.35, 0.15]]
    ),
    44100.0,
)
THREE = Microphones(FOUR.positions[:3], 44100.0)
TIMES = 0.1 + np.cumsum([0.0, 0.38, 0.32, 0.27])
PLACES = np.array([[0.0, 0.0], [0.05, -0.03], [0.11, -0.07], [0.16, -0.1]])
SURVEY = 1.5e-3


def detected(stated, true=None, *, seed=0, place_sd=SURVEY):
    """The take of a ball, recorded by the true array and located with the stated one."""
    samples = impact_synthesis.render(
        TIMES,
        np.pad(PLACES, ((0, 0), (0, 1))),
        0.1 * 0.84 ** np.arange(4),
        microphones=true or stated,
        duration=1.3,
        draw=np.random.default_rng(seed),
        noise=Background(snr=28.0),
    )
    known = Tolerances(place_sd=place_sd, contact_sd=20e-6)
    return takes.detect(samples, stated, tolerances=known)


@pytest.mark.parametrize("microphones", [THREE, FOUR])
def test_own_errors_of_a_perfect_survey_are_those_stated(microphones):
    take = detected(microphones, place_sd=0.0)
    own = shared_errors.own_errors(take, microphones, place_sd=0.0)
    np.testing.assert_allclose(own.covariances, take.covariances, rtol=1e-6)
    np.testing.assert_allclose(own.time_sd, take.time_sd, rtol=1e-9)


@pytest.mark.parametrize("microphones", [THREE, FOUR])
def test_own_errors_are_the_answer_to_errors_of_the_arrivals_alone(microphones):
    """Oracle: the scatter of locations of arrivals with such errors, weighed as the localiser."""
    take = detected(microphones)
    own = shared_errors.own_errors(take, microphones, place_sd=SURVEY)
    draw, count = np.random.default_rng(1), 400
    travel, _ = multilateration.gradients(take.positions[0], microphones=microphones)
    region = multilateration.surroundings(microphones)
    found = []
    for _ in range(count):
        times = travel + take.arrival_sd[0] * draw.standard_normal(len(travel))
        found += multilateration.solve(
            times, take.arrival_sd[0], microphones=microphones, region=region,
            place_sd=SURVEY, start=take.positions[0],
        )  # fmt: skip
    scatter = np.cov(np.array([fix.position for fix in found]).T)
    # a standard deviation of 400 draws is good to 1/sqrt(800) = 3.5 %; three of them
    ratio = np.sqrt(np.diag(scatter) / np.diag(own.covariances[0]))
    np.testing.assert_allclose(ratio, 1.0, atol=0.11)


def test_a_survey_that_dominates_is_taken_out():
    own = shared_errors.own_errors(detected(THREE), THREE, place_sd=SURVEY)
    without = shared_errors.own_errors(detected(THREE, place_sd=0.0), THREE, place_sd=0.0)
    np.testing.assert_allclose(own.place_sd, without.place_sd, rtol=0.05)
    np.testing.assert_allclose(own.time_sd, without.time_sd, rtol=0.05)


@pytest.mark.parametrize("microphones", [THREE, FOUR])
@pytest.mark.parametrize("channel", [0, 2])
def test_the_distortion_is_what_a_microphone_that_was_moved_does_to_a_take(microphones, channel):
    """A round trip through sound: 4 mm off along x, first order good to a tenth."""
    moved = np.zeros_like(microphones.positions)
    moved[channel, 0] = 4e-3
    true = replace(microphones, positions=microphones.positions + moved)
    take = detected(microphones, true)
    found = shared_errors.distortion(take, microphones, place_sd=SURVEY)
    names = array_errors.errors(len(microphones.positions)).names
    f = np.zeros(found.shape[-1])
    f[shared_errors.LEADING + names.index(f"microphone {channel} x")] = (
        4e-3 / array_errors.Spread().place
    )
    change = take.positions - detected(microphones).positions
    assert np.linalg.norm(found @ f - change) < 0.1 * np.linalg.norm(change)


def test_about_large_errors_the_first_order_holds_again():
    """Oracle: the take located with the true array; 30 mm off, where the first order fails."""
    moved = np.zeros((3, 3))
    moved[1, 0] = 30e-3
    true = replace(THREE, positions=THREE.positions + moved)
    take, right = detected(THREE, true), detected(true, true)
    f = np.zeros(17)
    number = shared_errors.LEADING + array_errors.errors(3).names.index("microphone 1 x")
    f[number] = 30e-3 / array_errors.Spread().place
    found = shared_errors.linearised(take, THREE, about=f)
    np.testing.assert_allclose(found.places - found.distortion @ f, right.positions, atol=1e-5)
    np.testing.assert_allclose(found.times, right.times, atol=1e-7)
    first = shared_errors.distortion(take, THREE)
    assert np.abs(take.positions - first @ f - right.positions).max() > 5e-4
    near = shared_errors.linearised(take, THREE, about=0.9 * f)
    np.testing.assert_allclose(near.places - near.distortion @ f, right.positions, atol=1e-4)


def test_about_nothing_a_take_stays():
    take = detected(THREE)
    found = shared_errors.linearised(take, THREE, about=np.zeros(17))
    np.testing.assert_allclose(found.places, take.positions, atol=1e-7)
    np.testing.assert_allclose(found.times, take.times, atol=1e-9)
    np.testing.assert_allclose(found.distortion, shared_errors.distortion(take, THREE), atol=1e-6)


def test_chains_take_the_distortion_as_it_is():
    take = detected(THREE)
    found = shared_errors.distortion(take, THREE)
    own = shared_errors.own_errors(take, THREE, place_sd=SURVEY)
    chain = observations.Take(
        take.times, take.positions, own.time_sd, own.place_sd,
        height=0.26, height_sd=5e-3, session=0, distortion=found, areas=found.sum(1),
    )  # fmt: skip
    (group,) = observations.grouped([chain])
    assert group.distortion.shape == (1, len(take.times), 2, 3 + 14)
    assert not found[..., : shared_errors.LEADING].any()


def test_a_bounce_without_a_place_is_moved_by_nothing():
    take = detected(THREE)
    lost = replace(
        take,
        positions=np.where([[False], [True], [False], [False]], np.nan, take.positions),
        outliers=np.array([False, True, False, False]),
    )
    found = shared_errors.distortion(lost, THREE)
    assert not found[1].any() and found[0].any()
    own = shared_errors.own_errors(lost, THREE, place_sd=SURVEY)
    assert np.isinf(own.place_sd[1]) and own.time_sd[1] == take.time_sd[1]


def test_takes_of_times_alone_are_refused():
    alone = replace(detected(THREE), positions=None, covariances=None)
    with pytest.raises(ValueError, match="positions must be known"):
        shared_errors.distortion(alone, THREE)
    with pytest.raises(ValueError, match="positions must be known"):
        shared_errors.own_errors(alone, THREE, place_sd=SURVEY)
