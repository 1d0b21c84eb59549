"""A match: rallies by the rules, counted and drawn."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy import ndarray
from PIL import Image

from ricochet.models.arms import iiwa
from ricochet.models.core.progress import no_progress
from ricochet.models.systems.air_hockey import two_robots
from ricochet.models.systems.air_hockey.agent import ShootingAgent
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact
from ricochet.models.systems.air_hockey.strike_plan import StrikePlan
from ricochet.tasks.figures import scenes
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.disturbance import disturbance_of
from ricochet.tasks.systems.air_hockey.figures import matches
from ricochet.tasks.systems.air_hockey.settings import Hockey
from ricochet.tasks.systems.air_hockey.studies import match
from ricochet.tasks.systems.air_hockey.studies.match import Match, Point
from ricochet.tasks.systems.interface import StudyRequest
from tests.models.systems.air_hockey import simple_agents
from tests.models.systems.air_hockey.simple_agents import Idle

CONTACT = Contact(iiwa.HOME, np.zeros(7), 0.6, 0.3, iiwa.HOME, 0.2)
SHOT = StrikePlan(0.06, 0.0, CONTACT, np.zeros(6))
SERVES_LEFT = 1
CALM = replace(catalogue.load_settings()[Hockey], airflow=0.0, position_noise=0.0)


class Straight(simple_agents.Straight):
    """Says that it shot, and pushed."""

    strike_plans = (SHOT, replace(SHOT, is_push=True))


class Aside(Idle):
    """Turns out of the goal and stays there."""

    def draw_action(self, observation: ndarray) -> ndarray:
        self.steps += 1
        turn = np.array((0.02, 0, 0, 0, 0, 0, 0))
        far = min(self.steps, 20)
        return np.stack((iiwa.HOME + far * turn, (self.steps < 20) * 50.0 * turn))


def played(
    first: Idle, second: Idle, monkeypatch: pytest.MonkeyPatch, seconds: float = 6.0
) -> Match:
    """Play with pucks that are always laid before the mallet at home."""

    def serve(side: int, *, draw: np.random.Generator) -> ndarray:
        return np.array(((1 - 2 * side) * -0.65, 0.0))

    monkeypatch.setattr(two_robots, "serve", serve)
    agents = cast("list[ShootingAgent]", [first, second])
    draw = np.random.default_rng(SERVES_LEFT)
    return match.play(agents, seconds=seconds, hockey=CALM, draw=draw, progress=no_progress)


def test_goals_are_counted_and_the_side_that_conceded_serves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = played(Straight(), Aside(), monkeypatch)
    first, second = found.points
    assert (first.served, first.ended, first.winner) == (0, "goal", 0)
    assert (second.served, second.ended, second.winner) == (1, "", None)
    counted = match.count(found)
    assert counted["goals"] == [1, 0] and counted["fouls"] == [0, 0]
    assert counted["shots"] == counted["pushes"] == 2
    assert counted["stops"] == 0 and counted["constraint_violations"] == 0
    assert found.seconds == pytest.approx(6.0) and counted["crossings"] == 1


def test_a_match_is_played_for_as_long_as_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A puck that nobody touches goes nowhere; the steps of both agents are timed."""
    found = played(Idle(), Idle(), monkeypatch, seconds=0.5)
    assert [point.ended for point in found.points] == [""]
    assert found.seconds == pytest.approx(0.5) and len(found.steps) == 50
    clock, x = found.way[0].T
    np.testing.assert_allclose(clock, 0.1 * np.arange(6))
    np.testing.assert_allclose(x, x[0])


@pytest.mark.proof
def test_the_rally_with_the_goal_is_filmed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = played(Straight(), Aside(), monkeypatch)
    assert found.filmed is not None and found.filmed.ended == "goal"
    if scenes.context(matches.SIZE) is None:
        pytest.skip("no EGL here")
    settings = catalogue.load_settings()
    match.draw_pictures(found, StudyRequest(settings, tmp_path, no_progress))
    with Image.open(tmp_path / "match.gif") as film:
        assert film.size == matches.SIZE and getattr(film, "n_frames", 1) > 5
    with Image.open(tmp_path / "match.png") as picture:
        assert picture.width > 400


def test_a_minute_is_a_row_of_the_picture_and_events_are_named() -> None:
    clock = 0.1 * np.arange(1300)
    way = np.column_stack((clock, np.sin(clock / 3.0)))
    figure = matches.timeline(
        way, [(12.0, "goal", 0), (70.0, "foul", 1), (129.0, "out", -1)], 0.974
    )
    words: list[list[Any]] = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert words == [["goal for left"], ["foul for right"], ["out"]]


def test_a_rally_of_nothing_is_not_filmed(tmp_path: Path) -> None:
    hall, draw = two_robots.build(), np.random.default_rng(0)
    rally = two_robots.begin(
        hall, puck=np.array((-0.5, 0.0)), disturbance=disturbance_of(CALM), draw=draw
    )
    assert not matches.film(rally, tmp_path / "none.gif", last=5.0)
    assert not (tmp_path / "none.gif").exists()


def test_numbers_of_a_match_add_up() -> None:
    nothing = (0, 0)
    points = [
        Point(0, 3.0, "goal", 0, 1, (1, 0), nothing, nothing, (), ()),
        Point(1, 4.0, "foul", 1, 2, (0, 1), (1, 0), (2, 1), ("joint speed",), ("shot: none",)),
        Point(1, 5.0, "middle", None, 3, nothing, nothing, nothing, (), ()),
    ]
    counted = match.count(Match(points, [0.001, 0.002]))
    assert (counted["goals"], counted["fouls"], counted["stuck"]) == ([1, 0], [0, 1], 1)
    assert (counted["shots"], counted["pushes"], counted["stops"]) == (2, 1, 3)
    assert (counted["crossings"], counted["longest_rally"]) == (6, 5.0)
    assert counted["constraint_violations"] == 1 and counted["seconds"] == 12.0
