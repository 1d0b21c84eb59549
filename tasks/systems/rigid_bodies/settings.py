"""The settings of rigid bodies; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval, Len

from ricochet.tasks.general_settings import Count, Size


@dataclass(frozen=True)
class Pendulum:
    """How much of a double pendulum is learnt from, and how much is computed."""

    seeds: Count
    repeats: Count
    films: str
    seconds: Size
    span: Annotated[float, Interval(ge=0.1, le=60.0)]
    instants: Annotated[list[Annotated[float, Interval(ge=0.0, le=1e5)]], Len(1, 20)]
    particles: Annotated[int, Interval(ge=8, le=10_000)]


SECTIONS: Mapping[str, type] = {"pendulum": Pendulum}
