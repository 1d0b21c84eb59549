"""The settings of drawers; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval

from ricochet.tasks.general_settings import Files, Microphones, Words


@dataclass(frozen=True)
class DrawerSessions:
    """What is recorded of a drawer, and by which ring of microphones."""

    drawer: Words
    array: Literal["ring-4", "ring-6"]
    place: Literal["side", "front"]
    microphones: Microphones
    takes: Annotated[int, Interval(ge=1, le=1000)]
    seconds: Annotated[float, Interval(ge=5.0, le=3600.0)]
    light_off: Annotated[float, Interval(ge=0.1, le=3600.0)]


@dataclass(frozen=True)
class LearntDrawer:
    """From which sessions it is learnt what a drawer sounds like."""

    recordings: Files
    recorded: Annotated[int, Interval(ge=2, le=200)]


@dataclass(frozen=True)
class DrawerGate:
    """On how many takes a package is tried before it becomes champion."""

    takes: Annotated[int, Interval(ge=6, le=1000)]
    recordings: Files
    chance: Annotated[float, Interval(ge=1e-4, le=0.5)]


@dataclass(frozen=True)
class NightlyDrawers:
    """Whether the scheduled flow learns and validates what a drawer sounds like."""

    drawers: bool


SECTIONS: Mapping[str, type] = {
    "drawers": DrawerSessions,
    "drawer_learning": LearntDrawer,
    "drawer_gate": DrawerGate,
    "nightly": NightlyDrawers,
}
