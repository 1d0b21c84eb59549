"""Tables of recorded motion: a file of commas, a row a frame, and the rate of its frames.

A first column `time`, in seconds, states the rate and shows gaps; else the rate is given.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.rigid_bodies import marked_motion
from ricochet.tasks.storage import number_tables
from ricochet.tasks.storage.number_tables import Rows

TIME = "time"
RATES = (1.0, 100_000.0)
"""Least and greatest rate, Hz."""
_UNEVEN = 0.02


def _none() -> ndarray:
    return np.empty((0, 0))


@dataclass(frozen=True)
class Recorded:
    """A motion.

    Attributes:
        states: Positions, then their rates, of each frame: of angles, rad and rad/s.
        rate: Frames a second.
        inputs: What acts on it from each frame to the next, without columns where nothing does.
        seen: Positions before they were smoothed, without columns where those of the states are.
        unrecorded: Names of inputs of which the file has no column, which are taken as 0.
    """

    states: Float[ndarray, "frame state"]
    rate: float
    inputs: Float[ndarray, "#frame input"] = field(default_factory=_none)
    seen: Float[ndarray, "#frame position"] = field(default_factory=_none)
    unrecorded: tuple[str, ...] = ()

    @property
    def positions(self) -> Float[ndarray, "frame position"]:
        """As they were seen."""
        return self.seen if self.seen.size else self.states[:, : self.states.shape[1] // 2]


@dataclass(frozen=True)
class Table:
    """Columns of numbers by name, time apart."""

    names: tuple[str, ...]
    values: Float[ndarray, "frame column"]
    rate: float


def table(rows: Rows, names: tuple[str, ...], stated: float | None) -> Table:
    """Return the numbers of a file.

    Args:
        names: Of its columns, `time` the first of them or none.
        stated: Frames a second; needed where the file has no time.

    Raises:
        BadInput: If a cell is no number, times are uneven, or there is no rate, or one that is out
            of bounds or that times contradict.
    """
    file, values, rate = str(rows.file), number_tables.numbers(rows, len(names)), stated
    if names[0] == TIME:
        rate, values, names = _rate_of(rows.file, values[:, 0], rate), values[:, 1:], names[1:]
    if rate is None:
        raise BadInput(file, "no column time and no rate", "either, such as --rate 400")
    if not RATES[0] <= rate <= RATES[1]:
        raise BadInput(file, f"a rate of {rate:g} Hz", f"{RATES[0]:g} to {RATES[1]:g} Hz")
    return Table(names, values, rate)


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
