"""`bounces.csv`: when each bounce was, how fast and how high the ball was, and what energy it kept.

Between two bounces a time T apart the ball flies up and down: without air it left with u = g T / 2,
rose to u^2 / (2 g) and came back as fast. With the posterior mean of the drag the flight is that of
`drop_times`. The energy kept at a bounce is (speed after / speed before)^2.

A field is empty where it is not known: before the first bounce, after the last one, and beside a
bounce that was missed.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from ricochet.models.systems.bouncing_ball.calibration.drop_times import (
    Drop,
    apex,
    exit_speed,
    impact,
)


@dataclass(frozen=True)
class Bounce:
    """A row: SI units, drops and bounces counted from 1."""

    drop: int
    bounce: int
    time_s: float
    speed_before_m_per_s: float | None
    speed_after_m_per_s: float | None
    height_after_m: float | None
    energy_kept: float | None


MOST, WIDEST = 100_000, 120
"""Rows of a table, bounces of all takes of a session, and characters of one on average."""
COLUMNS = tuple(field.name for field in fields(Bounce))


def rows(drops: Sequence[Drop], drag: float) -> list[Bounce]:
    """Return the bounces of every drop, given the drag k, 1/m."""
    return [
        row for number, drop in enumerate(drops, start=1) for row in _of_drop(number, drop, drag)
    ]


def text(found: Sequence[Bounce]) -> str:
    """Return rows as comma-separated values under a header that states the units."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_field(getattr(row, name)) for name in COLUMNS] for row in found)
    return content.getvalue()


def read(content: str) -> list[Bounce]:
    """Return the rows of a text that `text` wrote; ValueError if it is none, or has too many.

    >>> row = Bounce(1, 2, 0.5, 2.0, None, None, None)
    >>> read(text([row])) == [row]
    True
    """
    count, commas = content.count("\n"), content.count(",")
    if count > MOST or len(content) > WIDEST * (count + 1):
        raise ValueError(f"{count} rows of {len(content)} characters, expected at most {MOST}")
    if commas > (len(COLUMNS) - 1) * (count + 1):
        raise ValueError(f"{commas} commas in {count} rows, expected {len(COLUMNS)} columns")
    try:
        return [
            Bounce(int(drop), int(bounce), float(time), *(float(v) if v else None for v in rest))
            for drop, bounce, time, *rest in list(csv.reader(io.StringIO(content)))[1:]
        ]
    except (csv.Error, TypeError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _of_drop(number: int, drop: Drop, drag: float) -> Iterator[Bounce]:
    k = np.array(drag)
    away = [
        None if gap in drop.missing else float(exit_speed(float(interval), k))
        for gap, interval in enumerate(np.diff(drop.times))
    ]
    back = [None if speed is None else float(impact(np.array(speed), k)) for speed in away]
    for n, time in enumerate(drop.times):
        before = back[n - 1] if n > 0 else None
        after = away[n] if n < len(away) else None
        kept = None if before is None or after is None else (after / before) ** 2
        height = None if after is None else float(apex(np.array(after), k))
        yield Bounce(number, n + 1, float(time), before, after, height, kept)


def _field(value: float | None) -> str:
    return "" if value is None else f"{value:d}" if isinstance(value, int) else f"{value:.6f}"
