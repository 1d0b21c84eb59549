"""Recorded motions of a double pendulum: a file of commas, a row a frame.

Either the places of three markers, pivot, elbow and tip, gravity along the first number of each
pair, in any one unit, or the angles of both links in rad, of link 1 from straight down and of
link 2 from link 1:

    pivot_x,pivot_y,elbow_x,elbow_y,tip_x,tip_y          or          angle_1,angle_2

Six or two columns without names are taken as these; `motion_tables` has what is general.
"""

from pathlib import Path

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.rigid_bodies import marked_motion
from ricochet.tasks.storage import number_tables
from ricochet.tasks.systems.rigid_bodies import motion_tables
from ricochet.tasks.systems.rigid_bodies.motion_tables import TIME, Recorded

MARKERS = ("pivot_x", "pivot_y", "elbow_x", "elbow_y", "tip_x", "tip_y")
ANGLES = ("angle_1", "angle_2")
EXPECTED = f"the columns {','.join(MARKERS)} or {','.join(ANGLES)}, and {TIME} before them or not"
_UNNAMED = {len(MARKERS): MARKERS, len(ANGLES): ANGLES}


def read(file: Path, rate: float | None = None) -> Recorded:
    """Read a motion.

    Args:
        rate: Frames a second; needed where the file has no time.

    Raises:
        BadInput: If the file cannot be read, its columns, numbers, times or places cannot be those
            of a pendulum, or there is no rate, or one that its times contradict.
    """
    rows = number_tables.read(file, EXPECTED)
    names = tuple(name.lower() for name in rows.names)
    names = names or _UNNAMED.get(len(rows.cells[0]), ())
    if names[names[:1] == (TIME,) :] not in (MARKERS, ANGLES):
        raise BadInput(str(file), rows.shown, EXPECTED)
    table = motion_tables.table(rows, names, rate)
    pairs = np.split(table.values, 3, axis=1) if table.names == MARKERS else []
    try:
        angles = marked_motion.angles(*pairs) if pairs else marked_motion.followed(table.values)
        states = marked_motion.states(angles, table.rate)
    except ValueError as error:
        found, _, expected = str(error).partition(", expected ")
        raise BadInput(str(file), found, expected) from error
    return Recorded(states, table.rate, seen=angles)
