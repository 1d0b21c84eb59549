"""Files of commas: their cells as they stand there, and their numbers; bounded in size.

A first row that does not begin with a number has the names of the columns. What is wrong is said by
its row.
"""

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import limits
from ricochet.tasks.storage.files import read_bytes

LARGEST = limits.TABLE
MOST = limits.ROWS


@dataclass(frozen=True)
class Rows:
    """Cells of a file, as they stand there.

    Attributes:
        names: The first row where it does not begin with a number; else empty.
        first: The number of the first row of cells, from 1 on.
    """

    file: Path
    names: tuple[str, ...]
    cells: list[list[str]]
    first: int

    @property
    def shown(self) -> str:
        """Its columns in a few words, for a refusal."""
        named = ",".join(self.names) or f"{len(self.cells[0])} columns without names"
        return named[:200]


def read(file: Path, expected: str) -> Rows:
    """Read the cells of a file.

    Args:
        expected: Its columns in words.

    Raises:
        BadInput: If it is no file, too large, no text or empty.
    """
    try:
        text = read_bytes(file, expected, largest=LARGEST).decode("utf-8-sig")
        rows = _rows(file, text)
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(str(file), "no text", f"text with {expected}") from error
    if not rows:
        raise BadInput(str(file), "nothing", expected)
    named = number(rows[0][0]) is None
    names = tuple(name.strip() for name in rows[0]) if named else ()
    return Rows(file, names, rows[named:], 1 + named)


def numbers(rows: Rows, columns: int) -> Float[ndarray, "row column"]:
    """Return all numbers.

    Raises:
        BadInput: If a row has another number of cells, or a cell is no finite number.
    """
    for place, row in enumerate(rows.cells):  # before an array of that size is made
        if len(row) != columns:
            key = f"{rows.file}: row {rows.first + place}"
            raise BadInput(key, f"{len(row)} cells", f"{columns}")
    found = np.empty((len(rows.cells), columns))
    for place, row in enumerate(rows.cells):
        cells = [number(cell) for cell in row]
        if None in cells:
            key = f"{rows.file}: row {rows.first + place}"
            raise BadInput(key, repr(row[cells.index(None)][:40]), "a finite number")
        found[place] = cells
    return found


def number(cell: str) -> float | None:
    """Return the number of a cell, None where it is no finite one."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _rows(file: Path, text: str) -> list[list[str]]:
    """Return the rows of a file that have cells; no more are made once there are too many."""
    rows, cells = list[list[str]](), 0
    for row in csv.reader(io.StringIO(text)):
        if not row:
            continue
        if len(row) > limits.COLUMNS:
            where = f"{file}: row {len(rows) + 1}"
            raise BadInput(where, f"{len(row)} cells", f"at most {limits.COLUMNS}")
        rows.append(row)
        cells += len(row)
        if len(rows) > MOST + 1:
            raise BadInput(str(file), f"more than {MOST} rows", f"at most {MOST}")
        if cells > limits.CELLS:
            raise BadInput(str(file), f"more than {limits.CELLS} cells", f"at most {limits.CELLS}")
    return rows
