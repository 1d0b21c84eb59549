"""Two robots at one table: against the table of one, mirrored, and how rallies end."""

import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import simulator, two_robots
from ricochet.models.systems.air_hockey.interface import JOINTS, OPPONENT, PUCK
from ricochet.models.systems.air_hockey.simulator import CALM, Disturbance
from ricochet.models.systems.air_hockey.table import Table
from ricochet.models.systems.air_hockey.two_robots import Rally
from tests.models.systems.air_hockey import simple_episodes

REST = np.stack((iiwa.HOME, np.zeros(7)))
STROKE = simple_episodes.straight(np.array((0.6, 0.0)), run_up=0.3, after=0.2)


@pytest.fixture(scope="module")
def hall() -> two_robots.Hall:
    return two_robots.build()


def begun(
    hall: two_robots.Hall, puck: tuple[float, float], disturbance: Disturbance = CALM
) -> Rally:
    draw = np.random.default_rng(0)
    return two_robots.begin(hall, puck=np.array(puck), disturbance=disturbance, draw=draw)


def play(rally: Rally, *sides: list[ndarray]) -> ndarray:
    for commands in zip(*sides, strict=True):
        two_robots.step(rally, commands)
    return np.array(rally.trace)


@pytest.mark.parametrize("known", [True, False])
def test_one_robot_plays_as_on_a_table_of_its_own(hall: two_robots.Hall, known: bool) -> None:
    """The other rests; the puck is struck, and both its way and the arm's are the same."""
    calm = Disturbance(airflow=0.0, position_noise=0.0, mallet_known=known)
    rally = begun(hall, (-0.65, 0.01), calm)
    found = play(rally, list(STROKE), [REST] * len(STROKE))
    puck = np.array((-0.65, 0.01, 0.0, 0.0))
    draw = np.random.default_rng(0)
    alone, _ = simulator.reset(simulator.build(), puck=puck, disturbance=calm, draw=draw)
    for command in STROKE:
        simulator.step(alone, command)
    expected = np.array(alone.trace)[19::20]
    assert expected[-1, 3] > 0.5
    np.testing.assert_allclose(found[1:, :8], expected[:, :8], atol=1e-6)
    joints = np.array(alone.observed)[:, 0]
    np.testing.assert_allclose(np.array(rally.joints)[:, 0], joints, atol=1e-7)


def test_what_one_side_does_the_other_does_turned_by_half(hall: two_robots.Hall) -> None:
    """And each sees it alike."""
    here = begun(hall, (-0.65, 0.02))
    trace = play(here, list(STROKE), [REST] * len(STROKE))
    seen = two_robots.observe(here, 0)
    there = begun(hall, (0.65, -0.02))
    turned = play(there, [REST] * len(STROKE), list(STROKE))
    motion = [0, 1, 3, 4]
    np.testing.assert_allclose(turned[:, motion], -trace[:, motion], atol=1e-6)
    np.testing.assert_allclose(turned[:, 8:10], -trace[:, 6:8], atol=1e-6)
    again = two_robots.observe(there, 1)
    again[2] -= np.pi
    np.testing.assert_allclose(again, seen, atol=1e-6)


def test_each_side_sees_the_puck_and_the_other_s_mallet_from_its_base(
    hall: two_robots.Hall,
) -> None:
    rally = begun(hall, (0.4, 0.2))
    home = iiwa.tip(iiwa.HOME)
    for side, puck in ((0, (1.91, 0.2)), (1, (1.11, -0.2))):
        seen = two_robots.observe(rally, side)
        np.testing.assert_allclose(seen[PUCK][:2], puck)
        np.testing.assert_allclose(seen[JOINTS], iiwa.HOME)
        np.testing.assert_allclose(seen[OPPONENT], (3.02 - home[0], 0.0), atol=2e-3)


def test_what_is_observed_is_noisy_as_it_is_disturbed(hall: two_robots.Hall) -> None:
    """Of 400 observations of either side, within 4 standard errors."""
    rally = begun(hall, (0.4, 0.2), Disturbance(position_noise=3e-3))
    places = np.array(
        [[two_robots.observe(rally, side)[:2] for side in (0, 1)] for _ in range(400)]
    )
    np.testing.assert_allclose(places.std(0), 3e-3, rtol=4.0 / np.sqrt(800))


@pytest.mark.parametrize(
    ("place", "velocity", "since", "ended", "winner"),
    [
        ((0.97, 0.02), (1.0, 0.0), 0.0, "goal", 0),
        ((-0.97, 0.02), (-1.0, 0.0), 0.0, "goal", 1),
        ((-0.5, 0.3), (0.0, 0.0), 15.0, "foul", 1),
        ((0.5, 0.3), (0.0, 0.0), 15.0, "foul", 0),
        ((0.5, 0.3), (0.0, 0.0), 14.9, "", None),
        ((0.1, 0.3), (0.0, 0.0), 0.0, "middle", None),
        ((0.1, 0.3), (0.0, 0.5), 0.0, "middle", None),
        ((0.1, 0.3), (0.3, 0.0), 0.0, "", None),
        ((0.1, 0.6), (0.3, 0.5), 0.0, "out", None),
    ],
)
def test_a_rally_ends_as_the_tournament_s(
    hall: two_robots.Hall,
    place: tuple[float, float],
    velocity: tuple[float, float],
    since: float,
    ended: str,
    winner: int | None,
) -> None:
    rally = begun(hall, place)
    hall.data.qvel[:2] = velocity
    rally.since = since
    two_robots.step(rally, [REST, REST])
    assert (rally.ended, rally.winner) == (ended, winner)


def test_time_on_a_side_begins_anew_over_the_middle_line(hall: two_robots.Hall) -> None:
    rally = begun(hall, (0.005, 0.2))
    hall.data.qvel[:2] = (-0.8, 0.0)
    for _ in range(3):
        two_robots.step(rally, [REST, REST])
    assert rally.trace[-1][0] < 0.0 and rally.since == pytest.approx(0.04)


@pytest.mark.parametrize("side", [0, 1])
def test_a_puck_is_served_in_front_of_a_side(side: int) -> None:
    draw, table = np.random.default_rng(0), Table()
    places = np.array([two_robots.serve(side, draw=draw) for _ in range(500)])
    x = places[:, 0] * (2 * side - 1)
    assert 0.2 <= x.min() < 0.21 and 0.69 < x.max() <= 0.7
    assert np.abs(places[:, 1]).max() <= table.half_width - 0.03165 - 2.0 * 0.04815


def test_a_command_that_is_none_is_refused(hall: two_robots.Hall) -> None:
    rally = begun(hall, (-0.5, 0.0))
    with pytest.raises(ValueError, match=r"command: found shape \(7,\)"):
        two_robots.step(rally, [REST, iiwa.HOME])


def test_a_rally_is_played_for_a_while_and_watched(hall: two_robots.Hall) -> None:
    class Idle:
        def reset(self) -> None:
            self.seen: list[ndarray] = []

        def draw_action(self, observation: ndarray) -> ndarray:
            self.seen.append(observation)
            return REST

    rally, agents, watched = begun(hall, (-0.5, 0.0)), [Idle(), Idle()], []
    two_robots.play(rally, agents, longest=0.2, watch=lambda each: watched.append(each.ended))
    assert len(watched) == len(agents[0].seen) == len(agents[1].seen) == 10
    assert len(rally.trace) == len(rally.joints) == len(rally.speeds) == 11
