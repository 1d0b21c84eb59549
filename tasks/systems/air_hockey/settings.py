"""The settings of air hockey; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from ricochet.tasks.general_settings import (
    Batch,
    Count,
    Epochs,
    File,
    Places,
    Rate,
    Share,
    Trials,
    Units,
)

Steps = Annotated[int, Interval(ge=0, le=1000)]


@dataclass(frozen=True)
class Hockey:
    """The table, what disturbs a shot, and how much is played."""

    airflow: Annotated[float, Interval(ge=0.0, le=10.0)]
    position_noise: Annotated[float, Interval(ge=0.0, le=1.0)]
    loss: Share
    lost: Steps
    delay: Steps
    mallet_known: bool
    recording: File
    episodes: Annotated[int, Interval(ge=1, le=10_000)]
    steps: Annotated[int, Interval(ge=1, le=1000)]
    shots: Count


@dataclass(frozen=True)
class Energies:
    """The training of the energies of shots."""

    states: Annotated[int, Interval(ge=3, le=200_000)]
    candidates: Annotated[int, Interval(ge=2, le=1000)]
    hidden: Units
    epochs: Epochs
    batch: Batch
    learning_rate: Rate
    held_out: Count
    aim_sd: Places
    trials: Trials


@dataclass(frozen=True)
class NightlyShooting:
    """Whether the scheduled flow trains and validates the energies."""

    shooting: bool


SECTIONS: Mapping[str, type] = {"hockey": Hockey, "energy": Energies, "nightly": NightlyShooting}
