"""The ranges of settings, and the settings that no system owns; params.yaml gives units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge, Interval

Amount = Annotated[float, Ge(0.0)]
Size = Annotated[float, Ge(1e-9)]
Share = Annotated[float, Interval(ge=0.0, le=1.0)]
Count = Annotated[int, Ge(1)]
Number = Annotated[int, Ge(0)]


@dataclass(frozen=True)
class Capture:
    """How a session is recorded, and where it is published."""

    rig: str
    microphones: list[Any]
    device: str
    duration: Size
    sample_rate: Annotated[int, Interval(ge=8000, le=384000)]
    temperature: Annotated[float, Interval(ge=-40.0, le=60.0)]
    format: Literal["flac", "wav"]
    remote: str
    max_lateness: Amount


@dataclass(frozen=True)
class Nightly:
    """How late the scheduled flow may start, and whether it validates."""

    max_lateness: Amount
    validate: bool


@dataclass(frozen=True)
class Quick:
    """The share of a study's counts that `--quick` takes."""

    quick: Annotated[float, Interval(ge=1e-6, le=1.0)]


@dataclass(frozen=True)
class Compute:
    """Where jobs are done; it decides no result, and is in no key of one."""

    address: str
    certificates: str
    workers: Annotated[int, Interval(ge=1, le=4096)] | None
    patience: Annotated[float, Interval(ge=1.0, le=86_400.0)]


@dataclass(frozen=True)
class Search:
    """How a search over settings goes on."""

    batch: Annotated[int, Interval(ge=1, le=1000)]
    storage: str


SECTIONS: Mapping[str, type] = {
    "capture": Capture,
    "nightly": Nightly,
    "study": Quick,
    "compute": Compute,
    "search": Search,
}
