"""What a validation saw: candidate and champion on the same seeds, toss by toss, cup by cup.

    {"schema": "ricochet.twin/1", "name": .., "candidate": "3", "champion": "2" or null, "rig": ..,
     "seeds": [..], "success": {"candidate": [true, ..], "champion": [..] or null},
     "stay": [true, ..] or null,
     "positions": [[x, y], ..], "inside_90": {"candidate": [..], "champion": [..] or null}}

`success[i]`: was the toss of `seeds[i]` met? `inside_90[i]`: did the success counted at
`positions[i]` lie within the posterior's predicted 90 % interval? The pairs are what the gate
compares, so both roles must have seen the very same seeds and positions. `stay[i]`: would a paddle
that stays at home have met that toss? It stands in for a champion that is not there. On a real rig
a seed is that of the controllers alone: every toss is another one, and `positions` is empty.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ricochet.models.core.bad_input import BadInput

SCHEMA = "ricochet.twin/1"
CANDIDATE, CHAMPION, STAY = "candidate", "champion", "stay"
SIMULATED, REAL = "simulated", "real"
"""The rigs. On a real one no two tosses are the same and no cup is tried."""


class OnTrial(Protocol):
    """Who was on trial, whatever the trials were."""

    @property
    def name(self) -> str:
        """Name in the registry."""

    @property
    def candidate(self) -> str:
        """Version on trial."""

    @property
    def champion(self) -> str | None:
        """Version it was compared with; None where there is none yet."""

    @property
    def rig(self) -> str:
        """The rig, simulated or real."""


@dataclass(frozen=True)
class Paired:
    """The same trials with candidate and champion.

    Attributes:
        candidate: Outcome of each trial.
        champion: Outcome of the same trials; None where there is no champion yet.
    """

    candidate: tuple[bool, ...]
    champion: tuple[bool, ...] | None

    def shares(self) -> dict[str, float]:
        """Return the share of good outcomes by role."""
        roles = {CANDIDATE: self.candidate, CHAMPION: self.champion}
        return {role: sum(good) / len(good) for role, good in roles.items() if good}


@dataclass(frozen=True)
class TwinResult:
    """What a rig saw of a candidate and of the champion.

    Attributes:
        name: Name in the registry, `<ball>-<surface>`.
        candidate: Version on trial.
        champion: Version it was compared with; None where there is none yet.
        rig: The rig, simulated or real.
        seeds: Seed of each toss.
        success: Whether each toss was met.
        positions: Places from which the ball was dropped towards the cup, m.
        inside_90: Whether the success counted at each place lay in the predicted 90 % interval.
        stay: Whether a paddle that stays met each toss; None where it was not tried.
    """

    name: str
    candidate: str
    champion: str | None
    rig: str
    seeds: tuple[int, ...]
    success: Paired
    positions: tuple[tuple[float, ...], ...]
    inside_90: Paired
    stay: tuple[bool, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse trials that are not paired.

        Raises:
            BadInput: If a role did not see every seed and every position, or the champion is named
                and did not run, or ran and is not named.
        """
        for key, paired, trials in (
            ("success", self.success, len(self.seeds)),
            ("inside_90", self.inside_90, len(self.positions)),
        ):
            if (paired.champion is None) != (self.champion is None):
                raise BadInput(f"twin result: {key}", "a champion half there", "both or neither")
            for role in (paired.candidate, paired.champion):
                if role is not None and len(role) != trials:
                    raise BadInput(f"twin result: {key}", f"{len(role)} outcomes", f"{trials}")
        if self.stay is not None and len(self.stay) != len(self.seeds):
            raise BadInput("twin result: stay", f"{len(self.stay)} outcomes", f"{len(self.seeds)}")


def to_json(result: TwinResult) -> dict[str, Any]:
    """Return a result as JSON can hold it.

    Args:
        result: The result.

    Returns:
        The mapping.
    """
    return {
        "schema": SCHEMA,
        "name": result.name,
        "candidate": result.candidate,
        "champion": result.champion,
        "rig": result.rig,
        "seeds": list(result.seeds),
        "success": _paired_to_json(result.success),
        "stay": None if result.stay is None else list(result.stay),
        "positions": [list(place) for place in result.positions],
        "inside_90": _paired_to_json(result.inside_90),
    }


def from_json(content: Mapping[str, Any], *, where: str) -> TwinResult:
    """Read a result.

    Args:
        content: The mapping.
        where: Where it came from, for an error.

    Returns:
        The result.

    Raises:
        BadInput: If it is none.
    """
    with reading(content, SCHEMA, where):
        champion, stay = content["champion"], content.get("stay")
        return TwinResult(
            name=str(content["name"]),
            candidate=str(content["candidate"]),
            champion=None if champion is None else str(champion),
            rig=str(content["rig"]),
            seeds=tuple(int(seed) for seed in content["seeds"]),
            success=_paired(content["success"]),
            positions=tuple(tuple(map(float, place)) for place in content["positions"]),
            inside_90=_paired(content["inside_90"]),
            stay=None if stay is None else _outcomes(stay),
        )


@contextlib.contextmanager
def reading(content: Mapping[str, Any], schema: str, where: str) -> Iterator[None]:
    """Refuse what is no result of a schema, or cannot be read as one by the block.

    Args:
        content: The mapping.
        schema: Which result is expected.
        where: Where it came from, for the error.

    Raises:
        BadInput: If it is none.
    """
    if content.get("schema") != schema:
        raise BadInput(where, f"schema {content.get('schema')!r}", schema)
    try:
        yield
    except BadInput:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        found = f"a result that cannot be read ({type(error).__name__}: {error})"
        raise BadInput(where, found, f"the keys and kinds of {schema}") from error


def _paired_to_json(paired: Paired) -> dict[str, Any]:
    champion = None if paired.champion is None else list(paired.champion)
    return {CANDIDATE: list(paired.candidate), CHAMPION: champion}


def _paired(content: Mapping[str, Any]) -> Paired:
    champion = content[CHAMPION]
    return Paired(_outcomes(content[CANDIDATE]), None if champion is None else _outcomes(champion))


def _outcomes(values: Sequence[object]) -> tuple[bool, ...]:
    if not all(isinstance(value, bool) for value in values):
        raise TypeError("an outcome is true or false")
    return tuple(bool(value) for value in values)
