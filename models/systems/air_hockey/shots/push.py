r"""Where a soft stroke brings a puck that cannot be shot: into the open, where it can be.

A push is an angle, any, and a speed of the mallet, much less than it could be. The mean of what
follows is stepped through floating and banks for `LONGEST`; its covariance is that of floating
alone,

    P_k = M_k P_0 M_k^T + C_k,

since a slow puck's is that of the strike. With P(A) the probability of being in an area then, its
axes taken as independent,

    P(A) = prod over both axes of Phi((a_1 - a) / s) - Phi((a_0 - a) / s),

a push is worth, by what it is for (`Aim`):

    into_the_open   (P(`OPEN`) + P(`REACH`)) / 2 after `SOON`: a puck at the own wall is brought off
                    it first. The puck must then be slow
    to_rest         P(ready) where it comes to rest, as the challenge's task of preparing asks: or
                    where it crosses the table's middle, y = 0, if it does so without going forward

Only pushes count after which the puck was never near the middle line, over which it must not come
back, nor behind the own line. One that brings it back to the mallet while that brakes is the last
resort. States are those of the
puck at contact in m, m/s, m/s^2; angles are in rad.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from scipy.special import ndtr

from ricochet.models.systems.air_hockey.arm.stroke_path import BRAKE, HOLD
from ricochet.models.systems.air_hockey.challenge_tasks import FORWARD, READY_X, READY_Y
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from ricochet.models.systems.air_hockey.table import Table

Area = tuple[tuple[float, float], tuple[float, float]]
STRIDE = 2  # periods that a path is stepped by
SOON, LONGEST = 1.2, 2.0  # s after the push
OPEN: Area = ((-0.66, -0.28), (-0.33, 0.33))
"""x and y from which nearly every puck can be shot, m."""
REACH: Area = ((-0.85, -0.25), (-0.42, 0.42))
"""x and y from which nearly every puck can be pushed into the open, m."""
READY: Area = (READY_X, (-READY_Y, READY_Y))
SPEEDS = (0.12, 0.18, 0.25, 0.4, 0.6)
"""Of the mallet at contact, m/s."""
ANGLES = np.linspace(-np.pi, np.pi, 48, endpoint=False)
WIND_UP = 0.12
"""Time of steady acceleration before the contact, s: the run-up is short, for a wall is near."""
MARGIN = 0.012
"""By how much the mallet keeps off the bounds of its centre, m."""
HARD = 0.3
"""Share of its worth that a push loses by a m/s of speed: the harder, the less it is predicted."""
BACKWARD = 0.4
"""Share that it loses straight towards the own goal."""
AGAIN = 0.3
"""Share that is left where the puck comes back to the mallet while that brakes."""
LEAST = 0.2
"""Worth that makes a push worth its while."""
_SLOW = 0.45  # m/s, then
_FARTHEST = -0.08  # m, that x may get to
_MOUTH = 0.1  # m, by which a puck keeps off the own goal where it meets the wall
_CLEAR = 0.01  # m, that a puck keeps off the mallet that brakes
_MIDDLE = 0.01  # m, about y = 0


@dataclass(frozen=True)
class Pushes:
    """Pushes, the best first: angles, rad, the mallet's speeds, m/s, and worths, at most 1."""

    angle: Float[ndarray, " push"]
    speed: Float[ndarray, " push"]
    worth: Float[ndarray, " push"]


@dataclass(frozen=True)
class Paths:
    """Means of x, y and their rates after pushes, every `STRIDE` periods, m and m/s.

    Attributes:
        spread: Covariance of the states right after the pushes.
    """

    mean: Float[ndarray, "time push 4"]
    spread: Float[ndarray, "push 6 6"]
    modes: PuckModes

    def sd(self, at: Int[ndarray, " push"]) -> Float[ndarray, "push 4"]:
        """Return standard deviations of each path at its own time."""
        flights = self.modes.flights
        matrix = flights.matrix[STRIDE * at, :4]
        spread = matrix @ self.spread @ matrix.swapaxes(-1, -2)
        spread = spread + flights.covariance[STRIDE * at, :4, :4]
        return np.sqrt(np.maximum(np.einsum("nii->ni", spread), 1e-9))

    @property
    def drag(self) -> float:
        """Of floating, 1/s; no less than what lets a puck rest at all."""
        return max(self.modes.drag, 0.05)


Aim = Callable[[Paths], Float[ndarray, " push"]]


def into_the_open(paths: Paths) -> Float[ndarray, " push"]:
    """Return the worth of pushes after which the puck is to be shot or pushed again."""
    soon = round(SOON / PERIOD / STRIDE)
    mean, sd = paths.mean[soon], paths.sd(np.full(len(paths.spread), soon))
    worth = 0.5 * (_inside(mean, sd, OPEN) + _inside(mean, sd, REACH))
    return np.where(np.hypot(mean[:, 2], mean[:, 3]) < _SLOW, worth, 0.0)


def to_rest(paths: Paths) -> Float[ndarray, " push"]:
    """Return the worth of pushes after which the puck is left alone."""
    crosses = np.diff(np.sign(paths.mean[..., 1]), axis=0) != 0.0
    ends = crosses.any(0)
    at = np.where(ends, crosses.argmax(0), len(paths.mean) - 1)
    mean, sd = paths.mean[at, np.arange(len(at))], paths.sd(at)
    rest = mean.copy()
    rest[:, :2] += np.where(ends, 0.0, 1.0)[:, None] * mean[:, 2:] / paths.drag
    wide = np.hypot(sd[:, :2], np.where(ends, 0.0, 1.0)[:, None] * sd[:, 2:] / paths.drag)
    backward = ndtr((FORWARD - mean[:, 2]) / sd[:, 2])
    return np.asarray(_inside(rest, wide, READY) * np.where(ends, backward, 1.0))


