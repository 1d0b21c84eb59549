"""Judging an episode: records written by hand, and limits broken on purpose."""

from dataclasses import replace

import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import shot_outcome, simulator
from ricochet.models.systems.air_hockey.simulator import CALM, Episode, World
from ricochet.models.systems.air_hockey.table import Table

STRUCK = slice(100, 118)
"""Milliseconds at which the mallet touches the puck of `record`."""


@pytest.fixture(scope="module")
def world() -> World:
    return simulator.build()


def record(world: World, *, y: float = 0.05, speed: float = 2.0, rise: float = 0.0) -> Episode:
    """Write an episode: a mallet at 1 m/s strikes a puck at rest, which then runs without drag."""
    times = 1e-3 * np.arange(1, 1501)
    running = np.clip(times - times[STRUCK.stop - 1], 0.0, None)
    puck = np.zeros((1500, 6))
    puck[:, 0], puck[:, 1] = -0.4 + speed * running, y + rise * running
    puck[:, 3], puck[:, 4] = speed * (running > 0.0), rise * (running > 0.0)
    mallet = np.stack((times - times[STRUCK.start] - 0.48, np.full(1500, y), np.zeros(1500)), 1)
    touches: list[tuple[str, ...]] = [()] * 1500
    touches[STRUCK] = [("mallet",)] * (STRUCK.stop - STRUCK.start)
    draw, still = np.random.default_rng(0), np.stack((iiwa.HOME, np.zeros(7)))
    episode, _ = simulator.reset(world, puck=np.zeros(4), disturbance=CALM, draw=draw)
    nobody = np.full((1500, 2), 1.51)
    episode.trace = list(np.concatenate((puck, mallet, nobody), axis=1))
    episode.touches, episode.observed = touches, [still] * 75
    return episode


def test_a_clean_pass_scores(world: World) -> None:
    """The puck is at the line 1.374 m / 2 m/s after the touch ended."""
    found = shot_outcome.outcome(record(world, rise=-0.02))
    assert found.scored
    assert found.ended == "line"
    assert found.y_at_line == pytest.approx(0.05 - 0.02 * 0.687, abs=1e-9)
    assert found.speed_at_line == pytest.approx(np.hypot(2.0, 0.02))
    assert (found.banks, found.strikes, found.violations) == (0, 1, ())


def test_the_strike_is_measured(world: World) -> None:
    found = shot_outcome.outcome(record(world))
    assert found.struck == pytest.approx(0.101)
    assert found.mallet_speed == pytest.approx(1.0)
    assert (found.mallet_direction, found.normal) == pytest.approx((0.0, 0.0))
    assert found.launch == pytest.approx((2.0, 0.0))


@pytest.mark.parametrize(("y", "clean"), [(0.092, True), (0.094, False), (-0.092, True)])
def test_only_a_clean_pass_counts(world: World, y: float, clean: bool) -> None:
    found = shot_outcome.outcome(record(world, y=y))
    assert (found.scored, found.ended) == (clean, "line")


@pytest.mark.parametrize("lines", [1, 2, 5])
def test_banks_count_touches_of_long_rims_before_the_line(world: World, lines: int) -> None:
    """Each touch lasts two steps; those before the strike, of end walls and beyond do not count."""
    episode = record(world)
    episode.touches[50] = ("left",)
    episode.touches[700] = ("far_left",)
    episode.touches[1400] = ("right",)
    for number in range(lines):
        for k in range(2):
            episode.touches[200 + 50 * number + k] = ("left" if number % 2 else "right",)
    assert shot_outcome.outcome(episode).banks == lines


def test_a_puck_never_struck_has_no_strike(world: World) -> None:
    episode = record(world)
    episode.touches = [()] * 1500
    episode.trace = [np.zeros(11)] * 1500
    found = shot_outcome.outcome(episode)
    assert (found.scored, found.ended, found.strikes, found.banks) == (False, "time", 0, 0)
    assert np.isnan((found.struck, found.mallet_speed, *found.launch, found.y_at_line)).all()


