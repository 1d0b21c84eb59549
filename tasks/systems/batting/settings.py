"""The settings of batting; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval


@dataclass(frozen=True)
class LearntImpacts:
    """How much is computed of the law of impact, and what is known of it before."""

    particles: Annotated[int, Interval(ge=100, le=100_000)]
    friction_limit: Annotated[float, Interval(ge=0.1, le=100.0)]


SECTIONS: Mapping[str, type] = {"impacts": LearntImpacts}
