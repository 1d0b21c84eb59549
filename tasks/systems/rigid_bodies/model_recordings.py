"""Recorded motions of a MuJoCo model: columns named after its joints, or after sites.

    hinge,slide                   positions of all joints, rad and m
    tip_x,tip_y,tip_z             or places of sites in the world, m: joints are those that fit best

then, where there are some, columns named after actuators, their controls, held from each frame to
the next; an actuator without a column has the control 0. `motion_tables` has what is general.
"""

from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.nearest_name import did_you_mean
from ricochet.models.systems.rigid_bodies import marked_motion, mujoco_motion, mujoco_sites
from ricochet.models.systems.rigid_bodies.mujoco_motion import HINGE
from ricochet.models.systems.rigid_bodies.mujoco_parameters import AXES, names
from ricochet.tasks.storage import number_tables
from ricochet.tasks.systems.rigid_bodies import motion_tables
from ricochet.tasks.systems.rigid_bodies.motion_tables import TIME, Recorded, Table

WIDTH = 7
"""Frames."""
MISSED = 0.05
"""What sites may miss, of their deviation."""


def read(
    file: Path, model: mujoco.MjModel, rate: float | None = None, *, width: int = WIDTH
) -> Recorded:
    """Read a motion.

    Args:
        width: Frames of the polynomials whose slopes are the rates.
        rate: Frames a second; needed where the file has no time.

    Raises:
        BadInput: If the file cannot be read, its columns are not those of the model, a number, a
            time or a control is none, sites do not fit, or it is too short.
    """
    rows = number_tables.read(file, _expected(model))
    if not rows.names:
        raise BadInput(str(file), rows.shown, _expected(model))
    columns = (TIME, *rows.names[1:]) if rows.names[0].lower() == TIME else rows.names
    sites = _check(file, columns, model)
    table = motion_tables.table(rows, columns, rate)
    positions = _of_sites(file, table, model, sites) if sites else _of_joints(file, table, model)
    try:
        stepped, _ = mujoco_motion.stepped(model, table.rate)
        lag = mujoco_motion.lag(stepped)
        rates = marked_motion.states(positions, table.rate, width=width, lag=lag)[:, model.nq :]
    except ValueError as error:
        found, _, expected = str(error).partition(", expected ")
        raise BadInput(str(file), found, expected) from error
    states = np.concatenate((positions, rates), 1)
    unrecorded = tuple(name for name in names(model, "actuator") if name not in table.names)
    return Recorded(states, table.rate, _controls(table, model), unrecorded=unrecorded)


def _expected(model: mujoco.MjModel) -> str:
    joints, actuators = names(model, "joint"), names(model, "actuator")
    beside = f", and {','.join(actuators)} or not" if actuators else ""
    return f"the columns {','.join(joints)} or SITE_x,SITE_y,SITE_z{beside}"


def _check(file: Path, columns: Sequence[str], model: mujoco.MjModel) -> list[str]:
    """Return the sites that columns are of, none where they are of joints.

    Raises:
        BadInput: If columns are none of the model's, twice there, or not all there.
    """
    joints, actuators = names(model, "joint"), names(model, "actuator")
    bare = [name for name in columns if name != TIME]
    for name in bare:
        if columns.count(name) > 1:
            raise BadInput(str(file), f"the column {name} twice", "each once")
    of_joints = any(name in joints for name in bare)
    sites = {} if of_joints else {f"{s}_{a}": s for s in names(model, "site") for a in AXES}
    known = {*joints, *sites, *actuators}
    for name in bare:
        if name not in known:
            near = did_you_mean(name, known)
            raise BadInput(str(file), f"the column {name[:60]}", f"{_expected(model)}{near}")
    found = list(dict.fromkeys(sites[name] for name in bare if name in sites))
    needed = [f"{site}_{axis}" for site in found for axis in AXES] if found else joints
    missing = [name for name in needed if name not in bare]
    if missing:
        raise BadInput(str(file), f"no column {missing[0]}", _expected(model))
    return found


def _of_joints(file: Path, table: Table, model: mujoco.MjModel) -> Float[ndarray, "frame joint"]:
    """Return the joints' positions, angles unwrapped."""
    joints = names(model, "joint")
    found = table.values[:, [table.names.index(name) for name in joints]]
    hinges = model.jnt_type == HINGE
    found[:, hinges] = np.unwrap(found[:, hinges], axis=0)
    turns = np.abs(np.diff(found[:, hinges], axis=0)).max(initial=0.0)
    if turns > marked_motion.FASTEST:
        fastest = f"at most {marked_motion.FASTEST:g}"
        raise BadInput(str(file), f"an angle that changes by {turns:.2f} rad in a frame", fastest)
    return found


def _of_sites(
    file: Path, table: Table, model: mujoco.MjModel, sites: Sequence[str]
) -> Float[ndarray, "frame joint"]:
    """Return the joints' positions at which the model's sites are where they were seen."""
    columns = [table.names.index(f"{site}_{axis}") for site in sites for axis in AXES]
    places = table.values[:, columns].reshape(-1, len(sites), 3)
    spread = float(np.sqrt(places.var(0).sum(1).mean()))
    try:
        found, missed = mujoco_sites.positions(model, sites, places)
    except ValueError as error:
        shown, _, expected = str(error).partition(", expected ")
        raise BadInput(str(file), shown, expected) from error
    if not missed <= MISSED * spread:
        raise BadInput(
            str(file),
            f"sites that the model misses by {missed:.2g} m of a deviation of {spread:.2g} m",
            f"at most {MISSED:.0%}: places in the world of this model, m",
        )
    return found


def _controls(table: Table, model: mujoco.MjModel) -> Float[ndarray, "frame actuator"]:
    actuators = names(model, "actuator")
    found = np.zeros((len(table.values), model.nu))
    for place, name in enumerate(actuators):
        if name in table.names:
            found[:, place] = table.values[:, table.names.index(name)]
    return found
