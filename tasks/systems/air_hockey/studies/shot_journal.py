"""Shots of a study that was stopped, so that it goes on where it was.

A shot is found again by how it begins, by what disturbs it and by its player: the row, and a digest
of everything that decides how the row plays - the packages' numbers, the settings and the code.
Shots of other code, packages or settings are played anew.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.core.progress import Progress
from ricochet.models.systems.air_hockey.agent import ShootingAgent
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact
from ricochet.models.systems.air_hockey.puck import dynamics
from ricochet.models.systems.air_hockey.shot_outcome import Outcome
from ricochet.models.systems.air_hockey.shots import energy_network
from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.models.systems.air_hockey.strike_plan import StrikePlan
from ricochet.tasks.console.jobs import Journal
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage import provenance
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from ricochet.tasks.systems.air_hockey.studies import rows
from ricochet.tasks.systems.air_hockey.validation import trials
from ricochet.tasks.systems.air_hockey.validation.trials import Played, Start

FILE = "journal.jsonl"
TASKS = "ricochet.tasks.systems.air_hockey.studies.own_half"
"""The module that plays the tasks of the own half."""


@dataclass(frozen=True)
class Player:
    """A row that plays, and the journal of what it has played.

    Attributes:
        mark: What it is found by in the journal.
    """

    make: Callable[[], ShootingAgent]
    mark: str
    journal: Journal[Played]

    def play(
        self,
        begun: Sequence[Start],
        disturbance: Disturbance,
        progress: Progress,
        *,
        workers: int | None = None,
    ) -> list[Played]:
        """Play shots side by side, by so many processes or as many as there are processors."""
        return trials.play_all(
            self.make,
            begun,
            disturbance,
            progress=progress,
            workers=workers,
            journal=self.journal,
            player=self.mark,
        )

    def time(
        self, begun: Sequence[Start], disturbance: Disturbance, progress: Progress
    ) -> list[Played]:
        """Play shots one after the other, and anew: times are those of now, of nothing else."""
        return trials.play_all(self.make, begun, disturbance, progress=progress, workers=1)


def journal(folder: Path) -> Journal[Played]:
    """Return the journal of a study in its folder, which exists."""
    return Journal(folder / FILE, encode, decode)


def digest(shooters: Mapping[str, Shooter], settings: Settings) -> str:
    """Return what marks packages, settings and code, by which shots are found again."""
    found = hashlib.sha256()
    for module in (rows.__name__, trials.__name__, TASKS):
        found.update(provenance.code_digest(module).encode())
    for part in (asdict(settings[Hockey]), asdict(settings[Energies])):
        found.update(json.dumps(part, sort_keys=True).encode())
    for name, shooter in sorted(shooters.items()):
        about = (name, asdict(shooter.setting), asdict(shooter.table))
        found.update(json.dumps(about, sort_keys=True).encode())
        for arrays in _arrays(shooter):
            for field, values in sorted(arrays.items()):
                found.update(f"{field} {values.dtype} {values.shape}".encode())
                found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()[:16]


def encode(played: Played) -> dict[str, Any]:
    """Return what a journal can hold."""
    plain: dict[str, Any] = _plain(asdict(played))
    return plain


def decode(held: Mapping[str, Any]) -> Played:
    """Return what a journal held."""
    start, outcome = held["start"], held["outcome"]
    begins = {**start, "puck": tuple(start["puck"]), "seed": tuple(start["seed"])}
    lists = {name: tuple(outcome[name]) for name in ("launch", "violations")}
    return Played(
        Start(**begins),
        Outcome(**{**outcome, **lists}),
        tuple(held["steps"]),
        tuple(held["faults"]),
        tuple(_strike_plan(each) for each in held["strike_plans"]),
        held["succeeded"],
    )


def _strike_plan(held: Mapping[str, Any]) -> StrikePlan:
    contact: dict[str, Any] = {
        name: np.array(value) if isinstance(value, list) else value
        for name, value in held["contact"].items()
    }
    return StrikePlan(**{**held, "contact": Contact(**contact), "puck": np.array(held["puck"])})


def _arrays(shooter: Shooter) -> tuple[Mapping[str, np.ndarray], ...]:
    """Return all numbers of a shooter."""
    return (
        energy_network.to_arrays(shooter.energy),
        dynamics.to_arrays(shooter.modes),
        shooter.strokes.to_arrays(),
        {"low": shooter.low, "high": shooter.high},
    )


def _plain(value: Any) -> Any:
    """Return the same with lists in place of arrays."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value
