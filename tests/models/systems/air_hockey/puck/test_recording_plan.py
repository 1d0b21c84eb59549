"""Strokes that are written strike the puck as said, within all limits."""

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import shot_outcome, simulator
from ricochet.models.systems.air_hockey.puck import recording_plan
from ricochet.models.systems.air_hockey.puck.recording_plan import STROKE, THROW, THROW_AT_MALLET
from ricochet.models.systems.air_hockey.simulator import CALM
from ricochet.models.systems.air_hockey.table import Table

TABLE = Table()


@pytest.fixture(scope="module")
def plays():
    return recording_plan.plan(TABLE, episodes=12, steps=50, draw=np.random.default_rng(1))


def played(play, disturbance=CALM):
    world, draw = simulator.build(), np.random.default_rng(0)
    episode, _ = simulator.reset(
        world, puck=play.puck, disturbance=disturbance, draw=draw, joints=play.joints
    )
    for command in play.commands:
        simulator.step(episode, command)
    return episode


@pytest.mark.proof
def test_half_are_strokes_and_a_third_of_the_throws_fly_at_the_mallet(plays):
    kinds = [play.kind for play in plays]
    assert [kinds.count(kind) for kind in (STROKE, THROW, THROW_AT_MALLET)] == [6, 4, 2]
    again = recording_plan.plan(TABLE, episodes=12, steps=50, draw=np.random.default_rng(1))
    for one, other in zip(plays, again, strict=True):
        np.testing.assert_array_equal(one.commands, other.commands)
        assert np.isnan(one.contact).all() == (one.kind != STROKE)


def test_strokes_strike_where_when_and_as_fast_as_said_within_all_limits(plays):
    """The arm follows its commands to a millimetre: so much time at its speed, and a period.

    The puck, 2 % of the mallet's mass, slows it by little; its speed is read before the touch.
    """
    for play in (each for each in plays if each.kind == STROKE):
        assert (play.puck[2:] == 0.0).all()
        episode = played(play)
        found = shot_outcome.outcome(episode)
        assert found.strikes == 1 and found.violations == ()
        place, velocity, time = play.contact[:2], play.contact[2:4], play.contact[4]
        pace = np.linalg.norm(velocity)
        assert found.struck == pytest.approx(time, abs=0.02 + 0.003 / pace)
        row = round(found.struck / simulator.STEP) - 1
        assert np.linalg.norm(episode.trace[row][6:8] - place) < 0.01
        assert found.mallet_speed == pytest.approx(pace, rel=0.1)
        assert found.mallet_direction == pytest.approx(np.arctan2(*velocity[::-1]), abs=0.1)


def test_throws_at_the_mallet_meet_it_first(plays):
    for play in (each for each in plays if each.kind == THROW_AT_MALLET):
        episode = played(play)
        first = next(touched for touched in episode.touches if touched)
        assert first == ("mallet",)
        np.testing.assert_array_equal(play.joints, iiwa.HOME)
        assert shot_outcome.outcome(episode).violations == ()


def test_periods_in_which_a_slow_stroke_does_not_meet_its_puck_are_refused():
    """At 0.4 m/s, from rest at a constant acceleration over 0.2 m: 1 s."""
    assert recording_plan.LEAST_STEPS == 50
    with pytest.raises(ValueError, match="steps: found 49, expected at least 50"):
        recording_plan.plan(TABLE, episodes=1, steps=49, draw=np.random.default_rng(1))
