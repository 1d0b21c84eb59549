"""Recorded motions of a double pendulum: a file of commas, a row a frame.

Either the places of three markers, pivot, elbow and tip, gravity along the first number of each
pair, in any one unit, or the angles of both links in rad, of link 1 from straight down and of
link 2 from link 1:

    pivot_x,pivot_y,elbow_x,elbow_y,tip_x,tip_y          or          angle_1,angle_2

Six or two columns without names are taken as these. A first column `time`, in seconds, states the
rate and shows gaps; else the rate is given.
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
from ricochet.models.systems.rigid_bodies import marked_motion
from ricochet.tasks.storage.files import read_bytes

MARKERS = ("pivot_x", "pivot_y", "elbow_x", "elbow_y", "tip_x", "tip_y")
ANGLES = ("angle_1", "angle_2")
TIME = "time"
EXPECTED = f"the columns {','.join(MARKERS)} or {','.join(ANGLES)}, and {TIME} before them or not"
LARGEST = 2**26
"""Bytes of a file."""
MOST = 500_000
"""Frames."""
RATES = (1.0, 100_000.0)
"""Least and greatest rate, Hz."""
_UNEVEN = 0.02


@dataclass(frozen=True)
class Recorded:
    """A motion.

    Attributes:
        states: Angles and rates, rad and rad/s, of each frame.
        rate: Frames a second.
    """

    states: Float[ndarray, "frame 4"]
    rate: float


def read(file: Path, rate: float | None = None) -> Recorded:
    """Read a motion.

    Args:
        rate: Frames a second; needed where the file has no time.

    Raises:
        BadInput: If the file cannot be read, its columns, numbers, times or places cannot be those
            of a pendulum, or there is no rate, or one that its times contradict.
    """
    names, values = _table(file)
    if names[0] == TIME:
        rate, values, names = _rate_of(file, values[:, 0], rate), values[:, 1:], names[1:]
    if rate is None:
        raise BadInput(str(file), "no column time and no rate", "either, such as --rate 400")
    if not RATES[0] <= rate <= RATES[1]:
        raise BadInput(str(file), f"a rate of {rate:g} Hz", f"{RATES[0]:g} to {RATES[1]:g} Hz")
    pairs = np.split(values, 3, axis=1) if names == MARKERS else []
    try:
        angles = marked_motion.angles(*pairs) if pairs else np.unwrap(values, axis=0)
        states = marked_motion.states(angles, rate)
    except ValueError as error:
        found, _, expected = str(error).partition(", expected ")
        raise BadInput(str(file), found, expected) from error
    return Recorded(states, rate)


def _table(file: Path) -> tuple[tuple[str, ...], Float[ndarray, "frame column"]]:
    """Return names and numbers."""
    if file.exists() and not (file.is_file() and file.stat().st_size <= LARGEST):
        size = f"{LARGEST // 2**20} MiB"
        raise BadInput(
            str(file), "a folder, a device or more than that", f"a file of at most {size}"
        )
    try:
        text = read_bytes(file, EXPECTED).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(str(file), "bytes that are no text", "a file of commas") from error
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    if not rows:
        raise BadInput(str(file), "nothing", EXPECTED)
    if len(rows) > MOST + 1:
        raise BadInput(str(file), f"{len(rows)} rows", f"at most {MOST}")
    named = _number(rows[0][0]) is None
    names = tuple(name.strip().lower() for name in rows[0]) if named else _unnamed(len(rows[0]))
    bare = names[1:] if names and names[0] == TIME else names
    if bare not in (MARKERS, ANGLES):
        shown = ",".join(rows[0]) if named else f"{len(rows[0])} columns without names"
        raise BadInput(str(file), shown[:200], EXPECTED)
    return names, _numbers(file, rows[named:], len(names), first=1 + named)


def _unnamed(columns: int) -> tuple[str, ...]:
    return {len(MARKERS): MARKERS, len(ANGLES): ANGLES}.get(columns, ())


def _numbers(
    file: Path, rows: list[list[str]], columns: int, *, first: int
) -> Float[ndarray, "frame column"]:
    """Return all numbers; the first cell that is none is named by its row."""
    found = np.empty((len(rows), columns))
    for place, row in enumerate(rows):
        cells = [_number(cell) for cell in row]
        if len(cells) != columns:
            raise BadInput(f"{file}: row {first + place}", f"{len(cells)} cells", f"{columns}")
        if None in cells:
            bad = row[cells.index(None)]
            raise BadInput(f"{file}: row {first + place}", repr(bad[:40]), "a finite number")
        found[place] = cells
    return found


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _rate_of(file: Path, times: Float[ndarray, " frame"], stated: float | None) -> float:
    """Return the rate of times that are even, and agree with a rate that is stated."""
    steps = np.diff(times)
    if len(steps) == 0:
        raise BadInput(str(file), "a single frame", f"at least {marked_motion.WINDOW}")
    usual = float(np.median(steps))
    uneven = np.flatnonzero(~(np.abs(steps - usual) <= _UNEVEN * abs(usual)))
    if not usual > 0.0 or len(uneven):
        place = int(uneven[0]) if len(uneven) else 0
        raise BadInput(
            f"{file}: frame {place + 2}",
            f"{steps[place]:g} s after the one before",
            f"{usual:g} s as usual: a gap must be filled or the recording cut there",
        )
    rate = len(steps) / float(times[-1] - times[0])
    if stated is not None and abs(stated / rate - 1.0) > _UNEVEN:
        raise BadInput(str(file), f"times of {rate:g} Hz", f"the {stated:g} Hz that are stated")
    return rate
