"""A mass that the motors' law does not know: learnt at rest and in motion, and undone."""

from dataclasses import replace

import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.arms import iiwa, iiwa_dynamics
from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.arm import mallet_offset, payload_estimator
from ricochet.models.systems.air_hockey.arm.payload_estimator import LARGEST_MASS, Payload
from ricochet.models.systems.air_hockey.interface import JOINTS, PERIOD
from ricochet.models.systems.air_hockey.simulator import CALM
from tests.models.systems.air_hockey import simple_episodes


def drive(commands: list[ndarray], *, known: bool, correct: bool) -> tuple[Payload, ndarray]:
    """Follow commands on the simulated table; what was learnt, and the tip's errors, m."""
    episode, _ = simulator.reset(
        simulator.build(),
        puck=np.array((0.5, 0.4, 0.0, 0.0)),
        disturbance=replace(CALM, mallet_known=known),
        draw=np.random.default_rng(0),
    )
    about, errors = Payload(), []
    for planned in commands:
        about = payload_estimator.follow(about, *planned, period=PERIOD)
        command = planned + about.correction * correct
        joints = simulator.step(episode, command)[JOINTS]
        about = payload_estimator.learn(about, joints - command[0])
        errors.append(iiwa.tip(joints) - iiwa.tip(planned[0]))
    return about, np.array(errors)


def stroke() -> list[ndarray]:
    """Half a second of rest, then a stroke to and fro."""
    rest = [np.stack((iiwa.HOME, np.zeros(7)))] * 25
    return rest + list(simple_episodes.straight(np.array((1.0, 0.6)), run_up=0.3, after=0.0))


@pytest.mark.parametrize("correct", [False, True])
def test_the_mallet_is_weighed(correct: bool) -> None:
    """To 12 %: a twentieth is still the prior's, and joints' friction holds some of it."""
    about, _ = drive(stroke(), known=False, correct=correct)
    assert about.mass == pytest.approx(mallet_offset.MASS, rel=0.12)


def test_a_law_that_knows_the_mallet_is_left_alone() -> None:
    about, _ = drive(stroke(), known=True, correct=True)
    assert about.mass < 0.02


def test_the_corrected_arm_is_where_it_was_planned_to_be() -> None:
    """In a stroke, where sag and lag are several millimetres."""
    _, plain = drive(stroke(), known=False, correct=False)
    _, corrected = drive(stroke(), known=False, correct=True)
    before, after = (np.abs(errors[25:]).max(0) for errors in (plain, corrected))
    assert before.max() > 3e-3
    assert after.max() < 0.4 * before.max()


def test_at_rest_the_response_is_the_sag() -> None:
    """Oracle: K e = -J' g, once everything has settled."""
    about = Payload()
    for _ in range(200):
        about = payload_estimator.follow(about, iiwa.HOME, np.zeros(7), period=PERIOD)
    weight = iiwa.pose(iiwa.HOME).jacobian.T @ (0.0, 0.0, GRAVITY)
    np.testing.assert_allclose(about.response, -weight / iiwa_dynamics.STIFFNESS, atol=1e-6)


@pytest.mark.parametrize("mass", [0.1, 0.4])
def test_a_mass_is_recovered_and_scales_with_the_errors(mass: float) -> None:
    about = Payload()
    for _ in range(100):
        about = payload_estimator.follow(about, iiwa.HOME, np.zeros(7), period=PERIOD)
        about = payload_estimator.learn(about, mass * about.response)
    assert about.mass == pytest.approx(mass, rel=0.02)


@pytest.mark.parametrize("error", [np.full(7, np.nan), np.full(7, 0.1)])
def test_errors_that_no_mass_causes_are_not_used(error: ndarray) -> None:
    about = payload_estimator.follow(Payload(), iiwa.HOME, np.zeros(7), period=PERIOD)
    assert payload_estimator.learn(about, error) is about


def test_the_estimated_mass_is_bounded() -> None:
    about = replace(Payload(), match=1e6)
    assert about.mass == LARGEST_MASS
    assert replace(about, match=-1e6).mass == 0.0
