"""The table against the facts of the 2023 Robot Air Hockey Challenge's public files, and itself.

Ranges in the tests are what was measured on that environment: a puck leaves a mallet head-on at
1.42 to 1.46 times its speed, 18 to 19 ms after the touch; off the middle its tangential speed is
0.14 to 0.25 of the mallet's; a rim keeps 0.71 to 0.77 of the normal speed (more where a touch lasts
one step of 1 ms only) and 0.84 of the tangential one; floating keeps 0.99005 in 20 ms.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy import ndarray

from models.core.hockey_table import Table
from models.simulators import air_hockey, air_hockey_outcome, iiwa
from models.simulators.air_hockey import CALM, Disturbance, World
from tests.models.simulators import hockey_strokes

HOLD = np.stack((iiwa.HOME, np.zeros(7)))


@pytest.fixture(scope="module")
def world() -> World:
    return air_hockey.build()


def glide(
    world: World, puck: tuple[float, ...], periods: int, about: Disturbance = CALM, seed: int = 0
) -> tuple[air_hockey.Episode, ndarray]:
    """Let a puck go while the arm stays; the episode and its observations."""
    episode, seen = air_hockey.reset(
        world, puck=np.array(puck), disturbance=about, draw=np.random.default_rng(seed)
    )
    return episode, np.array([seen, *(air_hockey.step(episode, HOLD) for _ in range(periods))])


@pytest.mark.parametrize("seed", range(5))
def test_the_scene_has_the_kinematics(world: World, seed: int) -> None:
    joints = np.random.default_rng(seed).uniform(-1.0, 1.0, 7) * iiwa.JOINT_LIMIT
    air_hockey.reset(
        world, puck=np.zeros(4), disturbance=CALM, draw=np.random.default_rng(0), joints=joints
    )
    place = world.data.body("tip").xpos - np.array(world.table.robot_base)
    np.testing.assert_allclose(iiwa.tip(joints), place, atol=1e-6)


def test_the_scene_has_the_table(world: World) -> None:
    table, model = Table(), world.model
    left, far = model.geom("left"), model.geom("far_left")
    assert left.pos[1] - left.size[1] == pytest.approx(table.half_width)
    assert far.pos[0] - far.size[0] == pytest.approx(table.half_length)
    assert far.pos[1] - far.size[1] == pytest.approx(table.goal_half_width)
    assert model.geom("puck").size[0] == pytest.approx(table.puck_radius)
    assert model.geom("mallet").size[0] == pytest.approx(table.mallet_radius)
    np.testing.assert_allclose(model.body("base").pos, table.robot_base)


def test_a_floating_puck_loses_a_hundredth_in_20_ms(world: World) -> None:
    episode, _ = glide(world, (-0.5, 0.0, 1.0, 0.3), 20)
    speed = np.array(episode.trace)[19::20, 3]
    np.testing.assert_allclose(speed[1:] / speed[:-1], 0.99005, atol=1e-5)


def test_a_rim_keeps_what_was_measured(world: World) -> None:
    """40 phases of the touch; its length in whole steps scatters the normal share by 0.09."""
    draw, normal, tangent = np.random.default_rng(0), [], []
    for _ in range(40):
        y, speed = 0.45 + 0.02 * draw.random(), draw.uniform(0.5, 2.0)
        episode, _ = glide(world, (0.0, y, 0.5 * speed, speed), 8)
        trace = np.array(episode.trace)
        touched = [i for i, names in enumerate(episode.touches) if names]
        before, after = trace[touched[0] - 1], trace[touched[-1] + 1]
        normal.append(-after[4] / before[4])
        tangent.append(after[3] / before[3])
    assert 0.71 < np.median(normal) < 0.77
    assert min(normal) > 0.65
    assert np.mean(tangent) == pytest.approx(0.845, abs=0.015)


@pytest.mark.parametrize("speed", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("off", [0.0, 0.02])
def test_a_mallet_strikes_as_was_measured(world: World, speed: float, off: float) -> None:
    episode = hockey_strokes.strike(world, speed, off=off, rest=0.1)
    found = air_hockey_outcome.outcome(episode)
    touching = sum("mallet" in names for names in episode.touches)
    normal = np.array((np.cos(found.normal), np.sin(found.normal)))
    across = np.array((-normal[1], normal[0]))
    mallet = found.mallet_speed * np.array((1.0, 0.0))
    assert found.mallet_speed == pytest.approx(speed, rel=0.02)
    assert 17 <= touching <= 20
    assert 1.40 < np.dot(found.launch, normal) / (mallet @ normal) < 1.46
    if off > 0.0:
        assert 0.14 < np.dot(found.launch, across) / (mallet @ across) < 0.26


def test_a_mirrored_strike_is_mirrored(world: World) -> None:
    left, right = (
        air_hockey_outcome.outcome(hockey_strokes.strike(world, 0.5, off=off, rest=0.1))
        for off in (0.02, -0.02)
    )
    np.testing.assert_allclose(left.launch, (right.launch[0], -right.launch[1]), rtol=1e-3)


def test_a_straight_strike_scores_and_breaks_no_limit(world: World) -> None:
    episode = hockey_strokes.strike(world, 0.8, rest=2.5)
    found = air_hockey_outcome.outcome(episode)
    assert found.scored
    assert found.ended == "line"
    assert found.banks == 0
    assert found.violations == ()
    way = world.table.half_length - (-0.5)
    assert 0.25 < found.speed_at_line < found.launch[0] - 0.4 * way


def test_banks_are_the_turns_at_the_long_rims(world: World) -> None:
    episode = hockey_strokes.strike(world, 0.8, off=0.055, rest=3.0)
    found = air_hockey_outcome.outcome(episode)
    trace = np.array(episode.trace)
    after = trace[(np.arange(len(trace)) * 1e-3 > found.struck + 0.03) & (trace[:, 0] < 0.93)]
    assert found.banks == (np.diff(np.sign(after[:, 4])) != 0).sum() == 1


def test_the_arm_follows_its_commands(world: World) -> None:
    episode, _ = air_hockey.reset(
        world, puck=np.array((0.5, 0.4, 0.0, 0.0)), disturbance=CALM, draw=np.random.default_rng(0)
    )
    commands = hockey_strokes.straight(np.array((0.6, 0.1)), run_up=0.3, after=0.06)
    for command in commands:
        seen = air_hockey.step(episode, command)
        error = iiwa.tip(seen[6:13]) - iiwa.tip(command[0])
        assert np.abs(error).max() < 1e-3


def test_speeds_beyond_the_limits_are_not_followed(world: World) -> None:
    episode, _ = glide(world, (0.5, 0.0, 0.0, 0.0), 0)
    far = np.stack((iiwa.HOME + np.array((0.5, 0, 0, 0, 0, 0, 0)), np.zeros(7)))
    air_hockey.step(episode, far)
    moved = world.data.qpos[air_hockey.ARM][0]
    assert 0.0 < moved < 1.2 * iiwa.SPEED_LIMIT[0] * air_hockey.PERIOD


def test_airflow_pushes_steadily(world: World) -> None:
    """Against the closed form of v' = a - v / 2 from rest."""
    episode, _ = glide(world, (0.0, 0.0, 0.0, 0.0), 50, replace(CALM, airflow=0.1), seed=3)
    assert np.hypot(*episode.airflow) == pytest.approx(0.1)
    expected = episode.airflow * 2.0 * (1.0 - np.exp(-0.5))
    np.testing.assert_allclose(np.array(episode.trace)[-1, 3:5], expected, rtol=2e-3)


