"""The settings of a lab that runs for years: free space, and for how long what it leaves is kept.

They decide no result, so nothing that makes one imports them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

Days = Annotated[float, Interval(ge=1.0, le=36_500.0)]
Space = Annotated[float, Interval(ge=0.0, le=1e15)]


@dataclass(frozen=True)
class NightSpace:
    """The bytes that must be free before a night begins."""

    free_space: Space


@dataclass(frozen=True)
class CaptureSpace:
    """The bytes that must be free before a session is recorded."""

    free_space: Space


@dataclass(frozen=True)
class Keep:
    """For how long what servers and nights leave is kept, and how large a log may be."""

    flow_runs: Days
    runs: Days
    log_size: Annotated[float, Interval(ge=1e4, le=1e12)]
    logs: Annotated[int, Interval(ge=1, le=1000)]


SECTIONS: Mapping[str, type] = {"capture": CaptureSpace, "nightly": NightSpace, "keep": Keep}
