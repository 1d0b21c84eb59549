r"""Which shot is best: goal probability against speed, under a chance constraint.

A shot is one angle u: the mallet meets the puck along e_u = (cos u, sin u), its centre behind the
puck's on that line, as fast as the arm can there (Sec. IV-B). What follows is rolled out, and

    max_u  lambda_1 G(u) + lambda_2 v(u)    subject to    G(u) >= beta              (Eq. 12)

with G the goal probability, times that of getting past an opponent (`block_probability`), and v the
mean speed of the puck at the goal line. The aim is never perfect: where the mallet meets the puck a
little to the side, the normal of the contact is turned. That uncertainty is in the covariance of
the puck's place at contact (`contact_covariance`), which a strike turns into uncertainty of the
direction (`strikes.struck`).

Of the shots within `TOLERANCE` of the best objective the one of highest G is taken: without it an
aggressive setting sits on the edge of its own chance constraint, and the smallest error of the
model pushes it over. Where no shot keeps the constraint, the one of highest G is taken.

States are those of the puck at contact in m, m/s, m/s^2; angles are shooting angles, rad.

Source: Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey", Secs. IV-A to IV-C.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.systems.air_hockey.opponent.block_probability import block_probability
from ricochet.models.systems.air_hockey.opponent.tracker import OpponentTracker
from ricochet.models.systems.air_hockey.puck import strikes
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.shots import goal_probability
from ricochet.models.systems.air_hockey.shots.crossings import Crossing
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE, Table

TOLERANCE = 0.05
"""Of the objective, that is given up for a surer shot."""
PUSHING, LESS_ASIDE = 0.978, 0.010
"""Share of a stroke's speed that is left midway of the touch when straight ahead, and by how much
it is less per squared angle, 1/rad^2; `python -m benchmarks.air_hockey.stroke_speeds`."""
LOW = (-0.75, -0.42, -0.5, -0.5, -0.15, -0.15)
HIGH = (-0.15, 0.42, 0.5, 0.5, 0.15, 0.15)
"""Bounds of the puck's state at contact: m, m/s, m/s^2."""
_QUICK = 0.12  # m/s, sd of the velocity of most pucks at contact
CHUNK = 16384
"""Shots rolled out at a time."""
_FEW = 20  # shots that are rolled out as they are


@dataclass(frozen=True)
class Setting:
    """The weights and the constraint of Eq. 12.

    Attributes:
        goal_weight: lambda_1.
        speed_weight: lambda_2, s/m.
        least_goal: beta, the promised probability of a goal.
    """

    name: str
    goal_weight: float
    speed_weight: float
    least_goal: float


SETTINGS = (
    Setting("cautious", 1.0, 0.0, 0.5),
    Setting("balanced", 1.0, 0.2, 0.5),
    Setting("aggressive", 0.0, 1.0, 0.5),
)
"""Those of the paper's Fig. 5 and Table I."""

Speed = Callable[[Float[ndarray, "*batch 2"], Float[ndarray, "*batch"]], Float[ndarray, "*batch"]]
"""Speed of the mallet, m/s, that the arm reaches along an angle with the mallet's centre at a place
in the robot's frame; 0 where it cannot shoot."""


@dataclass(frozen=True)
class Conditions:
    """What decides a shot: `Strokes.speed`, and the puck's covariance as the mallet meets it."""

    modes: PuckModes
    speed: Speed
    covariance: Float[ndarray, "6 6"]
    table: Table = field(default_factory=Table)


@dataclass(frozen=True)
class Opposed:
    """An opponent in goal, and how long it is until each shot's contact, s."""

    opponent: OpponentTracker
    until_contact: Float[ndarray, "*batch"]


@dataclass(frozen=True)
class Shots:
    """The outcomes of shots.

    Attributes:
        goal: Probability of a clean goal.
        speed: Mean speed of the puck on the goal line, m/s; 0 where it does not get there.
        banks: Banks of the long rims on the way.
        y: Mean place on the goal line, m; NaN where it does not get there. Speed, banks and place
            are those after the usual first bank.
    """

    goal: Float[ndarray, "*batch"]
    speed: Float[ndarray, "*batch"]
    banks: Int[ndarray, "*batch"]
    y: Float[ndarray, "*batch"]


def take(shots: Shots, index: Int[ndarray, " state"]) -> Shots:
    """Return one shot of each row, by its number."""
    rows = np.arange(len(index))
    return Shots(*(n[rows, index] for n in (shots.goal, shots.speed, shots.banks, shots.y)))


def contact_covariance(
    *, aim: float = 0.002, velocity: float = 0.01, airflow: float = 0.03
) -> Float[ndarray, "6 6"]:
    """Return the covariance of a puck's state at contact, as the mallet meets it.

    Args:
        aim: Of each axis of the place, mallet against puck: estimate and tracking, m.
        velocity: Of each axis, m/s.
        airflow: Of each axis, after the puck was watched, m/s^2.
    """
    return np.diag(np.repeat((aim**2, velocity**2, airflow**2), 2))


def draw_states(
    count: int, *, airflow_sd: float, draw: np.random.Generator
) -> Float[ndarray, "state 6"]:
    """Draw pucks at contact: anywhere in reach, mostly slow, a quarter up to the bounds."""
    low, high = np.array(LOW), np.array(HIGH)
    states = draw.uniform(low, high, (count, 6))
    slow = draw.random(count) < 0.75
    states[slow, 2:4] = _QUICK * draw.standard_normal((np.count_nonzero(slow), 2))
    states[:, 4:6] = airflow_sd * draw.standard_normal((count, 2))
    return states.clip(low, high)


