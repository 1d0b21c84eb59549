r"""Where and how a fast puck is met so that it stays in the own half.

A heavy mallet that stands gives a puck back with part of its speed; one that recedes takes that
away. With n from the mallet to the puck, the strike's law (`strikes`) along it is

    v+_n = a v_n + b v_t + c m + d,    so that    m = (w - a v_n - b v_t - d) / c

is the mallet's speed along n, negative where it recedes, which leaves the puck at w. Tried are
contacts at several times of the puck's path, n against its velocity and a little to either side of
that, and several w. What follows a contact floats with drag k until it is slower than `SLOW`,

    x_e = x + (1 - SLOW / |v|) v / k    (x_e = x where |v| < SLOW),

with v ~ N(v+, S) as a strike leaves it. The expected worth is a Gauss-Hermite sum over v: 1 for a
puck that ends in the area `STAYS`, 0 for one that enters the own goal, and `ELSEWHERE` for any
other. States are of the puck in m, m/s, m/s^2 in the table's frame; angles in rad, times in s.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.systems.air_hockey.challenge_tasks import READY_X, STOPPED
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from ricochet.models.systems.air_hockey.table import WIDEST_PUSH, Table

STAYS, SLOW = READY_X, STOPPED
"""x of a puck that was stopped in front of the goal, m, and the speed below which it counts as
stopped, m/s (the challenge's task of defending)."""
ELSEWHERE = 0.5
"""Worth of a puck that neither stays nor enters the own goal."""
TURNS = (0.0, -0.3, 0.3)
"""Of the normal off the puck's way, rad."""
LEFT = (0.0, 0.1, 0.2)
"""Speeds along the normal that a puck is to be left at, m/s."""
FASTEST = 0.9
"""Largest speed at which the mallet recedes, m/s."""
MARGIN = 0.03
"""By how much a contact keeps off the bounds of the mallet's centre, m."""
SLOWEST = 0.05
"""Speed against each other from which a contact counts, m/s."""
_NODES = 5  # of the sum, on each axis


@dataclass(frozen=True)
class Stops:
    """Ways to meet a puck, the best of each time; arrays of the times.

    Attributes:
        angle: Of the normal, rad.
        speed: Of the mallet along it, m/s; 0 or less.
        worth: Expected; -inf where the mallet cannot be there.
    """

    angle: Float[ndarray, " time"]
    speed: Float[ndarray, " time"]
    worth: Float[ndarray, " time"]


def rank_stops(conditions: Conditions, states: Float[ndarray, "time 6"]) -> Stops:
    """Return the best way to meet a puck in each of its states."""
    turn, left = (part.ravel() for part in np.meshgrid(TURNS, LEFT, indexing="ij"))
    shape = (len(states), len(turn))
    rows = np.broadcast_to(states[:, None], (*shape, 6)).reshape(-1, 6)
    angle = np.arctan2(-rows[:, 3], -rows[:, 2]) + np.broadcast_to(turn, shape).ravel()
    angle = np.remainder(angle + np.pi, 2.0 * np.pi) - np.pi
    normal = np.stack((np.cos(angle), np.sin(angle)), -1)
    wanted = np.broadcast_to(left, shape).ravel()
    speed = _mallet_speed(conditions.modes, rows, normal, wanted)
    worth = np.full(len(rows), -np.inf)
    can = np.flatnonzero(_within_reach(conditions, rows, normal, angle, speed))
    worth[can] = worths(conditions, rows[can], normal[can], speed[can])
    best = worth.reshape(shape).argmax(-1) + len(turn) * np.arange(len(states))
    return Stops(angle[best], speed[best], worth[best])


def worths(
    conditions: Conditions,
    states: Float[ndarray, "stop 6"],
    normal: Float[ndarray, "stop 2"],
    speed: Float[ndarray, " stop"],
) -> Float[ndarray, " stop"]:
    """Return the expected worth of meeting pucks with the mallet's speed along a normal."""
    mean, spread = objective.launched(conditions, states, normal, speed)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weight = (weights[:, None] * weights).ravel() / weights.sum() ** 2
    steps = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), -1).reshape(-1, 2)
    root = np.linalg.cholesky(spread[:, 2:4, 2:4] + 1e-12 * np.eye(2))
    velocity = mean[:, None, 2:4] + steps @ root.swapaxes(-1, -2)
    found = worth_of_end(conditions.modes, conditions.table, mean[:, None, :2], velocity)
    return np.asarray(found @ weight)


def worth_of_end(
    modes: PuckModes,
    table: Table,
    place: Float[ndarray, "*#batch 2"],
    velocity: Float[ndarray, "*batch 2"],
) -> Float[ndarray, "*batch"]:
    """Return the worth of where pucks end that leave a place, m, at velocities, m/s."""
    speed = np.linalg.norm(velocity, axis=-1, keepdims=True)
    way = np.maximum(1.0 - SLOW / np.maximum(speed, SLOW), 0.0) * velocity / max(modes.drag, 1e-3)
    x = place[..., 0] + way[..., 0]
    stays = (x > STAYS[0]) & (x < STAYS[1])
    to_line = (-table.half_length - place[..., 0]) / np.minimum(way[..., 0], -1e-9)
    at_line = place[..., 1] + to_line * way[..., 1]
    own = (x < -table.half_length) & (np.abs(at_line) < table.goal_half_width)
    return np.where(stays, 1.0, np.where(own, 0.0, ELSEWHERE))


def _mallet_speed(
    modes: PuckModes,
    states: Float[ndarray, "stop 6"],
    normal: Float[ndarray, "stop 2"],
    left: Float[ndarray, " stop"],
) -> Float[ndarray, " stop"]:
    """Return the mallet's speed along the normal that leaves pucks at some speed, m/s."""
    law = modes.mallet
    along = (states[:, 2:4] * normal).sum(-1)
    across = states[:, 3] * normal[:, 0] - states[:, 2] * normal[:, 1]
    gained = law.matrix[0, 0] * along + law.matrix[0, 1] * across + law.offset[0]
    return np.asarray(np.clip((left - gained) / law.matrix[0, 2], -FASTEST, 0.0))


def _within_reach(
    conditions: Conditions,
    states: Float[ndarray, "stop 6"],
    normal: Float[ndarray, "stop 2"],
    angle: Float[ndarray, " stop"],
    speed: Float[ndarray, " stop"],
) -> Bool[ndarray, " stop"]:
    """Return whether the mallet may be there, with room behind it, and meets the puck."""
    table = conditions.table
    place = states[:, :2] - table.contact_radius * normal
    behind = place + np.minimum(speed, 0.0)[:, None] * normal * 0.1
    inside = (behind[:, 0] > table.mallet_front + MARGIN) & (place[:, 0] < 0.0)
    inside &= np.abs(behind[:, 1]) < table.mallet_side - MARGIN
    inside &= (np.abs(place[:, 1]) < table.mallet_side - MARGIN) & (np.abs(angle) < WIDEST_PUSH)
    meets = (states[:, 2:4] * normal).sum(-1) < speed - SLOWEST
    return np.asarray(inside & meets & (states[:, 2] < 0.0))
