"""Shots from the grid: the same for everyone, played to their ends, and counted."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact
from ricochet.models.systems.air_hockey.challenge_tasks import LONGEST, TASKS
from ricochet.models.systems.air_hockey.simulator import CALM, Disturbance
from ricochet.models.systems.air_hockey.strike_plan import StrikePlan
from ricochet.tasks.systems.air_hockey.validation import trials
from ricochet.tasks.systems.air_hockey.validation.results import Shot
from ricochet.tasks.systems.air_hockey.validation.trials import GRID
from tests.models.systems.air_hockey import simple_agents
from tests.models.systems.air_hockey.simple_agents import Idle

CONTACT = Contact(iiwa.HOME, np.zeros(7), 0.6, 0.3, iiwa.HOME, 0.2)


class Straight(simple_agents.Straight):
    """Says that it struck."""

    faults = ("struck blindly",)
    strike_plans = (StrikePlan(0.06, 0.0, CONTACT, np.zeros(6)),)


def test_starts_fill_the_grid_once_and_follow_the_seed() -> None:
    begun = trials.starts(100, seed=3)
    places = np.array([each.puck[:2] for each in begun])
    assert len({each.puck for each in begun}) == 100
    assert (places >= np.array(GRID)[:, 0]).all() and (places <= np.array(GRID)[:, 1]).all()
    assert all(each.puck[2:] == (0.0, 0.0) for each in begun)
    assert trials.starts(100, seed=3) == begun
    other = trials.starts(100, seed=4)
    assert {each.puck for each in other} == {each.puck for each in begun}
    assert other != begun


def test_a_goal_is_counted_and_faults_and_plans_of_the_agent_are_kept() -> None:
    start = trials.Start((-0.65, 0.0, 0.0, 0.0), (1, 2))
    played, episode = trials.play_one(Straight(), start, CALM)
    assert played.outcome.ended == "line"
    assert played.shot.scored
    assert played.shot.speed == played.outcome.speed_at_line > 0.0
    assert (played.faults, played.strike_plans) == (Straight.faults, Straight.strike_plans)
    assert len(played.steps) * 20 == len(episode.trace)


@pytest.mark.slow
def test_a_puck_that_is_never_struck_ends_with_the_time() -> None:
    start = trials.Start((-0.5, 0.0, 0.0, 0.0), (1, 2))
    played, _ = trials.play_one(Idle(), start, CALM)
    assert played.outcome.ended == "time"
    assert len(played.steps) == round(LONGEST / 0.02)
    assert played.shot == Shot(scored=False, speed=0.0, banks=0, violations=0)


@pytest.mark.proof
def test_who_plays_and_where_does_not_change_the_disturbance() -> None:
    """The puck drifts alike before it is struck, in this process and in others."""
    begun = trials.starts(4, seed=7)
    here = trials.play_all(Idle, begun, Disturbance(), workers=1)
    there = trials.play_all(Idle, begun, Disturbance(), workers=2)
    assert [each.outcome.ended for each in here] == [each.outcome.ended for each in there]
    assert [len(each.steps) for each in here] == [len(each.steps) for each in there]


@pytest.mark.parametrize("task", TASKS)
def test_starts_of_a_task_follow_the_seed_whoever_is_in_goal(task: str) -> None:
    begun = trials.task_starts(task, 20, seed=3, opponent="sweep")
    assert {(each.opponent, each.task) for each in begun} == {("sweep", task)}
    assert trials.task_starts(task, 20, seed=3, opponent="sweep") == begun
    alone = trials.task_starts(task, 10, seed=3)
    assert [each.puck for each in alone] == [each.puck for each in begun[:10]]
    assert [each.seed for each in alone] == [each.seed for each in begun[:10]]
    assert not {each.puck for each in trials.task_starts(task, 20, seed=4)} & {
        each.puck for each in begun
    }


def test_success_is_that_of_the_task() -> None:
    """A puck that rests in front of the robot was stopped, and is no goal."""
    start = trials.Start((-0.5, 0.3, -0.11, 0.0), (1, 2), task="defend")
    played, episode = trials.play_one(Idle(), start, CALM)
    assert played.succeeded and not played.outcome.scored
    assert len(episode.trace) == 20 * len(played.steps) < 1000
    hit, _ = trials.play_one(Straight(), trials.Start((-0.65, 0.0, 0.0, 0.0), (1, 2)), CALM)
    assert hit.succeeded and hit.outcome.scored


def test_an_opponent_in_goal_blocks_what_would_score() -> None:
    """It follows the puck: a straight shot at the middle is met."""
    puck = (-0.65, 0.0, 0.0, 0.0)
    free, _ = trials.play_one(Straight(), trials.Start(puck, (1, 2)), CALM)
    met, episode = trials.play_one(Straight(), trials.Start(puck, (1, 2), "follow"), CALM)
    assert free.outcome.scored and not free.outcome.blocked
    assert met.outcome.blocked and not met.outcome.scored
    assert np.array(episode.trace)[-1, 9] == pytest.approx(0.80, abs=1e-3)


def test_the_first_shot_is_the_first_strike_that_is_to_score() -> None:
    shot, push = Straight.strike_plans[0], replace(Straight.strike_plans[0], is_push=True)
    start = trials.Start((-0.65, 0.0, 0.0, 0.0), (1, 2))
    played, _ = trials.play_one(Straight(), start, CALM)
    assert played.first_shot is shot
    assert replace(played, strike_plans=(push, shot)).first_shot is shot
    assert replace(played, strike_plans=(push,)).first_shot is None
    stop = replace(shot, contact=replace(CONTACT, speed=-0.2))
    assert replace(played, strike_plans=(stop, shot)).first_shot is shot