def draw_angles(
    count: int, candidates: int, *, draw: np.random.Generator
) -> Float[ndarray, "state angle"]:
    """Draw ascending angles for a count of states, one in each of equal parts of the range."""
    share = (np.arange(candidates) + draw.random((count, candidates))) / candidates
    return LARGEST_ANGLE * (2.0 * share - 1.0)


def evaluate(
    conditions: Conditions,
    states: Float[ndarray, "*batch 6"],
    angles: Float[ndarray, "*batch"],
    progress: Callable[[int], None] = lambda done: None,
    *,
    opposed: Opposed | None = None,
    likely: bool = False,
) -> Shots:
    """Roll out shots; progress is called with how many are done.

    Args:
        likely: Whether only those may be rolled out that may have a goal probability of one half;
            the rest count as no goals.
    """
    shape = angles.shape
    flat, angle = states.reshape(-1, 6), angles.reshape(-1)
    until = np.broadcast_to(opposed.until_contact if opposed else 0.0, shape).reshape(-1)
    opponent = opposed.opponent if opposed else None
    parts = []
    for start in range(0, max(len(flat), 1), CHUNK):
        chunk = slice(start, start + CHUNK)
        parts.append(
            _rolled_out(conditions, flat[chunk], angle[chunk], opponent, until[chunk], likely)
        )
        progress(min(start + CHUNK, len(flat)))
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return Shots(*(np.concatenate(column).reshape(shape) for column in columns))


def exhaustive(
    conditions: Conditions,
    states: Float[ndarray, "state 6"],
    angles: Float[ndarray, "state angle"],
    progress: Callable[[int], None] = lambda done: None,
) -> Shots:
    """Roll out every angle of every state; progress is called with how many shots are done."""
    shape = (*angles.shape, 6)
    return evaluate(conditions, np.broadcast_to(states[:, None], shape), angles, progress)


def objective(setting: Setting, shots: Shots) -> Float[ndarray, "*batch"]:
    """Return what is maximised in Eq. 12."""
    return np.asarray(setting.goal_weight * shots.goal + setting.speed_weight * shots.speed)


def feasible(setting: Setting, shots: Shots) -> Bool[ndarray, "*batch"]:
    """Return which shots keep the chance constraint."""
    return np.asarray(shots.goal >= setting.least_goal)


def best(setting: Setting, shots: Shots) -> Int[ndarray, "*batch"]:
    """Return the number of the best shot among those along the last axis."""
    allowed = feasible(setting, shots)
    value = np.where(allowed, objective(setting, shots), -np.inf)
    close = allowed & (value >= value.max(-1, keepdims=True) - TOLERANCE)
    close |= ~allowed.any(-1, keepdims=True)
    return np.asarray(np.where(close, shots.goal, -1.0).argmax(-1))


def pushing(angles: Float[ndarray, "*batch"]) -> Float[ndarray, "*batch"]:
    """Return the share of a stroke's speed with which the mallet pushes, 0.978 - 0.010 u^2.

    It is that for which strikes are learnt (`segmentation.PUSH`).
    """
    return np.asarray(PUSHING - LESS_ASIDE * angles**2)


def contact(
    conditions: Conditions, states: Float[ndarray, "*batch 6"], angles: Float[ndarray, "*batch"]
) -> tuple[Float[ndarray, "*batch 2"], Float[ndarray, "*batch"]]:
    """Return the contact's normal and the mallet's speed along it while it pushes, m/s.

    The speed is 0 where no stroke is possible.
    """
    table = conditions.table
    normal = np.stack((np.cos(angles), np.sin(angles)), -1)
    place = states[..., :2] - table.contact_radius * normal
    speed = pushing(angles) * conditions.speed(place - np.array(table.robot_base[:2]), angles)
    closing = speed - (states[..., 2:4] * normal).sum(-1)
    return normal, np.where(closing > 0.0, speed, 0.0)


def launched(
    conditions: Conditions,
    states: Float[ndarray, "*batch 6"],
    normal: Float[ndarray, "*batch 2"],
    speed: Float[ndarray, "*batch"],
) -> tuple[Float[ndarray, "*batch 6"], Float[ndarray, "*batch 6 6"]]:
    """Return mean and covariance of the state after a strike, given what `contact` returns."""
    before = np.broadcast_to(conditions.covariance, (*states.shape, 6))
    velocity = speed[..., None] * normal
    modes, table = conditions.modes, conditions.table
    return strikes.struck(modes, states, before, velocity, normal, table=table)


def _rolled_out(
    conditions: Conditions,
    states: Float[ndarray, "row 6"],
    angles: Float[ndarray, " row"],
    opponent: OpponentTracker | None,
    until: Float[ndarray, " row"],
    likely: bool,
) -> Shots:
    """Roll out the shots that the arm can play; the others are no goals."""
    none = 0.0 * angles
    shots = Shots(none, none.copy(), none.astype(int), none + np.nan)
    normal, speed = contact(conditions, states, angles)
    can = np.flatnonzero(speed > 0.0)
    mean, spread = launched(conditions, states[can], normal[can], speed[can])
    modes, table = conditions.modes, conditions.table
    if likely and len(can) > _FEW:
        kept = goal_probability.may_be_likely(modes, mean, table)
        can, mean, spread = can[kept], mean[kept], spread[kept]

    def passes(crossing: Crossing, rows: Int[ndarray, " row"]) -> Float[ndarray, " row"]:
        assert opponent is not None
        times = until[can][rows]
        return 1.0 - block_probability(opponent, crossing, table, until_contact=times)

    past = goal_probability.nobody if opponent is None else passes
    shots.goal[can], found = goal_probability.predict(modes, mean, spread, table, passes=past)
    shots.speed[can] = np.where(found.arrives, np.hypot(*found.velocity.T), 0.0)
    shots.banks[can], shots.y[can] = found.banks, found.y
    return shots
