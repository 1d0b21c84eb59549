"""Which stops an agent plans for a puck that comes fast: when, where, and how the mallet recedes.

`shots.stop` says what meeting the puck is worth at each of several times of its predicted path; the
arm's postures there are the nearest to where it is, for time is short. A contact is a stroke's, but
its speed along the normal is not positive. Times are in s.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm import stroke_path
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact, unit_speeds
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.shots.push import WIND_UP
from ricochet.models.systems.air_hockey.shots.stop import ELSEWHERE, rank_stops
from ricochet.models.systems.air_hockey.strike_plan import WAITING, StrikeContext, StrikePlan

TIMES = np.arange(0.14, 2.0, 3 * PERIOD)  # until the contact
QUICKEST = 1.4
"""Least time of a move from rest to rest, in units of that at the joints' full speeds."""
LIKELY = 0.1
"""Half the least chance to stay that makes a puck worth stopping that enters no goal."""


def find_stops(
    context: StrikeContext, puck: piecewise_filter.State, *, joints: Float[ndarray, " 7"]
) -> tuple[StrikePlan, ...]:
    """Return ways to stop a puck, the best first, that arms may get to in time from `joints`.

    None is better than letting it pass if that leads to no own goal, unless it is likely to stay.
    """
    table, times = context.table, TIMES
    states = np.array([piecewise_filter.predict(puck, time)[0] for time in times])
    beyond = np.flatnonzero(states[:, 0] < -table.half_length)
    states, times = (part[: beyond[0] if len(beyond) else None] for part in (states, times))
    if not len(states):
        return ()
    found = rank_stops(context.conditions, states)
    normal = np.stack((np.cos(found.angle), np.sin(found.angle)), -1)
    mallet = states[:, :2] - np.array(table.robot_base[:2]) - table.contact_radius * normal
    tip = np.column_stack((mallet, np.full(len(times), iiwa.TIP_HEIGHT)))
    postures = splines.seek(np.broadcast_to(joints, (len(times), 7)), tip, steps=8)
    least = (QUICKEST * np.abs(postures - joints) / iiwa.SPEED_LIMIT).max(-1)
    worth = found.worth - WAITING * times
    worth[(times < least) | (found.worth < (0.0 if len(beyond) else ELSEWHERE + LIKELY))] = -np.inf
    order = [k for k in np.argsort(-worth, kind="stable") if np.isfinite(worth[k])]
    return tuple(
        StrikePlan(
            float(times[k]),
            float(found.angle[k]),
            receding(postures[k], float(found.angle[k]), float(found.speed[k])),
            states[k],
            worth=float(found.worth[k]),
        )
        for k in order
    )


def receding(joints: Float[ndarray, " 7"], angle: float, speed: float) -> Contact:
    """Return a contact with a mallet that recedes along an angle, its speed not positive, m/s."""
    speeds = speed * unit_speeds(joints, np.array(angle))
    start = stroke_path.start_posture(joints, speeds, wind_up=np.array(WIND_UP))
    return Contact(joints, speeds, speed, WIND_UP, start, WIND_UP)
