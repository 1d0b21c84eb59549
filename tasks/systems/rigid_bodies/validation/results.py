"""The crossings of a validation: candidate and champion at the same moments.

    {"schema": "ricochet.crossings/1", "name": "pendulum-<name>", "candidate": "3",
     "champion": "2" or null, "seed": ..,
     "moments": {"candidate": [[chance, passes, touched, plays], ..], "champion": [..] or null}}

`plays` is the role whose posterior the pendulum of that moment was drawn from. Moment i of both
roles is the same: the gate compares pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.validation.outcomes import SIMULATED, Paired, outcomes_from_json, reading

SCHEMA = "ricochet.crossings/1"


@dataclass(frozen=True)
class Moment:
    """A decision.

    Attributes:
        chance: Of contact, as the controller has it.
        touched: Whether the disc was touched while it would have been passed.
        plays: Role whose posterior the pendulum was drawn from.
    """

    chance: float
    passes: bool
    touched: bool
    plays: str


@dataclass(frozen=True)
class CrossingResult:
    """Decisions of a candidate and of the champion."""

    name: str
    candidate: str
    champion: str | None
    seed: int
    moments: Mapping[str, tuple[Moment, ...]]

    def __post_init__(self) -> None:
        """Refuse decisions of other roles than were named, or at different moments."""
        roles = {CANDIDATE} if self.champion is None else {CANDIDATE, CHAMPION}
        if set(self.moments) != roles:
            found = f"those of {sorted(self.moments)}"
            raise BadInput("moments", found, f"those of {sorted(roles)}")
        same = {tuple((m.touched, m.plays) for m in each) for each in self.moments.values()}
        if len(same) != 1:
            raise BadInput("moments", "roles before different pendulums", "the same for both")

    @property
    def rig(self) -> str:
        """The rig, which is simulated."""
        return SIMULATED

    @property
    def passed(self) -> Paired:
        """Whether each moment was used for a pass without contact."""
        found = {
            role: tuple(m.passes and not m.touched for m in each)
            for role, each in self.moments.items()
        }
        return Paired(found[CANDIDATE], found.get(CHAMPION))

    def free(self, role: str, *, own: bool = True) -> tuple[bool, ...]:
        """Return whether each pass of a role was free, before its own pendulums or before all."""
        return tuple(
            not m.touched for m in self.moments[role] if m.passes and (m.plays == role or not own)
        )


def to_json(result: CrossingResult) -> dict[str, Any]:
    """Return a result as JSON can hold it."""
    rows = {role: [list(astuple(m)) for m in each] for role, each in result.moments.items()}
    return {
        "schema": SCHEMA,
        "name": result.name,
        "candidate": result.candidate,
        "champion": result.champion,
        "seed": result.seed,
        "moments": {CANDIDATE: rows[CANDIDATE], CHAMPION: rows.get(CHAMPION)},
    }


def from_json(content: Mapping[str, Any], where: str) -> CrossingResult:
    """Read a result; `BadInput` if it is none."""
    with reading(content, SCHEMA, where):
        champion = content["champion"]
        return CrossingResult(
            name=str(content["name"]),
            candidate=str(content["candidate"]),
            champion=None if champion is None else str(champion),
            seed=int(content["seed"]),
            moments={
                role: tuple(map(_moment, rows))
                for role, rows in content["moments"].items()
                if rows is not None
            },
        )


def _moment(row: Sequence[Any]) -> Moment:
    chance, *outcomes, plays = row
    passes, touched = outcomes_from_json(outcomes)
    return Moment(float(chance), passes, touched, str(plays))
