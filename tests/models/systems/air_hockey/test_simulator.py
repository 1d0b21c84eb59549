"""The simulated table: how commands are followed, what disturbs the puck, what is observed."""

from dataclasses import replace

import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.arms.iiwa_dynamics import DAMPING, STIFFNESS
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.interface import JOINTS, PERIOD
from ricochet.models.systems.air_hockey.simulator import CALM, Disturbance, World
from tests.models.systems.air_hockey import simple_episodes
from tests.models.systems.air_hockey.simple_episodes import glide


@pytest.fixture(scope="module")
def world() -> World:
    return simulator.build()


def test_a_floating_puck_loses_a_hundredth_in_20_ms(world: World) -> None:
    episode, _ = glide(world, (-0.5, 0.0, 1.0, 0.3), 20)
    speed = np.array(episode.trace)[19::20, 3]
    np.testing.assert_allclose(speed[1:] / speed[:-1], 0.99005, atol=1e-5)


@pytest.mark.parametrize(
    ("known", "level", "height"),
    [(True, (0.0, 1e-3), (0.0, 5e-4)), (False, (2e-3, 4e-3), (3e-3, 5e-3))],
)
def test_the_arm_follows_its_commands(
    known: bool, level: tuple[float, float], height: tuple[float, float]
) -> None:
    """There a stroke erred by 2.6 mm level and 4.7 mm in height: its law knows no mallet."""
    episode, _ = simulator.reset(
        simulator.build(),
        puck=np.array((0.5, 0.4, 0.0, 0.0)),
        disturbance=replace(CALM, mallet_known=known),
        draw=np.random.default_rng(0),
    )
    errors = []
    for command in simple_episodes.straight(np.array((0.6, 0.1)), run_up=0.3, after=0.06):
        seen = simulator.step(episode, command)
        errors.append(np.abs(iiwa.tip(seen[JOINTS]) - iiwa.tip(command[0])))
    most = np.max(errors, axis=0)
    assert level[0] < np.hypot(*most[:2]) < level[1]
    assert height[0] < most[2] < height[1]


def test_a_far_command_is_approached_as_fast_as_may_be(world: World) -> None:
    """At 85 degrees a second; a law that wants to stand drags by Kd / Kp of that, 0.06 rad."""
    episode, _ = glide(world, (0.5, 0.0, 0.0, 0.0), 0)
    far = np.stack((iiwa.HOME + np.array((0.5, 0, 0, 0, 0, 0, 0)), np.zeros(7)))
    angles, speeds = [], []
    for _ in range(30):
        simulator.step(episode, far)
        angles.append(world.data.qpos[simulator.ARM][0])
        speeds.append(world.data.qvel[simulator.ARM][0])
    assert max(speeds) < 1.05 * iiwa.SPEED_LIMIT[0]
    even = iiwa.SPEED_LIMIT[0] * PERIOD * np.arange(8, 16)
    lag = iiwa.SPEED_LIMIT[0] * DAMPING[0] / STIFFNESS[0]
    np.testing.assert_allclose(angles[7:15], even - lag, atol=3e-3)
    assert angles[-1] == pytest.approx(0.5, abs=2e-3)


def test_airflow_pushes_steadily(world: World) -> None:
    """Against the closed form of v' = a - v / 2 from rest."""
    episode, _ = glide(world, (0.0, 0.0, 0.0, 0.0), 50, replace(CALM, airflow=0.1), seed=3)
    assert np.hypot(*episode.airflow) == pytest.approx(0.1)
    expected = episode.airflow * 2.0 * (1.0 - np.exp(-0.5))
    np.testing.assert_allclose(np.array(episode.trace)[-1, 3:5], expected, rtol=2e-3)


def test_the_place_is_observed_with_its_noise(world: World) -> None:
    """2 mm on each of 400 numbers: the standard deviation within 4 of its own errors."""
    _, seen = glide(world, (0.0, 0.0, 0.0, 0.0), 200, Disturbance(airflow=0.0))
    error = seen[:, :2] - np.array((1.51, 0.0))
    assert error.std() == pytest.approx(2e-3, rel=4.0 / np.sqrt(2 * error.size))


@pytest.mark.parametrize("about", [CALM, Disturbance()])
def test_delay_shows_an_earlier_puck(world: World, about: Disturbance) -> None:
    _, now = glide(world, (-0.5, 0.0, 1.0, 0.0), 20, about)
    _, late = glide(world, (-0.5, 0.0, 1.0, 0.0), 20, replace(about, delay=3))
    np.testing.assert_allclose(late[3:, :6], now[:-3, :6])
    np.testing.assert_allclose(late[:, 6:], now[:, 6:])


def test_the_same_seed_gives_the_same_episode(world: World) -> None:
    one, other, third = (
        glide(world, (-0.3, 0.1, 0.4, 1.0), 25, Disturbance(), seed)[1] for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(one, other)
    assert np.abs(one - third)[:, :2].max() > 1e-3


def test_a_mirrored_glide_is_mirrored(world: World) -> None:
    """Two banks on the way; only rounding differs between the sides."""
    left, _ = glide(world, (-0.6, 0.3, 1.0, 1.5), 60)
    right, _ = glide(world, (-0.6, -0.3, 1.0, -1.5), 60)
    mirror = np.array((1.0, -1.0, -1.0, 1.0, -1.0, -1.0))
    np.testing.assert_allclose(
        np.array(left.trace)[:, :6], np.array(right.trace)[:, :6] * mirror, atol=1e-6
    )
    sides = [{name for names in each.touches for name in names} for each in (left, right)]
    assert sides == [{"left", "right"}, {"left", "right"}]


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
        simulator.step(episode, bad)


@pytest.mark.parametrize("shoulder", [0.0, 0.1, iiwa.HOME[1]])
def test_the_motors_hold_the_arm_still_wherever_joints_1_and_3_are(shoulder: float) -> None:
    """In line, 0.04 kg m^2 turn against both: damped by its own speeds 1 kHz would be too slow."""
    joints = iiwa.HOME.copy()
    joints[1] = shoulder
    world, draw = simulator.build(), np.random.default_rng(0)
    puck = np.array((0.5, 0.4, 0.0, 0.0))
    episode, _ = simulator.reset(world, puck=puck, disturbance=CALM, draw=draw, joints=joints)
    world.data.qvel[simulator.ARM] = 0.05 * draw.standard_normal(7)
    for _ in range(30):
        simulator.step(episode, np.stack((joints, np.zeros(7))))
    assert np.abs(world.data.qvel[simulator.ARM]).max() < 1e-3
