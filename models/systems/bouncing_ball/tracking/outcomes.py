"""The task of intercepting a tossed ball with a paddle, and how its outcomes are counted.

Matl et al., section 4.4, appendices E.1 and E.2. A toss is one of

    success     within the boundaries the paddle touches the ball as it crosses the robot's plane
    boundaries  no paddle in the workspace could touch it, or it never crosses
    outliers    no touch, and a bounce before the crossing was mislocated or not detected
    missed      no touch, for any other reason

and the energy is that of the paddle's motion normalised by its mass, the integral of v^2 / 2 in
m^2/s. As in Fig. 7, shares are taken over the tosses within the boundaries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace

MISLOCATED = 0.05
"""Error beyond which a bounce counts as an outlier, m."""
MATCH = 0.02
"""Largest time between a bounce and its event, s."""
KINDS = ("success", "outliers", "boundaries", "missed")


@dataclass(frozen=True)
class Outcome:
    """How one toss ended.

    Attributes:
        kind: One of `KINDS`.
        energy: Integral of half the paddle's squared speed, m^2/s.
        distance: From the paddle's centre to the ball in the robot's plane, m; infinite where the
            ball does not cross it.
        outliers: Bounces, counted from 1, that were mislocated or missed.
        refused: Targets that the robot refused, and bad events, a line each.
    """

    kind: str
    energy: float
    distance: float
    outliers: tuple[int, ...]
    refused: tuple[str, ...] = ()


def judge(
    crossing: Float[ndarray, " 2"] | None,
    paddle: Float[ndarray, " 2"],
    *,
    workspace: Workspace,
    ball_radius: float,
    outliers: tuple[int, ...],
) -> tuple[str, float]:
    """Return how a toss ended, and the distance, m, of ball and paddle at (y, z) of the plane."""
    if crossing is None:
        return "boundaries", np.inf
    distance = float(np.hypot(*(crossing - paddle)))
    reach = workspace.paddle_radius + ball_radius
    if beyond(crossing, workspace) > reach:
        return "boundaries", distance
    if distance <= reach:
        return "success", distance
    return ("outliers" if outliers else "missed"), distance


def beyond(crossing: Float[ndarray, " 2"], workspace: Workspace) -> float:
    """Return how far a crossing (y, z), m, is from where the paddle's centre may be, m."""
    low, high = np.array((workspace.y, workspace.z)).T
    return float(np.hypot(*(crossing - np.clip(crossing, low, high))))


def mislocated(
    times: Float[ndarray, " bounce"],
    positions: Float[ndarray, "bounce 2"],
    events: Sequence[BounceEvent],
) -> tuple[int, ...]:
    """Return the bounces, counted from 1, that have no event, or one with no or a wrong place."""
    wrong = []
    for index, (time, place) in enumerate(zip(times, positions, strict=True), start=1):
        near = min(events, key=lambda event: abs(event.arrival - time), default=None)
        lost = near is None or abs(near.arrival - time) > MATCH or near.position is None
        if lost or not np.hypot(*(near.position - place)) <= MISLOCATED:  # type: ignore[union-attr]
            wrong.append(index)
    return tuple(wrong)


def row(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Summarise a controller's tosses: shares with exact 95 % intervals, and mean energies."""
    counts = {kind: sum(each.kind == kind for each in outcomes) for kind in KINDS}
    within = len(outcomes) - counts["boundaries"]
    energies = np.array([each.energy for each in outcomes])
    successes = np.array([each.energy for each in outcomes if each.kind == "success"])
    shares = {
        kind: counts[kind] / max(within if kind != "boundaries" else len(outcomes), 1)
        for kind in KINDS
    }
    return {
        **shares,
        "energy": _mean(energies),
        "energy_successes": _mean(successes),
        "counts": counts,
        "tosses": len(outcomes),
        "success_interval": interval(counts["success"], within),
        "outliers_interval": interval(counts["outliers"], within),
        "energy_error": _error(energies),
        "energy_successes_error": _error(successes),
        "outliers_by_bounce": by_bounce(outcomes),
        "refused": sum(bool(each.refused) for each in outcomes),
    }


def by_bounce(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Count failures due to outliers by the bounce that was wrong first (Fig. 14)."""
    firsts = [min(each.outliers) for each in outcomes if each.kind == "outliers"]
    return {
        "first": firsts.count(1),
        "second": firsts.count(2),
        "later": sum(first > 2 for first in firsts),
    }


def interval(hits: int, cases: int) -> tuple[float, float]:
    """Return the exact binomial 95 % interval of a share; (0, 1) where there is no case."""
    if cases == 0:
        return 0.0, 1.0
    found = stats.binomtest(hits, cases).proportion_ci(0.95, method="exact")
    return float(found.low), float(found.high)


def _mean(values: Float[ndarray, " toss"]) -> float | None:
    return float(values.mean()) if len(values) else None


def _error(values: Float[ndarray, " toss"]) -> float | None:
    return float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else None
