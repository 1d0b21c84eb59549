"""The settings of drawers; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Interval


@dataclass(frozen=True)
class DrawerSessions:
    """What is recorded of a drawer, and by which ring of microphones."""

    drawer: str
    array: Literal["ring-4", "ring-6"]
    place: Literal["side", "front"]
    microphones: list[Any]
    takes: Annotated[int, Interval(ge=1, le=1000)]
    seconds: Annotated[float, Interval(ge=5.0, le=3600.0)]
    light_off: Annotated[float, Interval(ge=0.1, le=3600.0)]


SECTIONS: Mapping[str, type] = {"drawers": DrawerSessions}
