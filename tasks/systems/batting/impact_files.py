"""Tables of measured impacts: a file of commas, a row an impact, SI units.

    mass, inertia, contact_x, contact_y, normal_x, normal_y, surface_vx, surface_vy,
    vx, vy, spin, vx_after, vy_after, spin_after

The contact is from the centre of mass, the normal points from the surface to the body, spin is
positive counter-clockwise. Columns have these names, in any order; others are not read. A row that
cannot be an impact is rejected with its reason, a table that is wrong as a whole is refused.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core import near_rows
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.batting.impacts import balance, screening
from ricochet.models.systems.batting.impacts.balance import Balance
from ricochet.models.systems.batting.impacts.inference import LEAST_IMPACTS
from ricochet.models.systems.batting.impacts.recorded import Impacts
from ricochet.tasks.storage import number_tables
from ricochet.tasks.storage.files import write_bytes

BODY = ("mass", "inertia", "contact_x", "contact_y", "normal_x", "normal_y")
MOTION = ("surface_vx", "surface_vy", "vx", "vy", "spin", "vx_after", "vy_after", "spin_after")
COLUMNS = BODY + MOTION
MOST = 20_000
"""Rows."""


@dataclass(frozen=True)
class Rejected:
    """A row that cannot be an impact; the names of columns are row 1."""

    row: int
    reason: str


@dataclass(frozen=True)
class ImpactTable:
    """The impacts of a file.

    Attributes:
        rows: Number of each impact's row, as in `Rejected`.
        rejected: The other rows.
        balance: Of the impacts.
        misfit: How the balance fails, a line or none.
    """

    impacts: Impacts
    rows: Int[ndarray, " impact"]
    rejected: tuple[Rejected, ...]
    balance: Balance
    misfit: tuple[str, ...]

    def __len__(self) -> int:
        """Return how many rows the file has."""
        return len(self.rows) + len(self.rejected)


def read(file: Path) -> ImpactTable:
    """Read a table.

    Raises:
        BadInput: If it cannot be read, lacks a column, has other units than SI, or fewer than
            `LEAST_IMPACTS` rows or a tenth of them can be impacts.
    """
    values, rows, rejected = _numbers(*_cells(file))
    impacts = _impacts(values)
    impacts, rows = _screened(impacts, rows, _copies(values, rows), rejected)
    impacts, rows = _screened(impacts, rows, screening.no_body(impacts), rejected)
    impacts = screening.with_unit_normals(impacts)
    if len(impacts) and (other := screening.other_units(impacts)) is not None:
        raise BadInput(str(file), *other)
    impacts, rows = _screened(impacts, rows, screening.no_impact(impacts), rejected)
    refuse_few(file, len(impacts), len(rows) + len(rejected), rejected)
    found = balance.of(impacts)
    if balance.of(impacts.take(~found.broken)).holds:
        faults = screening.unbalanced(impacts, found)
        impacts, rows = _screened(impacts, rows, faults, rejected)
        refuse_few(file, len(impacts), len(rows) + len(rejected), rejected)
        found = balance.of(impacts)
    misfit = tuple(balance.misfit(impacts, found))
    ordered = tuple(sorted(rejected, key=lambda each: each.row))
    return ImpactTable(impacts, rows, ordered, found, misfit)


def refuse_few(
    file: Path, usable: int, rows: int, rejected: Sequence[Rejected], held_out: int = 0
) -> None:
    """Refuse a table of which too few rows are left."""
    if usable >= LEAST_IMPACTS and 10 * usable >= rows - held_out:
        return
    found = f"{usable} usable impacts in {rows} rows"
    found += f", {held_out} held out" if held_out else ""
    found += f", {summary(rejected)}" if rejected else ""
    expected = f"at least {LEAST_IMPACTS} to learn from and a tenth of the rows"
    raise BadInput(str(file), found, expected)


def summary(rejected: Sequence[Rejected]) -> str:
    """Return how many rows were rejected, and the usual reason, in words."""
    kinds = Counter(each.reason.split(":")[0] for each in rejected)
    usual, count = kinds.most_common(1)[0]
    first = next(each for each in rejected if each.reason.startswith(usual))
    return f"{len(rejected)} rejected, {count} of them like row {first.row} ({first.reason})"


def write(file: Path, impacts: Impacts) -> None:
    """Write a table."""
    columns = np.column_stack([impacts.mass, impacts.inertia, impacts.contact, impacts.normal])
    motion = np.column_stack([impacts.surface, impacts.before, impacts.after])
    rows = (",".join(f"{x:.9g}" for x in row) for row in np.hstack([columns, motion]))
    write_bytes(file, ("\n".join((",".join(COLUMNS), *rows)) + "\n").encode())


def _cells(file: Path) -> tuple[Path, list[str], list[list[str]]]:
    """Return the names of a file's columns and its rows."""
    expected = f"the columns {', '.join(COLUMNS)}"
    rows = number_tables.read(file, expected)
    lines = [list(rows.names), *rows.cells] if rows.names else rows.cells
    names = [name.strip().lower() for name in lines[0]]
    missing = [name for name in COLUMNS if name not in names]
    if len(names) == 1 and (separator := next((x for x in ";\t|" if x in names[0]), None)):
        raise BadInput(str(file), f"columns separated by {separator!r}", "by commas")
    if missing:
        found = f"no column {', '.join(missing)}"
        raise BadInput(str(file), f"{found} among {','.join(lines[0])[:120]}", expected)
    twice = [name for name in COLUMNS if names.count(name) > 1]
    if twice:
        raise BadInput(str(file), f"the column {twice[0]} twice", "each column once")
    if not 1 <= len(lines) - 1 <= MOST:
        found = f"{len(lines) - 1} rows below the names of columns"
        raise BadInput(str(file), found, f"1 to {MOST}")
    return file, names, lines[1:]