def test_the_place_is_seen_with_its_noise(world: World) -> None:
    """2 mm on each of 400 numbers: the standard deviation within 4 of its own errors."""
    _, seen = glide(world, (0.0, 0.0, 0.0, 0.0), 200, Disturbance(airflow=0.0))
    error = seen[:, :2] - np.array((1.51, 0.0))
    assert error.std() == pytest.approx(2e-3, rel=4.0 / np.sqrt(2 * error.size))


def test_delay_shows_the_place_of_before(world: World) -> None:
    _, now = glide(world, (-0.5, 0.0, 1.0, 0.0), 20)
    _, late = glide(world, (-0.5, 0.0, 1.0, 0.0), 20, replace(CALM, delay=3))
    np.testing.assert_allclose(late[3:, :2], now[:-3, :2])


def test_lost_tracking_is_seen_as_nan(world: World) -> None:
    _, seen = glide(world, (0.0, 0.0, 0.0, 0.0), 200, replace(CALM, loss=0.05, lost=4))
    gone = np.isnan(seen[:, :6]).all(axis=1)
    runs = np.diff(np.flatnonzero(np.diff(np.concatenate(([0], gone, [0])).astype(int))))[::2]
    assert 10 < gone.sum() < 120
    assert (runs[:-1] >= 4).all()
    assert np.isfinite(seen[:, 6:]).all()


@pytest.mark.parametrize("bad", [np.full((2, 7), np.nan), np.zeros((7, 2)), np.zeros(14)])
def test_a_bad_command_is_refused(world: World, bad: ndarray) -> None:
    episode, _ = glide(world, (0.0, 0.0, 0.0, 0.0), 0)
    with pytest.raises(ValueError, match="command: found shape"):
        air_hockey.step(episode, bad)
