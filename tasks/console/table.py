"""Aligned tables of text at a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

Cell = str | float | int | bool | None


def lines(
    header: Sequence[str], rows: Sequence[Sequence[Cell]], *, indent: str = "  "
) -> list[str]:
    """Return a header and rows, numbers to the right, texts to the left.

    >>> lines(["name", "mass, g"], [["golf", 45.9], ["steel", None]])
    ['  name   mass, g', '  golf      45.9', '  steel        -']
    """
    texts = [list(header), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(len(row[place]) for row in texts) for place in range(len(header))]
    left = [not all(_is_number(row[place]) for row in texts[1:]) for place in range(len(header))]
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


def _is_number(text: str) -> bool:
    """Tell whether a text is a number, or the dash of one that is absent."""
    try:
        float(text)
    except ValueError:
        return text == "-"
    return True


def _text(cell: Cell) -> str:
    """Show four digits of a number; what is absent is a dash."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def of_records(
    records: Mapping[str, Any], columns: Mapping[str, str], *, label: str = ""
) -> list[str]:
    """Return a table with a row for each record that is named, itself a mapping.

    Args:
        columns: Where in a record the cells are, keys joined by `/`, by heading.
        label: Heading of the names.
    """
    rows = [
        [name, *(_found(record, place.split("/")) for place in columns.values())]
        for name, record in records.items()
    ]
    return lines([label, *columns], rows)


def _found(record: Any, keys: Sequence[str]) -> Cell:
    """Return what lies behind keys; nothing where one of them is missing."""
    for key in keys:
        record = record.get(key) if isinstance(record, Mapping) else None
    return record if isinstance(record, str | float | int) else None
