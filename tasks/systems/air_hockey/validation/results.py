"""The shots of a validation: candidate and champion from the same starts.

    {"schema": "ricochet.shots/1", "name": "shooting-<setting>", "candidate": "3",
     "champion": "2" or null, "seed": .., "disturbance": {..},
     "shots": {"candidate": [[scored, speed, banks, violations], ..], "champion": [..] or null}}

Shot i of both roles has the same puck, airflow and noise: the gate compares pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.validation.outcomes import SIMULATED, Paired, reading

SCHEMA = "ricochet.shots/1"


@dataclass(frozen=True)
class Shot:
    """One shot.

    Attributes:
        scored: Whether the puck passed the goal without touching a post.
        speed: Its speed at the goal line, m/s; 0 where it did not get there.
        banks: Contacts with the long rims after the stroke.
        violations: Limits of joints, links or table that were broken.
    """

    scored: bool
    speed: float
    banks: int
    violations: int


@dataclass(frozen=True)
class ShootingResult:
    """Shots of a candidate and of the champion."""

    name: str
    candidate: str
    champion: str | None
    seed: int
    disturbance: Mapping[str, float]
    shots: Mapping[str, tuple[Shot, ...]]

    def __post_init__(self) -> None:
        """Refuse shots of other roles than were named, or of roles that shot unequally often."""
        roles = {CANDIDATE} if self.champion is None else {CANDIDATE, CHAMPION}
        if set(self.shots) != roles:
            raise BadInput("shots", f"those of {sorted(self.shots)}", f"those of {sorted(roles)}")
        if len({len(rows) for rows in self.shots.values()}) != 1:
            raise BadInput("shots", "roles that shot unequally often", "the same starts for both")

    @property
    def rig(self) -> str:
        """The rig, which is simulated."""
        return SIMULATED

    @property
    def scored(self) -> Paired:
        """Whether each shot scored."""
        found = {role: tuple(shot.scored for shot in rows) for role, rows in self.shots.items()}
        return Paired(found[CANDIDATE], found.get(CHAMPION))


def to_json(result: ShootingResult) -> dict[str, Any]:
    """Return a result as JSON can hold it."""
    rows = {role: [list(astuple(shot)) for shot in shots] for role, shots in result.shots.items()}
    return {
        "schema": SCHEMA,
        "name": result.name,
        "candidate": result.candidate,
        "champion": result.champion,
        "seed": result.seed,
        "disturbance": dict(result.disturbance),
        "shots": {CANDIDATE: rows[CANDIDATE], CHAMPION: rows.get(CHAMPION)},
    }


def from_json(content: Mapping[str, Any], where: str) -> ShootingResult:
    """Read a result; `BadInput` if it is none."""
    with reading(content, SCHEMA, where):
        champion = content["champion"]
        return ShootingResult(
            name=str(content["name"]),
            candidate=str(content["candidate"]),
            champion=None if champion is None else str(champion),
            seed=int(content["seed"]),
            disturbance={str(k): float(v) for k, v in content["disturbance"].items()},
            shots={r: _shots(rows) for r, rows in content["shots"].items() if rows is not None},
        )


def _shots(rows: Sequence[Sequence[Any]]) -> tuple[Shot, ...]:
    if not all(isinstance(scored, bool) for scored, *_ in rows):
        raise TypeError("scored is true or false")
    return tuple(
        Shot(scored, float(speed), int(banks), int(violations))
        for scored, speed, banks, violations in rows
    )
