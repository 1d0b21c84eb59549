"""Plain episodes for tests: a puck that glides, a mallet that runs straight, and their meeting."""

import numpy as np
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.simulator import CALM, Disturbance, Episode, World

AT_REST = np.stack((iiwa.HOME, np.zeros(7)))
"""The command that keeps the arm at home."""


def observation(puck: tuple[float, float] = (0.95, 0.0), joints: ndarray = iiwa.HOME) -> ndarray:
    """An observation of a puck and joints at rest, in the robot's frame."""
    return np.concatenate((puck, np.zeros(4), joints, np.zeros(7), (3.02, 0.0, 0.1645)))


def glide(
    world: World,
    puck: tuple[float, ...],
    periods: int,
    disturbance: Disturbance = CALM,
    seed: int = 0,
) -> tuple[Episode, ndarray]:
    """Let a puck go while the arm stays; the episode and its observations."""
    episode, seen = simulator.reset(
        world, puck=np.array(puck), disturbance=disturbance, draw=np.random.default_rng(seed)
    )
    return episode, np.array([seen, *(simulator.step(episode, AT_REST) for _ in range(periods))])


def straight(velocity: ndarray, *, run_up: float, after: float) -> ndarray:
    """Commands that bring the tip from home evenly to a velocity (m/s), then hold it."""
    count, joints = 10, iiwa.HOME.copy()
    commands = []
    times = np.arange(1, round((run_up + after) / PERIOD) * count + 1) * PERIOD / count
    for number, time in enumerate(times, start=1):
        desired = np.append(velocity, 0.0) * min(1.0, time / run_up)
        pose = iiwa.pose(joints)
        desired[2] = 5.0 * (iiwa.TIP_HEIGHT - pose.tip[2])
        speeds = np.linalg.pinv(pose.jacobian) @ desired
        joints = joints + PERIOD / count * speeds
        if number % count == 0:
            commands.append(np.stack((joints, speeds)))
    return np.array(commands)


def strike(
    world: World,
    speed: float,
    *,
    off: float = 0.0,
    run_up: float = 0.3,
    rest: float = 0.4,
    late: float = 0.0,
) -> Episode:
    """Strike a puck at rest along x, the mallet's path `off` to the side of its centre, m.

    It is `late` after the run-up that they touch, s: the touch's instant within a step of 1 ms.
    """
    start = np.array(world.table.robot_base[:2]) + iiwa.tip(iiwa.HOME)[:2]
    puck = np.array(
        (start[0] + 0.5 * speed * run_up + 0.081 + speed * late, start[1] - off, 0.0, 0.0)
    )
    episode, _ = simulator.reset(world, puck=puck, disturbance=CALM, draw=np.random.default_rng(0))
    for command in straight(np.array((speed, 0.0)), run_up=run_up, after=0.06):
        simulator.step(episode, command)
    held = np.stack((episode.motors.command[0] + 0.0, np.zeros(7)))
    for _ in range(round(rest / PERIOD)):
        simulator.step(episode, held)
    return episode
