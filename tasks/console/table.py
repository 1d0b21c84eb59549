"""Aligned tables of text at a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

Cell = str | float | int | bool | None
MOST_COLUMNS = 6


def lines(
    header: Sequence[str], rows: Sequence[Sequence[Cell]], *, indent: str = "  "
) -> list[str]:
    """Return a header and rows, numbers to the right, texts to the left.

    >>> lines(["name", "mass, g"], [["golf", 45.9], ["steel", None]])
    ['  name   mass, g', '  golf      45.9', '  steel        -']
    """
    texts = [list(header), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(len(row[place]) for row in texts) for place in range(len(header))]
    left = [any(isinstance(row[place], str) for row in rows) for place in range(len(header))]
    return [
        (
            indent
            + "  ".join(
                cell.ljust(width) if to_left else cell.rjust(width)
                for cell, width, to_left in zip(row, widths, left, strict=True)
            )
        ).rstrip()
        for row in texts
    ]


def _text(cell: Cell) -> str:
    """Show four digits of a number; what is absent is a dash."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def of_records(result: Mapping[str, Any], *, most: int = MOST_COLUMNS) -> list[str]:
    """Return a table for each entry of a result that holds records, by name or in a list.

    A record is a mapping; the columns are the keys whose values are numbers or texts in any record.
    """
    said: list[str] = []
    for name, entry in result.items():
        records = _records(entry)
        keys = dict.fromkeys(key for _, row in records for key, cell in row.items() if _plain(cell))
        shown = list(keys)[:most]
        if shown:
            rows = [[label, *(_cell(row.get(key)) for key in shown)] for label, row in records]
            said += lines([name, *shown], rows)
    return said


def _records(entry: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the labelled records of an entry, none where it holds anything else."""
    if isinstance(entry, Mapping):
        found = [(str(key), value) for key, value in entry.items()]
    elif isinstance(entry, list):
        found = [(str(number), value) for number, value in enumerate(entry)]
    else:
        return []
    return found if all(isinstance(value, Mapping) for _, value in found) else []


def _plain(cell: object) -> bool:
    return isinstance(cell, int | float | str)


def _cell(value: Any) -> Cell:
    return value if _plain(value) else None
