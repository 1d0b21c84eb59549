"""Which stops and pushes an agent plans: contacts that ask for no speed, from where the arm is.

`shots.stop` says what it is worth to meet a puck that comes fast at each of several times of its
predicted path, `shots.push` what a soft stroke into one that cannot be shot is. Neither needs the
table of strokes: the posture is the nearest to where the arm is, for speed is easy and time may be
short. Times are in s.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm import stroke_path
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact, unit_speeds
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.shots.push import WIND_UP, Aim, rank_pushes
from ricochet.models.systems.air_hockey.shots.stop import ELSEWHERE, rank_stops
from ricochet.models.systems.air_hockey.strike_plan import (
    MISSED,
    WAITING,
    StrikeContext,
    StrikePlan,
)
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE

TIMES = np.arange(0.14, 2.0, 3 * PERIOD)  # until the contact
QUICKEST = 1.4
"""Least time of a move from rest to rest, in units of that at the joints' full speeds."""
LOW = iiwa.LINK_HEIGHT + 0.03  # m
"""Height of link 7 under which a posture far out is that of a stroke, not the nearest."""
FARTHEST = 1.42
"""How far off the base's axis a mallet may be, m."""
LIKELY = 0.1
"""Half the least chance to stay that makes a puck worth stopping that enters no goal."""


def enters_own_goal(context: StrikeContext, puck: piecewise_filter.State) -> bool:
    """Return whether a puck, left alone, enters the own goal by the last of the times."""
    table = context.table
    states = [piecewise_filter.predict(puck, time)[0] for time in (0.0, float(TIMES[-1]))]
    return bool(states[0][2] < 0.0 and states[1][0] < -table.half_length)


def find_stops(
    context: StrikeContext, puck: piecewise_filter.State, *, joints: Float[ndarray, " 7"]
) -> tuple[StrikePlan, ...]:
    """Return ways to stop a puck, the best first, that arms may get to in time from `joints`.

    None is better than letting it pass if that leads to no own goal, unless it is likely to stay.
    """
    states = np.array([piecewise_filter.predict(puck, time)[0] for time in TIMES])
    beyond = np.flatnonzero(states[:, 0] < -context.table.half_length)
    states = states[: beyond[0] if len(beyond) else None]
    if not len(states):
        return ()
    times, found = TIMES[: len(states)], rank_stops(context.conditions, states)
    postures, least = _postures(context, states, found.angle, joints)
    worth = found.worth - WAITING * times
    enough = found.worth >= (0.0 if len(beyond) else ELSEWHERE + LIKELY)
    worth = np.where(enough & (times >= least), worth, -np.inf)
    order = [k for k in np.argsort(-worth, kind="stable") if np.isfinite(worth[k])]
    return tuple(
        StrikePlan(
            float(times[k]),
            float(found.angle[k]),
            easy_contact(postures[k], found.angle[k], found.speed[k]),
            states[k],
            worth=float(found.worth[k]),
        )
        for k in order
    )


def find_pushes(
    context: StrikeContext,
    puck: piecewise_filter.State,
    *,
    joints: Float[ndarray, " 7"],
    left: float,
    aim: Aim,
    which: slice,
) -> tuple[StrikePlan, ...]:
    """Return some pushes of where a puck will be, of all that are worth it, the best first."""
    state, _ = piecewise_filter.predict(puck, left)
    found = rank_pushes(context.conditions, state, aim)
    angle, speed = found.angle[which], found.speed[which]
    states = np.broadcast_to(state, (len(angle), 6))
    postures, least = _postures(context, states, angle, joints)
    return tuple(
        StrikePlan(left, float(a), easy_contact(q, a, v, duration=t), state, is_push=True)
        for q, a, v, t in zip(postures, angle, speed, least + WIND_UP, strict=True)
        if np.isfinite(t)
    )


def easy_contact(
    joints: Float[ndarray, " 7"], angle: float, speed: float, *, duration: float = WIND_UP
) -> Contact:
    """Return a contact at a low speed along an angle, or not positive where it recedes, m/s."""
    speeds = speed * unit_speeds(joints, np.array(angle))
    start = stroke_path.start_posture(joints, speeds, wind_up=np.array(WIND_UP))
    return Contact(joints, speeds, float(speed), float(duration), start, WIND_UP)


def _postures(
    context: StrikeContext,
    states: Float[ndarray, "row 6"],
    angle: Float[ndarray, " row"],
    joints: Float[ndarray, " 7"],
) -> tuple[Float[ndarray, "row 7"], Float[ndarray, " row"]]:
    """Return postures that meet pucks at angles, near `joints` if they can, and least times.

    What is out of reach takes for ever.
    """
    table, normal = context.table, np.stack((np.cos(angle), np.sin(angle)), -1)
    mallet = states[:, :2] - np.array(table.robot_base[:2]) - table.contact_radius * normal
    tip = np.column_stack((mallet, np.full(len(states), iiwa.TIP_HEIGHT)))
    postures = splines.seek(np.broadcast_to(joints, (len(states), 7)), tip, steps=8)
    far = np.flatnonzero(iiwa.pose(postures).link7 < LOW)
    if len(far):
        where = np.column_stack((mallet[far], np.clip(angle[far], -LARGEST_ANGLE, LARGEST_ANGLE)))
        postures[far] = context.strokes.stroke(where).joints
    least = (QUICKEST * np.abs(postures - joints) / iiwa.SPEED_LIMIT).max(-1)
    off = np.linalg.norm(iiwa.tip(postures) - tip, axis=-1)
    reached = (off < MISSED) & (np.hypot(*mallet.T) < FARTHEST)
    return postures, np.where(reached, least, np.inf)
