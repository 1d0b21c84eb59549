"""Stops: against pucks drawn one by one, by what a strike leaves, mirrored."""

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import strikes
from ricochet.models.systems.air_hockey.shots import objective, stop
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import puck_sampler
from tests.oracles.hockey_modes import MODES

TABLE = Table()
CONDITIONS = Conditions(MODES, lambda places, angles: 0.0 * angles, objective.contact_covariance())


def comes(x: float, y: float, speed: float, angle: float = 0.0) -> np.ndarray:
    """A puck that comes at a speed, its way turned off the table's axis."""
    return np.array((x, y, -speed * np.cos(angle), speed * np.sin(angle), 0.0, 0.0))


@pytest.mark.parametrize("left", stop.LEFT)
@pytest.mark.parametrize("angle", [0.0, 0.4])
def test_the_mallet_recedes_so_that_the_puck_is_left_at_a_speed(left: float, angle: float) -> None:
    state = comes(-0.5, 0.1, 1.6, angle)[None]
    normal = np.array(((np.cos(-angle), np.sin(-angle)),))
    speed = stop._mallet_speed(MODES, state, normal, np.array((left,)))
    after = strikes.strike(MODES, state, speed[:, None] * normal, normal).mean
    assert (after * normal).sum() == pytest.approx(left, abs=1e-9)
    assert -stop.FASTEST < speed[0] < 0.0


@pytest.mark.parametrize(("x", "speed"), [(-0.5, 1.5), (-0.35, 2.0), (-0.7, 1.0), (-0.5, 2.6)])
def test_a_stop_is_worth_what_pucks_make_of_it(x: float, speed: float) -> None:
    """Of 2000 drawn and floated until they are slow: within 4 standard errors and 0.06."""
    state, draw = comes(x, 0.05, speed), np.random.default_rng(1)
    found = stop.rank_stops(CONDITIONS, state[None])
    normal = np.array((np.cos(found.angle[0]), np.sin(found.angle[0])))
    states = draw.multivariate_normal(state, CONDITIONS.covariance, 2000)
    across = np.array((-normal[1], normal[0]))
    off = ((states[:, :2] - state[:2]) @ across / TABLE.contact_radius)[:, None]
    normals = np.sqrt(1.0 - off**2) * normal + off * across
    velocity = np.broadcast_to(found.speed[0] * normal, (2000, 2))
    pucks = puck_sampler.strike(MODES, states, velocity, normals, draw=draw)
    pucks[:, 4:6] = 0.0
    for _ in range(round(8.0 / PERIOD)):
        moves = np.hypot(pucks[:, 2], pucks[:, 3]) > stop.SLOW
        later = puck_sampler.step(MODES, pucks, TABLE, draw=draw, first=np.zeros(2000, bool))
        pucks = np.where(moves[:, None], later, pucks)
        pucks[:, 4:6] = 0.0
    stays = (pucks[:, 0] > stop.STAYS[0]) & (pucks[:, 0] < stop.STAYS[1])
    own = pucks[:, 0] < -TABLE.half_length
    worth = np.where(stays, 1.0, np.where(own, 0.0, stop.ELSEWHERE)).mean()
    assert found.worth[0] == pytest.approx(worth, abs=0.06 + 4.0 * 0.5 / np.sqrt(2000))


def test_to_recede_is_worth_more_than_to_stand_or_to_go_against_the_puck() -> None:
    states, normal = np.tile(comes(-0.4, 0.0, 2.0), (3, 1)), np.tile((1.0, 0.0), (3, 1))
    worth = stop.worths(CONDITIONS, states, normal, np.array((-0.6, 0.0, 0.3)))
    assert worth[0] > 0.9 and worth[1] <= 0.6 and worth[2] <= 0.6


def test_a_mirrored_puck_is_stopped_by_the_mirrored_mallet() -> None:
    states = np.stack([comes(x, 0.2, 1.7, 0.3) for x in (-0.2, -0.4, -0.6)])
    mirror = np.array((1.0, -1.0, 1.0, -1.0, 1.0, -1.0))
    here, there = stop.rank_stops(CONDITIONS, states), stop.rank_stops(CONDITIONS, states * mirror)
    np.testing.assert_allclose(here.worth, there.worth, atol=1e-9)
    np.testing.assert_allclose(here.speed, there.speed, atol=1e-9)
    np.testing.assert_allclose(here.angle, -there.angle, atol=1e-9)


def test_states_are_ranked_each_for_itself() -> None:
    states = np.stack([comes(x, 0.2, 1.7, 0.3) for x in (-0.2, -0.4, -0.6)])
    whole = stop.rank_stops(CONDITIONS, states)
    for k in range(3):
        alone = stop.rank_stops(CONDITIONS, states[k : k + 1])
        assert (alone.angle[0], alone.worth[0]) == pytest.approx((whole.angle[k], whole.worth[k]))


@pytest.mark.parametrize(
    "state",
    [
        comes(0.3, 0.0, 2.0),  # on the far half
        comes(-0.95, 0.0, 2.0),  # behind where the mallet may be
        -comes(0.5, 0.0, 2.0),  # going away
        comes(-0.5, 0.48, 1.0, 0.4),  # the mallet would be in the rim
    ],
)
def test_no_mallet_meets_what_it_cannot(state: np.ndarray) -> None:
    assert stop.rank_stops(CONDITIONS, state[None]).worth[0] == -np.inf


def test_an_end_in_front_of_the_goal_is_worth_all_and_in_the_own_goal_nothing() -> None:
    place = np.array(((-0.5, 0.0), (-0.7, 0.0), (-0.7, 0.0), (-0.5, 0.0)))
    velocity = np.array(((0.0, 0.0), (-0.6, 0.0), (-0.6, 0.6), (0.9, 0.0)))
    found = stop.worth_of_end(MODES, TABLE, place, velocity)
    np.testing.assert_array_equal(found, (1.0, 0.0, stop.ELSEWHERE, stop.ELSEWHERE))
