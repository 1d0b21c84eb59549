"""The trials of a validation: candidate and champion on the same seeds, toss by toss, cup by cup.

    {"schema": "ricochet.twin/1", "name": .., "candidate": "3", "champion": "2" or null, "rig": ..,
     "seeds": [..], "success": {"candidate": [true, ..], "champion": [..] or null},
     "stay": [true, ..] or null,
     "positions": [[x, y], ..], "inside_90": {"candidate": [..], "champion": [..] or null}}

`success[i]`: was the toss of `seeds[i]` touched? `inside_90[i]`: did the success counted at
`positions[i]` lie within the posterior's predicted 90 % interval? The pairs are what the gate
compares, so both roles must have seen the very same seeds and positions. `stay[i]`: would a paddle
that stays at home have touched that toss? It stands in for a champion that is not there. On a real
rig a seed is that of the controllers alone: every toss is another one, `positions` is empty, and
`staying` holds the share of simulated tosses that a paddle at home touches where no champion is
there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.validation.outcomes import (
    Paired,
    outcomes_from_json,
    paired_from_json,
    reading,
)

SCHEMA = "ricochet.twin/1"

Role = str
Outcomes = Mapping[Role, tuple[bool, ...]]


@dataclass(frozen=True)
class TrackingTrials:
    """The tosses as each role played them.

    Attributes:
        energy: Mean energy of the paddle over its mass, m^2/s, by role.
        latency: Time from a bounce's sound to the new target, 99th percentile, s, by role.
    """

    success: Outcomes
    energy: Mapping[Role, float]
    latency: Mapping[Role, float]
    refused: Mapping[Role, tuple[str, ...]]


UNTRACKED = TrackingTrials({}, {}, {}, {})


@dataclass(frozen=True)
class TwinResult:
    """What a rig saw of a candidate and of the champion.

    Attributes:
        positions: Places from which the ball was dropped towards the cup, m.
        inside_90: Whether the success counted at each place lay in the predicted 90 % interval.
        stay: Whether a stationary paddle touched each toss; None where it was not tried.
        staying: Share of tosses within reach that a stationary paddle touches in simulation; None
            where it was not measured.
        tracking: How the tosses were tracked; empty where the result was read.
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
    staying: float | None = None
    tracking: TrackingTrials = UNTRACKED

    def __post_init__(self) -> None:
        """Refuse trials of unequal number, and a champion that is named or ran, but not both."""
        for key, paired, trials in (
            ("success", self.success, len(self.seeds)),
            ("inside_90", self.inside_90, len(self.positions)),
        ):
            if (paired.champion is None) != (self.champion is None):
                raise BadInput(f"twin result: {key}", "a name or results alone", "both or neither")
            for role in (paired.candidate, paired.champion):
                if role is not None and len(role) != trials:
                    raise BadInput(f"twin result: {key}", f"{len(role)} outcomes", f"{trials}")
        if self.stay is not None and len(self.stay) != len(self.seeds):
            raise BadInput("twin result: stay", f"{len(self.stay)} outcomes", f"{len(self.seeds)}")


def to_json(result: TwinResult) -> dict[str, Any]:
    """Return a result as JSON can hold it, without how the tosses were tracked."""
    staying = {} if result.staying is None else {"staying": result.staying}
    return {
        "schema": SCHEMA,
        "name": result.name,
        "candidate": result.candidate,
        "champion": result.champion,
        "rig": result.rig,
        "seeds": list(result.seeds),
        "success": result.success.to_json(),
        "stay": None if result.stay is None else list(result.stay),
        "positions": [list(place) for place in result.positions],
        "inside_90": result.inside_90.to_json(),
        **staying,
    }


def from_json(content: Mapping[str, Any], where: str) -> TwinResult:
    """Read a result; `BadInput` if it is none."""
    with reading(content, SCHEMA, where):
        champion = content["champion"]
        stay, staying = content.get("stay"), content.get("staying")
        return TwinResult(
            name=str(content["name"]),
            candidate=str(content["candidate"]),
            champion=None if champion is None else str(champion),
            rig=str(content["rig"]),
            seeds=tuple(int(seed) for seed in content["seeds"]),
            success=paired_from_json(content["success"]),
            positions=tuple(tuple(map(float, place)) for place in content["positions"]),
            inside_90=paired_from_json(content["inside_90"]),
            stay=None if stay is None else outcomes_from_json(stay),
            staying=None if staying is None else float(staying),
        )
