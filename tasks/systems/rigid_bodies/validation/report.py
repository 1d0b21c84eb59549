"""What is reported of a pendulum's validation: passes, contacts, and what was measured again."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ricochet.tasks.registry.aliases import CANDIDATE
from ricochet.tasks.systems.rigid_bodies.figures import pendulum_validation as figures
from ricochet.tasks.systems.rigid_bodies.validation import results
from ricochet.tasks.systems.rigid_bodies.validation.gate import NOMINAL, PendulumEvidence
from ricochet.tasks.systems.rigid_bodies.validation.held_out import AHEAD
from ricochet.tasks.systems.rigid_bodies.validation.results import CrossingResult
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.report import Report

LABELS = {
    "free_passes": "moments passed without contact, share",
    "passes": "moments passed, share",
    "contacts_a_pass": "contacts a pass, share",
    "angle_deg_0.25": "held out, median error 0.25 s ahead, degrees",
    "angle_deg_0.5": "held out, median error 0.5 s ahead, degrees",
    "coverage_90_0.25": "held out, share in 90 % intervals 0.25 s ahead",
    "coverage_90_0.5": "held out, share in 90 % intervals 0.5 s ahead",
    "width_ratio": "all widths, stated over inferred again",
    "region_90": "simulated, share of truths in regions of 90 %",
}


def report(_: Contenders, evidence: PendulumEvidence, result: CrossingResult) -> Report:
    """Return what is recorded and shown."""
    rows, found = summary(result), measured(evidence)
    count = len(result.moments[CANDIDATE])
    return Report(
        result=result,
        content=results.to_json(result),
        summary={"again": found, "crossings": rows},
        trials=f"{count} moments before a swung pendulum",
        stated=f"{found['angle_deg_0.25']:.1f} degrees off 0.25 s ahead, on"
        f" {len(evidence.predicted.error)} pieces that were not learnt from",
        measured=rows | {CANDIDATE: rows[CANDIDATE] | found},
        labels=LABELS,
        parameters={
            "moments": count,
            "simulated": len(evidence.places),
            "held_out": len(evidence.predicted.error),
            "seed": result.seed,
        },
        draw=lambda: figures.comparison(evidence, result),
    )


def line(result: Mapping[str, Any]) -> str:
    """Sum up `result.json` in a line."""
    again, row = result["again"], result["crossings"][CANDIDATE]
    return (
        f"held-out pieces {again['angle_deg_0.25']:.1f} degrees off after 0.25 s,"
        f" {again['coverage_90_0.25']:.2f} in 90 % intervals; passed {row['passes']:.2f} of the"
        f" moments, {row['contacts_a_pass']:.3f} contacts a pass"
    )


def measured(evidence: PendulumEvidence) -> dict[str, float]:
    """Return what was measured again, in numbers."""
    predicted = evidence.predicted
    found = {
        "width_ratio": float(np.exp(evidence.agreement.together.value[0])),
        "region_90": float((evidence.levels < NOMINAL).mean()),
    }
    for number, ahead in enumerate(AHEAD):
        found[f"angle_deg_{ahead:g}"] = float(np.degrees(predicted.median_error[number]))
        found[f"coverage_90_{ahead:g}"] = predicted.held(number)[0]
    return found


def summary(result: CrossingResult) -> dict[str, dict[str, float]]:
    """Return passes and contacts by role; contacts a pass are 0 where there is no pass."""
    found = {}
    for role, moments in result.moments.items():
        free = result.free(role, own=False)
        found[role] = {
            "free_passes": sum(free) / len(moments),
            "passes": len(free) / len(moments),
            "contacts_a_pass": 1.0 - sum(free) / len(free) if free else 0.0,
        }
    return found