@pytest.mark.parametrize(
    ("puck", "ended"),
    [
        ((0.2, 0.0, -0.1, 0.0), "returned"),
        ((0.2, 0.0, 0.1, 0.0), "time"),
        ((-0.98, 0.0, -0.1, 0.0), "out"),
        ((0.1, 0.53, 1.0, 0.0), "out"),
    ],
)
def test_where_an_episode_is_over(
    world: World, puck: tuple[float, float, float, float], ended: str
) -> None:
    episode = record(world)
    x, y, vx, vy = puck
    episode.touches = [()] * 1500
    episode.trace = [np.array((x, y, 0.0, vx, vy, 0.0, -0.5, 0.0, 0.0, 1.5, 0.0))] * 1500
    assert shot_outcome.over(episode) == (ended != "time")
    assert shot_outcome.outcome(episode).ended == ended


def broken(joints: ndarray, speeds: ndarray | None = None) -> tuple[str, ...]:
    """Return the limits that a posture breaks."""
    speeds = np.zeros(7) if speeds is None else speeds
    return shot_outcome.violations(np.stack((joints, speeds))[None], Table())


def reaching(*place: float) -> ndarray:
    """Return joints near home that bring the tip to a place in the robot's frame, by Newton."""
    joints = iiwa.HOME.copy()
    for _ in range(20):
        pose = iiwa.pose(joints)
        joints += np.linalg.pinv(pose.jacobian) @ (np.array(place) - pose.tip)
    return joints


def test_home_breaks_nothing() -> None:
    assert broken(iiwa.HOME) == ()


@pytest.mark.parametrize(
    ("place", "kinds"),
    [
        ((0.585, 0.0, 0.1645), ()),
        ((0.583, 0.0, 0.1645), ("mallet place",)),
        ((0.8, 0.470, 0.1645), ()),
        ((0.8, 0.472, 0.1645), ("mallet place",)),
        ((0.8, -0.472, 0.1645), ("mallet place",)),
        ((0.8, 0.1, 0.1835), ()),
        ((0.8, 0.1, 0.1855), ("mallet height",)),
        ((0.8, 0.1, 0.1435), ("mallet height",)),
    ],
)
def test_the_mallet_has_its_bounds(place: tuple[float, ...], kinds: tuple[str, ...]) -> None:
    """x > 0.5842, |y| < 0.47085 and z within 0.02 of 0.1645 m."""
    assert broken(reaching(*place)) == kinds


def test_a_low_elbow_is_a_violation() -> None:
    """Upright but for a shoulder turned down: elbow and wrist are under 0.25 m."""
    assert "link height" in broken(np.array((0.0, 1.98, 0.0, 0.0, 0.0, 0.0, 0.0)))


@pytest.mark.parametrize("joint", range(7))
def test_joint_speeds_have_a_margin(joint: int) -> None:
    speeds = np.zeros(7)
    speeds[joint] = -0.949 * iiwa.SPEED_LIMIT[joint]
    assert broken(iiwa.HOME, speeds) == ()
    speeds[joint] = -0.951 * iiwa.SPEED_LIMIT[joint]
    assert broken(iiwa.HOME, speeds) == ("joint speed",)


def test_a_joint_near_its_end_is_a_violation() -> None:
    """The last joint turns the rod about itself and moves nothing else."""
    near = iiwa.HOME.copy()
    near[6] = 0.951 * iiwa.JOINT_LIMIT[6]
    assert broken(near) == ("joint position",)


def test_noise_of_the_observation_does_not_change_the_outcome(world: World) -> None:
    """The record is the truth: the same puck, observed with noise, ends the same."""
    found = []
    for about in (CALM, replace(CALM, position_noise=2e-3)):
        draw = np.random.default_rng(0)
        start = np.array((0.8, 0.0, 1.0, 0.0))
        episode, _ = simulator.reset(world, puck=start, disturbance=about, draw=draw)
        while not shot_outcome.over(episode):
            simulator.step(episode, np.stack((iiwa.HOME, np.zeros(7))))
        found.append(shot_outcome.outcome(episode))
    assert found[0].scored
    assert (found[0].y_at_line, found[0].speed_at_line) == pytest.approx(
        (found[1].y_at_line, found[1].speed_at_line)
    )
