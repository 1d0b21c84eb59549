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


@pytest.mark.parametrize("place", [(-0.46, 0.47), (-0.71, -0.48), (-0.85, -0.33), (-0.80, 0.1)])
def test_a_push_brings_a_puck_that_lies_badly_into_the_open(place: tuple[float, float]) -> None:
    """Of 400 drawn from the same modes, within 4 standard errors and 0.08 of what it is worth."""
    state, draw = at_rest(*place), np.random.default_rng(0)
    best = push.best_push(CONDITIONS, state)
    assert best is not None and best.worth > 0.5
    normal = np.array((np.cos(best.angle), np.sin(best.angle)))
    states = draw.multivariate_normal(state, CONDITIONS.covariance, 400)
    across = np.array((-normal[1], normal[0]))
    off = ((states[:, :2] - state[:2]) @ across / TABLE.contact_radius)[:, None]
    normals = np.sqrt(1.0 - off**2) * normal + off * across
    velocity = np.broadcast_to(best.speed * normal, (400, 2))
    pucks = puck_sampler.strike(MODES, states, velocity, normals, draw=draw)
    for _ in range(round(push.TIME / PERIOD)):
        pucks = puck_sampler.step(MODES, pucks, TABLE, draw=draw, first=np.zeros(400, bool))
    shares = [
        ((pucks[:, :2] > low) & (pucks[:, :2] < high)).all(1).mean()
        for low, high in (np.transpose(area) for area in (push.OPEN, push.REACH))
    ]
    error = np.sqrt(best.worth * (1.0 - best.worth) / 400)
    assert np.mean(shares) == pytest.approx(best.worth, abs=0.08 + 4.0 * error)


def test_the_push_of_a_mirrored_puck_is_mirrored() -> None:
    here, there = (push.best_push(CONDITIONS, at_rest(-0.72, side * 0.47)) for side in (1.0, -1.0))
    assert here is not None and there is not None
    assert here.angle == pytest.approx(-there.angle) and here.speed == there.speed
    assert here.worth == pytest.approx(there.worth, abs=1e-9)


def test_a_puck_out_of_reach_is_not_pushed() -> None:
    assert push.best_push(CONDITIONS, at_rest(0.3, 0.0)) is None


def test_no_push_sends_the_puck_over_the_middle_line() -> None:
    """At the middle, softly, is better than hard."""
    best = push.best_push(CONDITIONS, at_rest(-0.75, 0.0))
    assert best is not None
    states = at_rest(-0.75, 0.0)[None]
    normal = np.array(((np.cos(best.angle), np.sin(best.angle)),))
    hard = push.worths(CONDITIONS, states, normal, np.array((1.0,)))
    assert best.speed < 0.6 and hard[0] == 0.0


@pytest.mark.parametrize("y", [0.2, 0.3, -0.25])
def test_a_puck_near_the_own_wall_is_brought_off_it_and_never_into_the_own_goal(y: float) -> None:
    """Along the wall, for nothing fits behind it."""
    best = push.best_push(CONDITIONS, at_rest(-0.90, y))
    assert best is not None and abs(best.angle) > 1.2
    states = at_rest(-0.90, y)[None]
    normal = np.array(((np.cos(best.angle), np.sin(best.angle)),))
    speed = np.array((best.speed,))
    mean, spread = objective.launched(CONDITIONS, states, normal, speed)
    xs = []
    for _ in range(round(push.TIME / PERIOD)):
        mean, spread = dynamics.step(MODES, mean, spread, TABLE)
        xs.append(mean[0, 0])
    assert min(xs) > -TABLE.half_length and xs[-1] > -0.86
