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
from ricochet.tasks.storage.files import read_bytes

LARGEST = 2**26
"""Bytes of a file."""
MOST = 500_000
"""Rows."""


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
    if file.exists() and (fault := _no_table(file)):
        raise BadInput(str(file), fault, f"a file of at most {LARGEST // 2**20} MiB")
    try:
        text = read_bytes(file, expected).decode("utf-8-sig")
        rows = [row for row in csv.reader(io.StringIO(text)) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(str(file), "no text", f"text with {expected}") from error
    if not rows:
        raise BadInput(str(file), "nothing", expected)
    if len(rows) > MOST + 1:
        raise BadInput(str(file), f"{len(rows)} rows", f"at most {MOST}")
    named = number(rows[0][0]) is None
    names = tuple(name.strip() for name in rows[0]) if named else ()
    return Rows(file, names, rows[named:], 1 + named)


def numbers(rows: Rows, columns: int) -> Float[ndarray, "row column"]:
    """Return all numbers.

    Raises:
        BadInput: If a row has another number of cells, or a cell is no finite number.
    """
    found = np.empty((len(rows.cells), columns))
    for place, row in enumerate(rows.cells):
        cells = [number(cell) for cell in row]
        key = f"{rows.file}: row {rows.first + place}"
        if len(cells) != columns:
            raise BadInput(key, f"{len(cells)} cells", f"{columns}")
        if None in cells:
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


def _no_table(file: Path) -> str:
    """Return what a file is that cannot be a table, or nothing."""
    if file.is_dir():
        return "a folder"
    if not file.is_file():
        return "no plain file"
    size = file.stat().st_size
    return f"{size} bytes" if size > LARGEST else ""