def _copies(values: Float[ndarray, "impact column"], rows: Int[ndarray, " impact"]) -> list[str]:
    """Return of which row each is a copy, in words: held out, it would confirm itself.

    A copy may have fewer digits, a normal of another length, or the body's mass in another unit.
    """
    at = COLUMNS.index
    with np.errstate(all="ignore"):  # of numbers that are refused later
        light = values[:, [at("inertia")]] / values[:, [at("mass")]]
        normal = values[:, at("normal_x") : at("normal_y") + 1]
        normal = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    contact = values[:, at("contact_x") : at("contact_y") + 1]
    said = np.nan_to_num(np.hstack([light, contact, normal, values[:, at("surface_vx") :]]))
    original = np.arange(len(values))
    for cells in near_rows.cells(said, near_rows.scales(said)):
        _, begins, inverse = np.unique(cells, return_index=True, return_inverse=True)
        original = np.minimum(original, begins[inverse])
    return [
        f"the same as a row before: row {rows[first]}" if first < place else ""
        for place, first in enumerate(original)
    ]


def _numbers(
    file: Path, names: list[str], lines: list[list[str]]
) -> tuple[Float[ndarray, "impact column"], Int[ndarray, " impact"], list[Rejected]]:
    """Return the numbers of rows that have them all, their numbers, and the other rows."""
    places, values, rows = [names.index(name) for name in COLUMNS], [], []
    rejected: list[Rejected] = []
    for row, line in enumerate(lines, start=2):
        if len(line) != len(names):
            rejected.append(Rejected(row, f"{len(line)} cells: expected {len(names)}"))
            continue
        found = [_number(line[place]) for place in places]
        if (bad := next((k for k, x in enumerate(found) if not math.isfinite(x)), None)) is None:
            values.append(found)
            rows.append(row)
        else:
            cell = line[places[bad]].strip()[:40]
            rejected.append(Rejected(row, f"{COLUMNS[bad]} is no finite number: {cell!r}"))
    if not values:
        refuse_few(file, 0, len(lines), rejected)
    return np.array(values), np.array(rows), rejected


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _impacts(values: Float[ndarray, "impact column"]) -> Impacts:
    at = {name: place for place, name in enumerate(COLUMNS)}

    def column(*names: str) -> Float[ndarray, "impact part"]:
        return values[:, [at[name] for name in names]]

    return Impacts(
        mass=values[:, at["mass"]],
        inertia=values[:, at["inertia"]],
        contact=column("contact_x", "contact_y"),
        normal=column("normal_x", "normal_y"),
        surface=column("surface_vx", "surface_vy"),
        before=column("vx", "vy", "spin"),
        after=column("vx_after", "vy_after", "spin_after"),
    )


def _screened(
    impacts: Impacts, rows: Int[ndarray, " impact"], faults: list[str], rejected: list[Rejected]
) -> tuple[Impacts, Int[ndarray, " impact"]]:
    """Return the rows without fault; the others are added to the rejected."""
    rejected += [
        Rejected(int(row), fault) for row, fault in zip(rows, faults, strict=True) if fault
    ]
    good = np.array([not fault for fault in faults], dtype=bool)
    return impacts.take(good), rows[good]
