"""The trials of a validation: candidate and champion on the same takes.

    {"schema": "ricochet.drawer-trials/1", "name": "drawer-<name>", "candidate": "3",
     "champion": "2" or null, "rig": "simulated", "seed": ..,
     "trials": {"candidate": [{"take": "..", "speed_held": .., ..}, ..], "champion": [..] or null}}

A trial holds what `Tried` says.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.validation.outcomes import reading

SCHEMA = "ricochet.drawer-trials/1"


@dataclass(frozen=True)
class Tried:
    """A package on one take.

    Attributes:
        speed_held: Share of the frames whose speed is in its interval of 90 %.
        speed_error: Root of the mean squared error of the speed, m/s.
        dark_held: Share of the dark frames whose opening is in its interval of 90 %.
        dark_error: Root of the mean squared error of the opening in the dark, m.
        middle_error: The same of the middle of the stroke.
        signs: Share of right signs in the dark while it moves.
        near: Share of the moving time in the dark in which the arm's hand is as far before the
            front as it should be, to 0.1 m.
        middle_near: The same, had the hand stayed before the middle of the stroke.
        touching: Share of the moving time in the dark in which the hand is not before the front.
    """

    take: str
    speed_held: float
    speed_error: float
    dark_held: float
    dark_error: float
    middle_error: float
    signs: float
    near: float
    middle_near: float
    touching: float


MEASURED = tuple(each.name for each in fields(Tried))[1:]


@dataclass(frozen=True)
class DrawerResult:
    """Trials of a candidate and of the champion, on the same takes."""

    name: str
    candidate: str
    champion: str | None
    rig: str
    seed: int
    trials: Mapping[str, tuple[Tried, ...]]

    def __post_init__(self) -> None:
        """Refuse trials of other roles than were named, or of other takes for each."""
        roles = {CANDIDATE} | ({CHAMPION} if self.champion is not None else set())
        if set(self.trials) != roles:
            raise BadInput("trials", f"those of {sorted(self.trials)}", f"{sorted(roles)}")
        if len({tuple(each.take for each in rows) for rows in self.trials.values()}) != 1:
            raise BadInput("trials", "roles that were tried on other takes", "the same takes")

    def column(self, role: str, name: str) -> Float[ndarray, " take"]:
        """Return a number of each take."""
        return np.array([getattr(each, name) for each in self.trials[role]], float)


def to_json(result: DrawerResult) -> dict[str, Any]:
    """Return a result as JSON can hold it."""
    rows = {role: [asdict(each) for each in found] for role, found in result.trials.items()}
    return {
        "schema": SCHEMA,
        "name": result.name,
        "candidate": result.candidate,
        "champion": result.champion,
        "rig": result.rig,
        "seed": result.seed,
        "trials": {role: rows.get(role) for role in (CANDIDATE, CHAMPION)},
    }


def from_json(content: Mapping[str, Any], where: str) -> DrawerResult:
    """Read a result; `BadInput` if it is none."""
    with reading(content, SCHEMA, where):
        champion = content["champion"]
        return DrawerResult(
            name=str(content["name"]),
            candidate=str(content["candidate"]),
            champion=None if champion is None else str(champion),
            rig=str(content["rig"]),
            seed=int(content["seed"]),
            trials={r: _tried(rows) for r, rows in content["trials"].items() if rows is not None},
        )


def _tried(rows: Sequence[Mapping[str, Any]]) -> tuple[Tried, ...]:
    found = []
    for row in rows:
        numbers = {name: float(row[name]) for name in MEASURED}
        if not all(math.isfinite(value) and value >= 0.0 for value in numbers.values()):
            raise ValueError("numbers that are finite and not negative")
        found.append(Tried(str(row["take"]), **numbers))
    return tuple(found)