def rank_pushes(conditions: Conditions, state: Float[ndarray, " 6"], aim: Aim) -> Pushes:
    """Return the pushes of a puck at contact that are worth their while."""
    angle, speed = (part.ravel() for part in np.meshgrid(ANGLES, SPEEDS, indexing="ij"))
    normal = np.stack((np.cos(angle), np.sin(angle)), -1)
    closing = speed - (state[2:4] * normal).sum(-1)
    can = np.flatnonzero((closing > 0.0) & _has_room(conditions.table, state, normal, speed))
    states = np.broadcast_to(state, (len(can), 6))
    worth = worths(conditions, states, normal[can], speed[can], aim)
    order = np.argsort(-worth, kind="stable")[: np.count_nonzero(worth >= LEAST)]
    return Pushes(angle[can][order], speed[can][order], worth[order])


def worths(
    conditions: Conditions,
    states: Float[ndarray, "push 6"],
    normal: Float[ndarray, "push 2"],
    speed: Float[ndarray, " push"],
    aim: Aim,
) -> Float[ndarray, " push"]:
    """Return what each push is worth."""
    table = conditions.table
    mean, spread = objective.launched(conditions, states, normal, speed)
    paths = Paths(follow(conditions.modes, mean, table), spread, conditions.modes)
    x, y = paths.mean[..., 0], paths.mean[..., 1]
    mouth = (x < -table.wall_x) & (np.abs(y) < table.goal_half_width + _MOUTH)
    stays = (x.max(0) < _FARTHEST) & ~mouth.any(0)
    again = _meets_again(table, states, normal, speed, paths.mean[..., :2])
    trust = np.where(again, AGAIN, 1.0) * (1.0 - HARD * speed)
    trust *= 1.0 - BACKWARD * np.maximum(-normal[:, 0], 0.0)
    return np.where(stays, trust * aim(paths), 0.0)


def follow(
    modes: PuckModes, states: Float[ndarray, "push 6"], table: Table
) -> Float[ndarray, "time push 4"]:
    """Return the means of pucks every `STRIDE` periods for `LONGEST`, from now on, banks in them.

    A bank takes place at a stride's end, where the puck is still seen beyond the wall; the wall's
    own offset of speed is left out.
    """
    flights, wall = modes.flights, modes.wall.matrix
    matrix, offset = flights.matrix[STRIDE], flights.offset[STRIDE]
    limits, rows = np.array((table.wall_x, table.wall_y)), np.array(states)
    found = [rows[:, :4].copy()]
    for _ in range(round(LONGEST / PERIOD / STRIDE)):
        rows = rows @ matrix.T + offset
        found.append(rows[:, :4].copy())
        over = (np.abs(rows[:, :2]) > limits) & (rows[:, :2] * rows[:, 2:4] > 0.0)
        over[:, 0] &= np.abs(rows[:, 1]) > table.goal_half_width
        if over.any():
            for axis in (0, 1):
                _turn_back(rows, np.flatnonzero(over[:, axis]), axis, limits[axis], wall)
    return np.stack(found)


def _turn_back(
    rows: Float[ndarray, "push 6"],
    hit: Int[ndarray, " hit"],
    axis: int,
    limit: float,
    wall: Float[ndarray, "2 2"],
) -> None:
    """Turn back, in place, pucks that are beyond a wall."""
    beyond = np.sign(rows[hit, axis])
    rows[hit, axis] = beyond * limit + wall[0, 0] * (rows[hit, axis] - beyond * limit)
    rows[hit, 2 + axis] *= wall[0, 0]
    rows[hit, 3 - axis] *= wall[1, 1]


def _has_room(
    table: Table,
    state: Float[ndarray, " 6"],
    normal: Float[ndarray, "push 2"],
    speed: Float[ndarray, " push"],
) -> Bool[ndarray, " push"]:
    """Return whether the mallet stays within its bounds from the run-up until it has braked."""
    touch = state[:2] - table.contact_radius * normal
    back, on = (way * speed[:, None] * normal for way in (-0.5 * WIND_UP, HOLD + 0.5 * BRAKE))
    inside = np.ones(len(speed), bool)
    for place in (touch + back, touch + on):
        inside &= place[:, 0] > table.mallet_front + MARGIN
        inside &= np.abs(place[:, 1]) < table.mallet_side - MARGIN
    return inside


def _meets_again(
    table: Table,
    states: Float[ndarray, "push 6"],
    normal: Float[ndarray, "push 2"],
    speed: Float[ndarray, " push"],
    places: Float[ndarray, "time push 2"],
) -> Bool[ndarray, " push"]:
    """Return whether a puck comes back to the mallet before that has left, 0.5 s later."""
    way = (HOLD + 0.5 * BRAKE) * speed
    mallet = states[:, :2] + (way - table.contact_radius)[:, None] * normal
    first, last = (round(time / PERIOD / STRIDE) for time in (HOLD + BRAKE, 0.5))
    apart = np.linalg.norm(places[first : last + 1] - mallet, axis=-1)
    return np.asarray((apart < table.contact_radius + _CLEAR).any(0))


def _inside(
    mean: Float[ndarray, "push n"], sd: Float[ndarray, "push m"], area: Area
) -> Float[ndarray, " push"]:
    """Return the probability of being in an area."""
    low, high = np.transpose(area)
    place, wide = mean[:, :2], sd[:, :2]
    return np.asarray((ndtr((high - place) / wide) - ndtr((low - place) / wide)).prod(-1))
