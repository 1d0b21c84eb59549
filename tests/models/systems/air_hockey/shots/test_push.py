"""Pushes: against pucks drawn one by one, on the simulated kind of badly lying puck, mirrored."""

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import dynamics
from ricochet.models.systems.air_hockey.shots import objective, push
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import puck_sampler
from tests.oracles.hockey_modes import MODES

TABLE = Table()


def reach(positions: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """A mallet that may be anywhere on its half, at a metre a second."""
    inside = (positions[..., 0] > 0.59) & (np.abs(positions[..., 1]) < 0.464)
    return np.where(inside & (positions[..., 0] < 1.34), 1.0, 0.0)


CONDITIONS = Conditions(MODES, reach, objective.contact_covariance())


def at_rest(x: float, y: float) -> np.ndarray:
    return np.array((x, y, 0.0, 0.0, 0.0, 0.0))


def played(state: np.ndarray, angle: float, speed: float, draw: np.random.Generator) -> np.ndarray:
    """Places after each period of 2 s of 400 pucks that are pushed, drawn one by one."""
    normal = np.array((np.cos(angle), np.sin(angle)))
    states = draw.multivariate_normal(state, CONDITIONS.covariance, 400)
    across = np.array((-normal[1], normal[0]))
    off = ((states[:, :2] - state[:2]) @ across / TABLE.contact_radius)[:, None]
    normals = np.sqrt(1.0 - off**2) * normal + off * across
    velocity = np.broadcast_to(speed * normal, (400, 2))
    pucks = puck_sampler.strike(MODES, states, velocity, normals, draw=draw)
    found = []
    for _ in range(round(push.LONGEST / PERIOD)):
        pucks = puck_sampler.step(MODES, pucks, TABLE, draw=draw, first=np.zeros(400, bool))
        found.append(pucks[:, :4])
    return np.stack(found)


def inside(places: np.ndarray, area: push.Area) -> np.ndarray:
    low, high = np.transpose(area)
    return np.asarray(((places[:, :2] > low) & (places[:, :2] < high)).all(1))


def trust(pushes: push.Pushes) -> float:
    """What is left of the worth of the best push for its speed and direction."""
    back = max(-float(np.cos(pushes.angle[0])), 0.0)
    return float((1.0 - push.HARD * pushes.speed[0]) * (1.0 - push.BACKWARD * back))


@pytest.mark.parametrize("place", [(-0.46, 0.47), (-0.71, -0.48), (-0.85, -0.33), (-0.80, 0.1)])
def test_a_push_brings_a_puck_that_lies_badly_into_the_open(place: tuple[float, float]) -> None:
    """Of 400 drawn from the same modes, within 4 standard errors and 0.08 of what it is worth."""
    best = push.rank_pushes(CONDITIONS, at_rest(*place), push.into_the_open)
    worth = best.worth[0] / trust(best)
    assert worth > 0.4
    draw = np.random.default_rng(0)
    pucks = played(at_rest(*place), best.angle[0], best.speed[0], draw)
    soon = pucks[round(push.SOON / PERIOD) - 1]
    shares = [inside(soon, area).mean() for area in (push.OPEN, push.REACH)]
    assert np.mean(shares) == pytest.approx(worth, abs=0.08 + 4.0 * np.sqrt(0.25 / 400))


@pytest.mark.parametrize("place", [(-0.46, 0.42), (-0.71, -0.46), (-0.85, -0.33), (-0.88, 0.2)])
def test_a_puck_that_is_left_alone_comes_to_rest_where_it_is_ready(
    place: tuple[float, float],
) -> None:
    """Of 400 drawn from the same modes; where one comes to the middle line it must not go on."""
    best = push.rank_pushes(CONDITIONS, at_rest(*place), push.to_rest)
    worth = best.worth[0] / trust(best)
    assert worth > 0.5
    pucks = played(at_rest(*place), best.angle[0], best.speed[0], np.random.default_rng(0))
    good = np.empty(400, bool)
    for k in range(400):
        path = pucks[:, k]
        crosses = np.flatnonzero(np.diff(np.sign(path[:, 1])))
        end = path[crosses[0]] if len(crosses) else path[-1].copy()
        if not len(crosses):
            end[:2] += end[2:4] / 0.5
        good[k] = inside(end[None], push.READY)[0] and (not len(crosses) or end[2] < 0.1)
    assert good.mean() == pytest.approx(worth, abs=0.12 + 4.0 * np.sqrt(0.25 / 400))


def test_the_pushes_of_a_mirrored_puck_are_mirrored() -> None:
    here, there = (
        push.rank_pushes(CONDITIONS, at_rest(-0.72, side * 0.47), push.into_the_open)
        for side in (1.0, -1.0)
    )
    assert here.angle[0] == pytest.approx(-there.angle[0]) and here.speed[0] == there.speed[0]
    np.testing.assert_allclose(here.worth, there.worth, atol=1e-9)


def test_a_batch_of_pushes_is_worth_what_each_is() -> None:
    state, angles = at_rest(-0.72, 0.4), np.array((0.2, -0.4, 2.5))
    normal = np.stack((np.cos(angles), np.sin(angles)), -1)
    speed, states = np.array((0.2, 0.3, 0.4)), np.tile(state, (3, 1))
    whole = push.worths(CONDITIONS, states, normal, speed, push.to_rest)
    one = [
        push.worths(
            CONDITIONS, states[k : k + 1], normal[k : k + 1], speed[k : k + 1], push.to_rest
        )
        for k in range(3)
    ]
    np.testing.assert_allclose(whole, np.concatenate(one), atol=1e-12)


def test_a_puck_out_of_reach_is_not_pushed() -> None:
    assert len(push.rank_pushes(CONDITIONS, at_rest(0.3, 0.0), push.into_the_open).worth) == 0


def test_no_push_sends_the_puck_over_the_middle_line() -> None:
    """At the middle, softly, is better than hard."""
    best = push.rank_pushes(CONDITIONS, at_rest(-0.75, 0.0), push.into_the_open)
    states, normal = at_rest(-0.75, 0.0)[None], np.array(((1.0, 0.0),))
    hard = push.worths(CONDITIONS, states, normal, np.array((1.0,)), push.into_the_open)
    assert best.speed[0] < 0.6 and hard[0] == 0.0


@pytest.mark.parametrize("y", [0.0, 0.1, -0.2])
def test_no_push_sends_the_puck_at_the_own_goal(y: float) -> None:
    states, normal = at_rest(-0.6, y)[None], np.array(((-1.0, 0.0),))
    for aim in (push.into_the_open, push.to_rest):
        assert push.worths(CONDITIONS, states, normal, np.array((0.5,)), aim)[0] == 0.0


@pytest.mark.parametrize("y", [0.2, 0.3, -0.25])
def test_a_puck_near_the_own_wall_is_brought_off_it(y: float) -> None:
    """Along the wall or against it, for nothing fits behind it."""
    best = push.rank_pushes(CONDITIONS, at_rest(-0.90, y), push.into_the_open)
    assert abs(best.angle[0]) > 1.2
    pucks = played(at_rest(-0.90, y), best.angle[0], best.speed[0], np.random.default_rng(0))
    assert np.mean(pucks[round(push.SOON / PERIOD) - 1, :, 0] > -0.86) > 0.9


def test_paths_are_those_of_the_modes() -> None:
    """Against the roll-out period by period, with a bank on the way; the time of it differs."""
    start = np.array(((-0.6, 0.3, 0.1, 0.4, 0.05, -0.05), (-0.5, 0.0, -0.3, 0.1, 0.0, 0.0)))
    found = push.follow(MODES, start, TABLE)
    mean, spread = start, np.zeros((2, 6, 6))
    for k in range(1, len(found)):
        for _ in range(push.STRIDE):
            mean, spread = dynamics.step(MODES, mean, spread, TABLE)
        inner = (np.abs(found[k, :, :2]) < (TABLE.wall_x, TABLE.wall_y)).all(1)
        np.testing.assert_allclose(found[k, inner], mean[inner, :4], atol=0.012)
