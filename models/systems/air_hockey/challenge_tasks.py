"""The three tasks of the 2023 Robot Air Hockey Challenge: how each starts, ends and succeeds.

    hit       a puck in front of the robot that rolls at up to 0.5 m/s is to enter the far goal
    defend    one that comes at 1 to 3 m/s is to be stopped in front of the own goal
    prepare   one that lies at a rim or at the own wall is to be brought to where it can be shot

A task ends after `LONGEST`, or where its rule says so; it succeeded if its last state says so.
States are (x, y, yaw, vx, vy, yaw rate) in m, rad, m/s, rad/s in the table's frame, as the first
six numbers of an episode's trace.

Source: public files of that challenge (7 joints).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.air_hockey.table import Table

LONGEST = 10.0
"""An episode's length, s."""
_TABLE = Table()
READY_X, READY_Y = (-0.8, -0.2), _TABLE.half_width - _TABLE.puck_radius - 2.0 * _TABLE.mallet_radius
"""Where a puck is ready to be shot: x, and the largest |y|, m."""
FORWARD = 0.1  # m/s, at which a puck leaves for the far half
STOPPED = 0.1  # m/s, below which it counts as stopped

State = Float[ndarray, " n"]


@dataclass(frozen=True)
class Task:
    """A task.

    Attributes:
        start: Draws x and y, m, velocity, m/s, and spin, rad/s.
        is_over: Whether it ends at a state, the table's ends apart.
        succeeded: Whether it succeeded, from its last state.
    """

    name: str
    start: Callable[[np.random.Generator], Float[ndarray, "5"]]
    is_over: Callable[[State], bool]
    succeeded: Callable[[State], bool]


def _hit_start(draw: np.random.Generator) -> Float[ndarray, "5"]:
    x, y = draw.uniform((-0.7, -READY_Y), (-0.2, READY_Y))
    speed, angle = draw.uniform(0.0, 0.5), draw.uniform(-1.0, 1.0) * (0.5 * math.pi + 0.1)
    velocity = -speed * math.cos(angle), speed * math.sin(angle)
    return np.array((x, y, *velocity, draw.uniform(-2.0, 2.0)))


def _hit_is_over(state: State) -> bool:
    return bool(state[0] > 0.0 and state[3] < 0.0)


def _hit_succeeded(state: State) -> bool:
    return bool(state[0] > _TABLE.half_length and abs(state[1]) < _TABLE.goal_half_width)


def _defend_start(draw: np.random.Generator) -> Float[ndarray, "5"]:
    x, y = draw.uniform((0.29, -0.4), (0.65, 0.4))
    speed, angle = draw.uniform(1.0, 3.0), draw.uniform(-0.5, 0.5)
    velocity = -speed * math.cos(angle), speed * math.sin(angle)
    return np.array((x, y, *velocity, draw.uniform(-10.0, 10.0)))


def _defend_is_over(state: State) -> bool:
    left = state[0] > 0.0 and state[3] > 0.0
    return bool(left or math.hypot(state[3], state[4]) < STOPPED)


def _defend_succeeded(state: State) -> bool:
    return bool(READY_X[0] < state[0] <= READY_X[1] and state[3] < FORWARD)


def _prepare_start(draw: np.random.Generator) -> Float[ndarray, "5"]:
    """At rest at a long rim or at the own wall, each as often as its area says."""
    farthest = _TABLE.wall_y - 0.002
    side = (READY_X, (READY_Y, farthest))
    bottom = ((-0.94, -0.8), (_TABLE.goal_half_width, farthest))
    areas = [(x[1] - x[0]) * (y[1] - y[0]) for x, y in (side, bottom)]
    x, y = side if draw.random() < areas[0] / sum(areas) else bottom
    return np.array((draw.uniform(*x), draw.uniform(*y) * draw.choice((-1, 1)), 0.0, 0.0, 0.0))


def _prepare_is_over(state: State) -> bool:
    return bool(state[0] > 0.0 or abs(state[1]) < 0.01)


def _prepare_succeeded(state: State) -> bool:
    return bool(_defend_succeeded(state) and abs(state[1]) < READY_Y)


HIT = Task("hit", _hit_start, _hit_is_over, _hit_succeeded)
DEFEND = Task("defend", _defend_start, _defend_is_over, _defend_succeeded)
PREPARE = Task("prepare", _prepare_start, _prepare_is_over, _prepare_succeeded)
TASKS: Mapping[str, Task] = {task.name: task for task in (HIT, DEFEND, PREPARE)}
"""By name."""
