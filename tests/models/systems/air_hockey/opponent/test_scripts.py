"""Scripted opponents: where they are, what they do to a puck, and that nothing moves them."""

import numpy as np
import pytest

from ricochet.models.systems.air_hockey import shot_outcome, simulator
from ricochet.models.systems.air_hockey.opponent import scripts
from ricochet.models.systems.air_hockey.opponent.scripts import Follower, Opponent, Sweep
from ricochet.models.systems.air_hockey.simulator import CALM, Episode, World
from tests.models.systems.air_hockey.simple_episodes import AT_REST

FAR = np.array((-0.5, 0.3, 0.0, 0.0))


@pytest.fixture(scope="module")
def world() -> World:
    return simulator.build()


def play(world: World, puck: np.ndarray, opponent: Opponent | None, periods: int) -> Episode:
    episode, _ = simulator.reset(
        world, puck=puck, disturbance=CALM, draw=np.random.default_rng(0), opponent=opponent
    )
    for _ in range(periods):
        simulator.step(episode, AT_REST)
    return episode


@pytest.mark.parametrize("opponent", [Sweep(0.3), Sweep(2.0, rate=5.0), Follower()])
def test_the_velocity_is_the_change_of_place(opponent: Opponent) -> None:
    times, puck = np.arange(3000) * 1e-3, np.array((0.0, 0.15))
    places, speeds = np.moveaxis([opponent.move(time, puck) for time in times], 1, 0)
    found = np.diff(places, axis=0) / 1e-3
    np.testing.assert_allclose(found, 0.5 * (speeds[1:] + speeds[:-1]), atol=6e-3)


def test_the_sweep_crosses_the_goal_as_the_challenge_s_does() -> None:
    """Once to and fro in 2.1 s, between 0.81 and 0.91 m, 0.16 m to either side."""
    places = np.array([Sweep().move(time, np.zeros(2))[0] for time in np.arange(0.0, 2.1, 1e-3)])
    np.testing.assert_allclose(places.min(0), (0.81, -0.16), atol=1e-4)
    np.testing.assert_allclose(places.max(0), (0.91, 0.16), atol=1e-4)
    np.testing.assert_allclose(places[0], (0.86, 0.0), atol=1e-9)


def test_the_follower_comes_to_the_puck_and_keeps_within_its_reach() -> None:
    follower = Follower()
    near = [follower.move(time, np.array((0.0, 0.12))) for time in np.arange(0.0, 1.5, 1e-3)]
    far = [follower.move(time, np.array((0.0, -0.4))) for time in np.arange(1.5, 4.0, 1e-3)]
    assert near[-1][0, 1] == pytest.approx(0.12, abs=1e-3)
    assert far[-1][0, 1] == pytest.approx(-0.20, abs=1e-3)
    rates = np.array([each[1, 1] for each in near + far])
    assert np.abs(rates).max() <= 1.0 and np.abs(np.diff(rates)).max() <= 6.0 * 1e-3 + 1e-12


def test_the_simulated_mallet_is_where_its_script_says_and_is_observed_there(world: World) -> None:
    sweep = Sweep(0.7)
    episode = play(world, FAR, sweep, 50)
    trace = np.array(episode.trace)
    expected = [sweep.move(1e-3 * k, np.zeros(2))[0] for k in range(1, len(trace) + 1)]
    np.testing.assert_allclose(trace[:, 9:11], expected, atol=2e-5)
    seen = simulator.step(episode, AT_REST)
    np.testing.assert_allclose(
        seen[20:22] - (1.51, 0.0), sweep.move(1.02, np.zeros(2))[0], atol=1e-4
    )


def test_a_puck_bounces_off_an_opponent_that_goes_on_as_it_was(world: World) -> None:
    """Head-on, of the speed against each other two fifths to a half is left, as at a mallet."""
    sweep = Sweep(phase=0.5 * np.pi, rate=1e-9, centre=0.8)
    free, met = (play(world, np.array((0.6, 0.0, 1.5, 0.0)), one, 12) for one in (None, sweep))
    assert np.array(free.trace)[-1, 0] > 0.85
    trace = np.array(met.trace)
    touched = np.flatnonzero(["opponent" in names for names in met.touches])
    before, after = trace[touched[0] - 1, 3], trace[touched[-1] + 1, 3]
    assert 0.38 < -after / before < 0.50
    assert np.abs(trace[:, 9:11] - (0.8, 0.0)).max() < 1e-6
    assert shot_outcome.outcome(met).blocked and not shot_outcome.outcome(free).blocked


def test_nobody_is_off_the_table_and_touches_nothing(world: World) -> None:
    episode = play(world, np.array((0.6, 0.0, 1.5, 0.0)), None, 20)
    assert np.array(episode.trace)[0, 9] > 1.4
    assert not any("opponent" in names for names in episode.touches)


def test_opponents_are_made_by_name() -> None:
    draw = np.random.default_rng(0)
    assert scripts.make("none", draw) is None
    assert isinstance(scripts.make("follow", draw), Follower)
    phases = {scripts.make("sweep", draw) for _ in range(3)}
    assert len(phases) == 3 and all(isinstance(one, Sweep) for one in phases)
    assert set(scripts.NAMES) == {"none", "sweep", "follow"}
    with pytest.raises(KeyError):
        scripts.make("goalkeeper", draw)
