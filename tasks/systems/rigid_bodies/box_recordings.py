"""Recorded motions of a box that hangs from a Panda arm: a file of commas, a row a frame.

    joint_1 .. joint_7                              angles of the arm, rad
    o_x,o_y,o_z,x_x,x_y,x_z,y_x,y_y,y_z,z_x,z_y,z_z  four points in the arm's base frame, m

The points are the box's origin, at its joint on the flange, and one a metre from it along each of
its axes, as a motion capture system gives them. `motion_tables` has what is general.
"""

from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import panda
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.nearest_name import did_you_mean
from ricochet.models.systems.rigid_bodies import box_shooting, carried_box
from ricochet.tasks.storage import number_tables
from ricochet.tasks.systems.rigid_bodies import motion_tables
from ricochet.tasks.systems.rigid_bodies.motion_tables import TIME, Recorded

JOINTS = tuple(f"joint_{number}" for number in range(1, panda.JOINTS + 1))
POINTS = tuple(f"{point}_{axis}" for point in "oxyz" for axis in "xyz")
EXPECTED = "the columns joint_1 .. joint_7 and o_x,o_y,o_z,x_x, .. z_z, and time before them or not"
MISSED = 0.02
"""Root mean square by which points may miss a box on the flange, m."""
_SLACK = 1.05


def read(file: Path, rate: float | None = None) -> Recorded:
    """Read a motion; its inputs are those of the flange in the short steps of each frame.

    Args:
        rate: Frames a second; needed where the file has no time.

    Raises:
        BadInput: If the file cannot be read, its columns, numbers or times cannot be used, joints
            leave the arm's limits, points are not those of a box on the flange, or it is too short.
    """
    rows = number_tables.read(file, EXPECTED)
    names = tuple(name.lower() for name in rows.names)
    _check(file, names, rows.shown)
    table = motion_tables.table(rows, names, rate)
    columns = [table.names.index(name) for name in (*JOINTS, *POINTS)]
    joints, places = np.split(table.values[:, columns], [len(JOINTS)], axis=1)
    points = places.reshape(-1, carried_box.POINTS, 3)
    least = 2 * round(box_shooting.WINDOW * table.rate) + 1
    if len(joints) < least:
        raise BadInput(str(file), f"{len(joints)} frames at {table.rate:g} Hz", f"at least {least}")
    _check_arm(file, joints, table.rate)
    _check_points(file, points, joints)
    try:
        states = box_shooting.states(points, joints, table.rate)
    except ValueError as error:
        found, _, expected = str(error).partition(", expected ")
        raise BadInput(str(file), found, expected) from error
    parts = box_shooting.substeps(table.rate)
    carried = carried_box.carried(joints, table.rate, parts)
    return Recorded(states, table.rate, carried.unflatten(0, (-1, parts)).flatten(1).numpy())


def _check(file: Path, names: tuple[str, ...], shown: str) -> None:
    """Refuse columns that are not known, twice there or missing."""
    needed = (*JOINTS, *POINTS)
    if not names:
        raise BadInput(str(file), shown, EXPECTED)
    for name in names:
        if name not in (*needed, TIME):
            near = did_you_mean(name, needed)
            raise BadInput(str(file), f"the column {name[:60]}", f"{EXPECTED}{near}")
        if names.count(name) > 1:
            raise BadInput(str(file), f"the column {name} twice", "each once")
    for name in needed:
        if name not in names:
            raise BadInput(str(file), f"no column {name}", EXPECTED)
    if TIME in names[1:]:
        raise BadInput(str(file), "the column time after others", "before them")


def _check_arm(file: Path, joints: Float[ndarray, "frame 7"], rate: float) -> None:
    """Refuse what the arm cannot do: columns may be swapped, or angles in degrees."""
    for number, name in enumerate(JOINTS):
        low, high = joints[:, number].min(), joints[:, number].max()
        if not (panda.LOW[number] <= low and high <= panda.HIGH[number]):
            limits = f"{panda.LOW[number]:g} to {panda.HIGH[number]:g}, the arm's limits"
            raise BadInput(f"{file}: {name}", f"{low:.3g} to {high:.3g} rad", limits)
        fastest = float(np.abs(np.diff(joints[:, number])).max() * rate)
        if fastest > _SLACK * panda.SPEED_LIMIT[number]:
            most = f"at most {panda.SPEED_LIMIT[number]:g}, the arm's limit"
            raise BadInput(f"{file}: {name}", f"{fastest:.3g} rad/s", most)


def _check_points(
    file: Path, points: Float[ndarray, "frame 4 3"], joints: Float[ndarray, "frame 7"]
) -> None:
    """Refuse points that no box on the flange has."""
    seen = carried_box.in_flange(points, joints)
    missed = seen - carried_box.turned(carried_box.angles(seen))
    worst = float(np.sqrt(np.square(missed).mean()))
    if not worst <= MISSED:
        found = f"points that miss a box on a universal joint at the flange by {worst:.2g} m"
        raise BadInput(
            str(file), found, f"at most {MISSED:g} m: axes may be swapped, or frames differ"
        )
