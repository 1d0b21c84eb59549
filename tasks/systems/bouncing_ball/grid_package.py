"""The posterior of a ball-surface pair as a package of kind `grid`; numpy is enough to evaluate it.

A package of kind `family` has the same arrays, and draws of a contact beside (`family_package`).

The kind `grid` is a log density of two parameters (a, b) on rows of constant b, each with evenly
spaced points over its own interval of a; between the points both the intervals and the log density
are read by linear interpolation.
"""

from dataclasses import replace

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.restitution_laws import HIGHEST, LOWEST
from ricochet.tasks.registry import moments, packages, quantities
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.packages import Arrays, Package
from ricochet.tasks.registry.quantities import Quantity
from ricochet.tasks.systems.bouncing_ball import contact_package, family_package, grid_agreement
from ricochet.tasks.systems.bouncing_ball.grid_agreement import cell
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR

ARRAYS = ("rows", "low", "high", "log_density")
PARAMETERS = ("restitution", "log10_concentration")
COUNT = len(PARAMETERS)
WIDEST = ((LOWEST, HIGHEST), (-3.0, 9.0))
"""Bounds that a prior may have."""
MOST_INPUTS, MOST_SPEEDS = 10_000, 16
"""Of the self-test."""


def grid_log_density(arrays: Arrays, inputs: Arrays) -> Arrays:
    """Evaluate a posterior of kind `grid` at the points `theta`, (a, b); minus infinity outside.

    The arrays are `rows`, ascending and evenly spaced values of b; `low` and `high`, the
    interval of a in each row; `log_density` over them, nats, shape (row, column).
    """
    a, b = inputs["theta"][:, 0], inputs["theta"][:, 1]
    rows, table = arrays["rows"], arrays["log_density"]
    low, high = np.interp(b, rows, arrays["low"]), np.interp(b, rows, arrays["high"])
    inside = (b >= rows[0]) & (b <= rows[-1]) & (a >= low) & (a <= high)
    row, upward = cell((b - rows[0]) / (rows[1] - rows[0]), len(rows))
    column, rightward = cell((a - low) / (high - low) * (table.shape[1] - 1), table.shape[1])
    values = np.zeros(len(a))
    for step, part in ((0, 1.0 - upward), (1, upward)):
        for across, share in ((0, 1.0 - rightward), (1, rightward)):
            weight = part * share
            corner = table[row + step, column + across]
            values += np.where(weight > 0.0, weight * np.where(weight > 0.0, corner, 0.0), 0.0)
    return {"log_density": np.where(inside, values, -np.inf)}


def describe(package: Package) -> tuple[Quantity, ...]:
    """Return the parameters; the draws of a family are of a further take, with its own scatter."""
    names = (
        {"restitution": "restitution of a further take"}
        if package.kind == family_package.FAMILY
        else {}
    )
    found = quantities.of_package(package)
    return tuple(replace(each, name=names.get(each.name, each.name)) for each in found)


def check(package: Package, where: str) -> None:
    """Refuse a package whose grid, draws or moments mean nothing: `BadInput`."""
    stated = tuple(each.name for each in package.parameters)
    if package.kind not in contact_package.KINDS or stated != PARAMETERS:
        found = f"kind {package.kind} of {', '.join(stated)}"[:200]
        expected = f"{' or '.join(contact_package.KINDS)} of {', '.join(PARAMETERS)}"
        raise BadInput(where, found, expected)
    for each, (least, most) in zip(package.parameters, WIDEST, strict=True):
        if each.unit != "1" or each.low < least or each.high > most:
            found = f"{each.name} from {each.low:g} to {each.high:g} {each.unit}"
            raise BadInput(where, found, f"{least:g} to {most:g} without unit")
    family = package.kind == contact_package.FAMILY
    packages.check_names(package, contact_package.names_of(package.kind), where)
    _check_inputs(package, where)
    _check_grid(package, where)
    paper = contact_package.THREE if family else ""
    moments.check(package, where, prefix=paper)
    grid_agreement.check(package.arrays, where, prefix=paper)
    if family:
        contact_package.check(package.arrays)
        contact_package.check_summary(package.arrays)
        contact_package.check_apart(package)


def _check_inputs(package: Package, where: str) -> None:
    """Refuse inputs that the self-test does not take."""
    theta, speed = package.inputs.get("theta"), package.inputs.get("speed", np.zeros(0))
    if theta is None or theta.ndim != 2 or theta.shape[1] != COUNT or len(theta) > MOST_INPUTS:
        raise BadInput(f"{where}: theta", "other inputs", f"at most {MOST_INPUTS} points")
    if speed.ndim != 1 or len(speed) > MOST_SPEEDS or not set(package.inputs) <= {"theta", "speed"}:
        raise BadInput(f"{where}: speed", "other inputs", f"at most {MOST_SPEEDS} speeds")


def _check_grid(package: Package, where: str) -> None:
    """Refuse rows that do not ascend evenly, intervals outside the prior, and no density at all."""
    rows, low, high, table = (package.arrays[name] for name in ARRAYS)
    for name in ARRAYS:
        if package.arrays[name].dtype != np.float64:
            found = f"numbers of {package.arrays[name].dtype}"
            raise BadInput(f"{where}: {name}", found, "float64")
    if rows.ndim != 1 or len(rows) < 2 or table.ndim != 2 or table.shape[1] < 2:
        raise BadInput(where, f"rows of shape {rows.shape}, a table of {table.shape}", "a grid")
    if not low.shape == high.shape == rows.shape == table.shape[:1]:
        raise BadInput(where, f"{len(low)} and {len(high)} bounds of {len(rows)} rows", "as many")
    steps = np.diff(rows)
    if not (steps.min() > 0.0 and np.allclose(steps, steps.mean(), rtol=1e-6)):
        raise BadInput(f"{where}: rows", "values that do not ascend evenly", "ones that do")
    box = [(each.low, each.high) for each in package.parameters]
    for values, (least, most) in ((low, box[0]), (high, box[0]), (rows, box[1])):
        slack = moments.SLACK * (most - least)
        if not (values.min() >= least - slack and values.max() <= most + slack):
            raise BadInput(f"{where}: grid", "points outside of it", "the prior's box")
    if not (low < high).all() or not (table < np.inf).all() or not (table > -np.inf).any():
        raise BadInput(f"{where}: grid", "no interval, or no density", "a log density on intervals")


GRID = Reader(
    grid_log_density,
    further=family_package.family_outputs,
    describe=describe,
    check=check,
    made_by=POSTERIOR.made_by,
)
"""The reader of the kinds `grid` and `family`."""
