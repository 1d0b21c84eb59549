"""The settings of rigid bodies; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass

from ricochet.tasks.general_settings import Count, Size


@dataclass(frozen=True)
class Pendulum:
    """How much the studies of the double pendulum compute."""

    seeds: Count
    seconds: Size


SECTIONS: Mapping[str, type] = {"pendulum": Pendulum}
