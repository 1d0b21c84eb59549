"""The settings of batting; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from ricochet.tasks.general_settings import File, Words


@dataclass(frozen=True)
class LearntImpacts:
    """How much is computed of the law of impact, and what is known of it before."""

    particles: Annotated[int, Interval(ge=100, le=100_000)]
    friction_limit: Annotated[float, Interval(ge=0.1, le=100.0)]


@dataclass(frozen=True)
class Batting:
    """What a controller is learnt from, and its name."""

    set: Words
    recording: File
    impacts: Annotated[int, Interval(ge=60, le=20_000)]
    flights: Annotated[int, Interval(ge=10, le=1000)]


@dataclass(frozen=True)
class BattingGate:
    """How much is measured again and played before a package becomes champion."""

    flights: Annotated[int, Interval(ge=10, le=1000)]
    trials: Annotated[int, Interval(ge=8, le=1000)]
    seconds: Annotated[float, Interval(ge=1.0, le=3600.0)]
    chance: Annotated[float, Interval(ge=1e-4, le=0.5)]


@dataclass(frozen=True)
class NightlyBatting:
    """Whether the scheduled flow learns and validates a controller of batting."""

    batting: bool


SECTIONS: Mapping[str, type] = {
    "impacts": LearntImpacts,
    "batting": Batting,
    "batting_gate": BattingGate,
    "nightly": NightlyBatting,
}
