"""The ranges of settings, and the settings that no system owns; params.yaml gives units.

Every number has a least and a greatest value, every text and list a greatest length: wide enough
for any rig and study, and none that runs for ever or asks for more memory than there is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval, Len, Predicate

from ricochet.tasks.storage import limits

Share = Annotated[float, Interval(ge=0.0, le=1.0)]
Count = Annotated[int, Interval(ge=1, le=100_000)]
Simulations = Annotated[int, Interval(ge=1, le=1_000_000)]
Trials = Annotated[int, Interval(ge=0, le=1000)]
Takes = Annotated[int, Interval(ge=1, le=limits.TAKES)]
Units = Annotated[int, Interval(ge=1, le=limits.UNITS)]
Epochs = Annotated[int, Interval(ge=1, le=10_000)]
Batch = Annotated[int, Interval(ge=1, le=65_536)]
Rate = Annotated[float, Interval(ge=1e-9, le=1.0)]
"""Of learning."""
Places = Annotated[float, Interval(ge=0.0, le=0.1)]
"""m, by which places are off."""
Lateness = Annotated[float, Interval(ge=0.0, le=604_800.0)]
"""s, up to a week."""
Words = Annotated[str, Len(0, 200), Predicate(str.isprintable)]
File = Annotated[str, Len(0, limits.LONGEST), Predicate(str.isprintable)]
Files = Annotated[list[File], Len(0, 1000)]
Coordinate = Annotated[float, Interval(ge=-limits.FARTHEST, le=limits.FARTHEST)]
Point = Annotated[list[Coordinate], Len(3, 3)]
Microphones = Annotated[list[Point], Len(0, limits.CHANNELS)]


@dataclass(frozen=True)
class Capture:
    """How a session is recorded, and where it is published."""

    rig: Words
    microphones: Microphones
    device: Words
    duration: Annotated[float, Interval(ge=0.01, le=600.0)]
    sample_rate: Annotated[int, Interval(ge=limits.RATES[0], le=limits.RATES[1])]
    temperature: Annotated[float, Interval(ge=-40.0, le=60.0)]
    format: Literal["flac", "wav"]
    remote: Words
    max_lateness: Lateness


@dataclass(frozen=True)
class Nightly:
    """How late the scheduled flow may start, and whether it validates."""

    max_lateness: Lateness
    validate: bool


@dataclass(frozen=True)
class Quick:
    """The share of a study's counts that `--quick` takes."""

    quick: Annotated[float, Interval(ge=1e-6, le=1.0)]


@dataclass(frozen=True)
class Compute:
    """Where jobs are done; it decides no result, and is in no key of one."""

    address: File
    certificates: File
    workers: Annotated[int, Interval(ge=1, le=4096)] | None
    patience: Annotated[float, Interval(ge=1.0, le=86_400.0)]


@dataclass(frozen=True)
class Search:
    """How a search over settings goes on."""

    batch: Annotated[int, Interval(ge=1, le=1000)]
    storage: File


SECTIONS: Mapping[str, type] = {
    "capture": Capture,
    "nightly": Nightly,
    "study": Quick,
    "compute": Compute,
    "search": Search,
}
