"""The settings of air hockey; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from ricochet.tasks.general_settings import Amount, Count, Number, Share, Size


@dataclass(frozen=True)
class Hockey:
    """The table, what disturbs a shot, and how much is played."""

    airflow: Amount
    position_noise: Amount
    loss: Share
    lost: Number
    delay: Number
    mallet_known: bool
    recording: str
    episodes: Count
    steps: Count
    shots: Count


@dataclass(frozen=True)
class Energies:
    """The training of the energies of shots."""

    states: Annotated[int, Ge(3)]
    candidates: Annotated[int, Ge(2)]
    hidden: Count
    epochs: Count
    batch: Count
    learning_rate: Size
    held_out: Count
    aim_sd: Amount
    trials: Number


@dataclass(frozen=True)
class NightlyShooting:
    """Whether the scheduled flow trains and validates the energies."""

    shooting: bool


SECTIONS: Mapping[str, type] = {"hockey": Hockey, "energy": Energies, "nightly": NightlyShooting}
