"""The challenge's tasks: where pucks start, when an episode ends, and what counts."""

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.challenge_tasks import (
    DEFEND,
    HIT,
    PREPARE,
    READY_Y,
    TASKS,
    Task,
)


def starts(task: Task, count: int = 2000) -> np.ndarray:
    draw = np.random.default_rng(0)
    return np.stack([task.start(draw) for _ in range(count)])


def fills(values: np.ndarray, low: float, high: float) -> bool:
    """Whether values lie in a range and come within 1 % of both its ends."""
    slack = 0.01 * (high - low)
    inside = low <= values.min() and values.max() <= high
    return bool(inside and values.min() < low + slack and values.max() > high - slack)


def test_pucks_to_be_hit_roll_slowly_towards_the_robot_or_across() -> None:
    x, y, vx, vy, spin = starts(HIT).T
    assert fills(x, -0.7, -0.2) and fills(y, -0.39105, 0.39105) and fills(spin, -2.0, 2.0)
    assert fills(np.hypot(vx, vy), 0.0, 0.5)
    assert fills(np.arctan2(vy, -vx), -0.5 * np.pi - 0.1, 0.5 * np.pi + 0.1)


def test_pucks_to_be_stopped_come_fast_from_the_far_half() -> None:
    x, y, vx, vy, spin = starts(DEFEND).T
    assert fills(x, 0.29, 0.65) and fills(y, -0.4, 0.4) and fills(spin, -10.0, 10.0)
    assert fills(np.hypot(vx, vy), 1.0, 3.0) and fills(np.arctan2(vy, -vx), -0.5, 0.5)


def test_pucks_to_be_prepared_rest_at_a_rim_or_the_own_wall_as_often_as_their_areas_say() -> None:
    """47 % at the wall, within 3 standard errors; as many on each side."""
    x, y, *motion = starts(PREPARE).T
    assert not np.any(motion)
    bottom = x < -0.8
    side, wall = 0.6 * (0.48535 - READY_Y), 0.14 * (0.48535 - 0.125)
    assert bottom.mean() == pytest.approx(wall / (side + wall), abs=3.0 * np.sqrt(0.25 / 2000))
    assert (y > 0.0).mean() == pytest.approx(0.5, abs=3.0 * np.sqrt(0.25 / 2000))
    assert fills(x[bottom], -0.94, -0.8) and fills(x[~bottom], -0.8, -0.2)
    assert fills(np.abs(y[bottom]), 0.125, 0.48535)
    assert fills(np.abs(y[~bottom]), 0.39105, 0.48535)


@pytest.mark.parametrize(
    ("task", "state", "ends", "succeeds"),
    [
        (HIT, (0.3, 0.0, 0.0, -0.1, 0.0, 0.0), True, False),
        (HIT, (-0.3, 0.0, 0.0, 0.0, 0.0, 0.0), False, False),
        (HIT, (0.98, 0.12, 0.0, 1.0, 0.0, 0.0), False, True),
        (HIT, (0.98, 0.13, 0.0, 1.0, 0.0, 0.0), False, False),
        (DEFEND, (-0.5, 0.4, 0.0, 0.05, 0.0, 0.0), True, True),
        (DEFEND, (-0.85, 0.0, 0.0, 0.05, 0.0, 0.0), True, False),
        (DEFEND, (0.1, 0.0, 0.0, 0.5, 0.0, 0.0), True, False),
        (DEFEND, (0.1, 0.0, 0.0, -0.5, 0.0, 0.0), False, False),
        (DEFEND, (-0.5, 0.0, 0.0, 0.2, 0.0, 0.0), False, False),
        (PREPARE, (-0.5, 0.3, 0.0, 0.0, 0.0, 0.0), False, True),
        (PREPARE, (-0.5, 0.4, 0.0, 0.0, 0.0, 0.0), False, False),
        (PREPARE, (-0.5, 0.005, 0.0, 0.2, 0.1, 0.0), True, False),
        (PREPARE, (-0.5, 0.005, 0.0, 0.05, 0.1, 0.0), True, True),
        (PREPARE, (0.01, 0.3, 0.0, 0.05, 0.1, 0.0), True, False),
    ],
)
def test_a_task_ends_and_succeeds_as_its_rule_says(
    task: Task, state: tuple[float, ...], ends: bool, succeeds: bool
) -> None:
    assert (task.is_over(np.array(state)), task.succeeded(np.array(state))) == (ends, succeeds)


def test_tasks_are_found_by_name() -> None:
    assert {name: task.name for name, task in TASKS.items()} == {n: n for n in TASKS}
