"""Sessions that are planned look like those of the model, and their deviations come true."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.hardware.microphones import interface
from ricochet.models.sound import multilateration
from ricochet.models.systems.bouncing_ball.calibration import whole_chains
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import Ball
from ricochet.models.systems.bouncing_ball.planning import expected_posterior, planned_sessions
from ricochet.models.systems.bouncing_ball.planning.planned_sessions import Rig, Session
from tests.oracles.planned_balls import DRAG, MEMBERS, paper_ball

RIG = Rig(interface.default_rig("simulated").array())
EXACT = replace(RIG, contact_sd=1e-12, survey_sd=0.0, release_sd=0.0, arrival_sd=1e-12)


def simulated(rig: Rig, seed: int, *, takes: int = 200, **ball: float):
    session = Session(takes, 0.26, bounces=4)
    found = planned_sessions.simulate(
        paper_ball(**ball), session, rig, draw=np.random.default_rng(seed)
    )
    return (
        np.array([take.times for take in found]),
        np.array([take.places for take in found]),
        found,
    )


def test_flights_shrink_by_the_restitution():
    times, _, _ = simulated(EXACT, 1, takes=50, log10_concentration=5.0, noise=1e-6)
    ratio = np.diff(times)[:, 1:] / np.diff(times)[:, :-1]
    # redirections by 10^-2.5 rad of exits that are at most some 10 degrees from the normal: 1e-3
    assert np.median(ratio) == pytest.approx(0.85, abs=2e-3)


def test_errors_of_times_and_places_are_those_that_are_stated():
    """The same seed with and without errors of its own: the difference is the error."""
    plain, still = simulated(RIG, 2, noise=1e-9), simulated(RIG, 2, noise=1.0)
    late = (still[0] - plain[0]) / RIG.contact_sd
    sd = np.array([take.place_sd for take in still[2]])
    off = (still[1] - plain[1]) / sd[..., None]
    # 800 and 1600 normal numbers: the sd is known to 1 / sqrt(2 n), 0.025 and 0.018; four of them.
    # Places move by some percent more or less, as errors of the array stretch them.
    assert late.std() == pytest.approx(1.0, abs=0.1)
    assert off.std() == pytest.approx(1.0, abs=0.1)


def test_places_are_known_as_well_as_arrivals_allow():
    _, places, takes = simulated(replace(RIG, survey_sd=0.0), 3, takes=3)
    arrivals = np.full((3, 4, 3), RIG.arrival_sd)
    covariance = multilateration.bound(places, arrivals, microphones=RIG.microphones)
    expected = np.sqrt(0.5 * (covariance[..., 0, 0] + covariance[..., 1, 1]))
    found = np.array([take.place_sd for take in takes])
    # the bound is taken at the true places, some millimetres from those seen
    np.testing.assert_allclose(found, np.hypot(expected, 3e-4), rtol=0.15)


def test_the_same_seed_gives_the_same_session():
    for first, second in zip(simulated(RIG, 4)[:2], simulated(RIG, 4)[:2], strict=True):
        np.testing.assert_array_equal(first, second)


def test_no_member_is_no_answer():
    with pytest.raises(ValueError, match="members"):
        expected_posterior.deviations(
            paper_ball(),
            Session(5, 0.26),
            RIG,
            drag=DRAG,
            members=(),
            draw=np.random.default_rng(0),
        )


def test_one_redirection_tells_the_logarithm_of_the_concentration_to_one():
    """c k is exponential: information 1 on ln k for each of the contacts between two flights.

    8 takes of 5 bounces have 4 exits that are followed by a place; the errors of places and times
    cost some of it, and what is inferred beside some more: between 1 and 1.6 times 0.434/sqrt(32).
    """
    found = expected_posterior.deviations(
        paper_ball(), Session(8, 0.26, bounces=5), RIG, drag=DRAG, members=MEMBERS[:1],
        draw=np.random.default_rng(5),
    )  # fmt: skip
    least = np.log10(np.e) / np.sqrt(8 * 4)
    assert least * 0.9 < found[1] < 1.6 * least


@pytest.mark.proof
def test_a_calibration_reaches_what_is_expected_of_its_session():
    """Two sessions of 8 takes, each searched here and inferred by the calibration itself.

    Its 300 effective draws tell a deviation to 1 / sqrt(600), 4 %, and members that are left out
    weigh some percent: a quarter for log10 concentration. Restitution has an arm along the drag,
    which a normal law at the maximum misses: half as much again.
    """
    ball, session = paper_ball(), Session(8, 0.26)
    logs = []
    for seed in (0, 1):
        draw = np.random.default_rng(seed)
        takes = planned_sessions.simulate(ball, session, RIG, draw=draw)
        expected = expected_posterior.of_takes(takes, ball, drag=DRAG, members=MEMBERS)
        names = [str(number) for number in range(session.takes)]
        answer = whole_chains.infer(takes, names, first=ball.theta[:2], ball=Ball(), draw=draw)
        logs.append(np.log(expected / answer.family.pair.std(0)))
    middle = np.abs(np.mean(logs, axis=0))
    assert middle[1] < np.log(1.25)
    assert middle[0] < np.log(1.5)
