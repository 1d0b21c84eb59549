"""The trials of a validation: candidate, champion and row B from the same starts.

    {"schema": "ricochet.batting-trials/1", "name": "batting-<set>", "candidate": "3",
     "champion": "2" or null, "seed": .., "seconds": ..,
     "trials": {"candidate": [[[passes, ..], bats, looks, [fault, ..]], ..], "champion": [..] or
                null, "reference": [..]}}

Trial i of every role has the same object, start and errors of the camera. The reference plans as
row B of Table I of Fu et al., by the candidate's package. Passes are those at each of the
distances of `table.DISTANCES`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.batting.table import DISTANCES
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.systems.batting.studies.rows import DELTA
from ricochet.tasks.validation.outcomes import SIMULATED, reading

SCHEMA = "ricochet.batting-trials/1"
REFERENCE = "reference"
"""Role of row B."""
AT_DELTA = int(np.abs(DISTANCES - DELTA).argmin())


@dataclass(frozen=True)
class BoardTrial:
    """One trial on the board.

    Attributes:
        passes: At each distance of Table I.
        bats, looks: Impacts with the bat, and bats for information.
        faults: What was wrong, a line each.
    """

    passes: tuple[int, ...]
    bats: int
    looks: int
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class BattingResult:
    """Trials of a candidate, of the champion and of row B."""

    name: str
    candidate: str
    champion: str | None
    seed: int
    seconds: float
    trials: Mapping[str, tuple[BoardTrial, ...]]

    def __post_init__(self) -> None:
        """Refuse trials of other roles than were named, or of roles that played unequally often."""
        roles = {CANDIDATE, REFERENCE} | ({CHAMPION} if self.champion is not None else set())
        if set(self.trials) != roles:
            raise BadInput("trials", f"those of {sorted(self.trials)}", f"{sorted(roles)}")
        if len({len(rows) for rows in self.trials.values()}) != 1:
            raise BadInput("trials", "roles that played unequally often", "the same starts for all")

    @property
    def rig(self) -> str:
        """The rig, which is simulated."""
        return SIMULATED

    def passes(self, role: str) -> Float[ndarray, " trial"]:
        """Return the passes of a role at DELTA in each trial."""
        return np.array([each.passes[AT_DELTA] for each in self.trials[role]], float)


def to_json(result: BattingResult) -> dict[str, Any]:
    """Return a result as JSON can hold it."""
    rows = {role: [list(astuple(one)) for one in found] for role, found in result.trials.items()}
    return {
        "schema": SCHEMA,
        "name": result.name,
        "candidate": result.candidate,
        "champion": result.champion,
        "seed": result.seed,
        "seconds": result.seconds,
        "trials": {role: rows.get(role) for role in (CANDIDATE, CHAMPION, REFERENCE)},
    }


def from_json(content: Mapping[str, Any], where: str) -> BattingResult:
    """Read a result; `BadInput` if it is none."""
    with reading(content, SCHEMA, where):
        champion = content["champion"]
        return BattingResult(
            name=str(content["name"]),
            candidate=str(content["candidate"]),
            champion=None if champion is None else str(champion),
            seed=int(content["seed"]),
            seconds=float(content["seconds"]),
            trials={r: _trials(rows) for r, rows in content["trials"].items() if rows is not None},
        )


def _trials(rows: Sequence[Sequence[Any]]) -> tuple[BoardTrial, ...]:
    found = tuple(
        BoardTrial(
            tuple(int(count) for count in passes),
            int(bats),
            int(looks),
            tuple(str(line) for line in faults),
        )
        for passes, bats, looks, faults in rows
    )
    if any(len(each.passes) != len(DISTANCES) or min(each.passes) < 0 for each in found):
        raise ValueError(f"passes at {len(DISTANCES)} distances, none negative")
    return found
