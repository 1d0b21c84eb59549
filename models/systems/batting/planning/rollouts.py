"""What becomes of an object under a path of the bat, up to its second impact with the bat.

Fu et al. plan "for the duration of one bat": until the object strikes the bat a second time.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.systems.batting.bat import SLACK, BatPath, angle_and_rate, time_to_knot
from ricochet.models.systems.batting.camera import project
from ricochet.models.systems.batting.motion import advance
from ricochet.models.systems.batting.table import Table
from ricochet.models.systems.batting.world import World

LONGEST_STEP = 0.1  # s, so that chords are within 1.3 mm of parabolas
WATCHED = 0.4  # s between the instants at which an object is watched
INSTANTS = 30  # that are watched


class Outcome(NamedTuple):
    """Of one bat.

    Attributes:
        passes: Of the goal, from now to the second impact with the bat.
        first, second: Instants of the first and the second impact, s; the horizon: none.
        closest: Least squared distance from the goal between the two, m^2.
    """

    passes: float
    first: float
    second: float
    closest: float


@compiled
def follow(
    state: Float[ndarray, " 6"],
    kind: int,
    path: BatPath,
    horizon: float,
    delta: float,
    world: World,
    counts: Int[ndarray, " 3"],
    seen: Float[ndarray, "instant 4"],
) -> Outcome:
    """Move an object in place until its second impact with the bat, or to a horizon.

    Args:
        state, kind, counts: Of the object, as in `motion.advance`; changed.
        path: Of the bat, from now on.
        horizon: Longest time, s.
        delta: How near the goal a pass comes, m.
        world: What is simulated.
        seen: Is written: both ends on the screen and x and y at WATCHED, 2 WATCHED .., m; from the
            end on what was last. Without rows nothing is watched.
    """
    instant = 0
    time, first, passes, closest, bats = 0.0, horizon, 0.0, np.inf, counts[2]
    armed = squared_distance(state, world.table) > delta * delta
    while time < horizon:
        while instant < len(seen) and time >= (instant + 1) * WATCHED - SLACK:
            seen[instant, 0], seen[instant, 1] = project(state, kind, world)
            seen[instant, 2], seen[instant, 3] = state[0], state[1]
            instant += 1
        step = min(LONGEST_STEP, time_to_knot(path, time), horizon - time)
        if instant < len(seen):
            step = min(step, (instant + 1) * WATCHED - time)
        bat = angle_and_rate(path, time)
        passed, near = advance(state, kind, bat, step, world, counts, True)
        time += passed
        passes += 1.0 if armed and near < delta * delta else 0.0
        if first < horizon:
            closest = min(closest, near)
        outside = squared_distance(state, world.table) > delta * delta
        armed = outside or (armed and near >= delta * delta)
        if counts[2] > bats:
            if first < horizon:
                _fill(seen, instant, state, kind, world)
                return Outcome(passes, first, time, closest)
            bats, first = counts[2], time
    _fill(seen, instant, state, kind, world)
    return Outcome(passes, first, horizon, closest)


@compiled
def _fill(
    seen: Float[ndarray, "instant 4"],
    instant: int,
    state: Float[ndarray, " 6"],
    kind: int,
    world: World,
) -> None:
    if instant < len(seen):
        lower, upper = project(state, kind, world)
        for k in range(instant, len(seen)):
            seen[k, 0], seen[k, 1], seen[k, 2], seen[k, 3] = lower, upper, state[0], state[1]


@compiled
def time_of_impact(
    state: Float[ndarray, " 6"], kind: int, angle: float, horizon: float, world: World
) -> float:
    """Return when an object strikes a bat that rests at an angle, s; infinite after a horizon."""
    moved, counts, time = state.copy(), np.zeros(3, np.int64), 0.0
    while time < horizon:
        passed, _ = advance(moved, kind, (angle, 0.0), LONGEST_STEP, world, counts, True)
        time += passed
        if counts[2] > 0:
            return time
    return np.inf


@compiled
def squared_distance(state: Float[ndarray, " state"], table: Table) -> float:
    """Return the squared distance of the centre of mass from the goal, m^2."""
    return (state[0] - table.goal_x) ** 2 + (state[1] - table.goal_y) ** 2
