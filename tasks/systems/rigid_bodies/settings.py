"""The settings of rigid bodies; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from ricochet.tasks.general_settings import Count, Size


@dataclass(frozen=True)
class Pendulum:
    """How much of a double pendulum is learnt from, and how much is computed."""

    seeds: Count
    seconds: Size
    span: Annotated[float, Interval(ge=0.1, le=60.0)]
    particles: Annotated[int, Interval(ge=8, le=10_000)]


SECTIONS: Mapping[str, type] = {"pendulum": Pendulum}
