"""What is reported of a validation of batting: passes at every distance, bats, coverage."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ricochet.models.systems.batting.table import DISTANCES
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.systems.batting.figures import validation as figures
from ricochet.tasks.systems.batting.studies.rows import DELTA
from ricochet.tasks.systems.batting.validation import results
from ricochet.tasks.systems.batting.validation.gate import BattingEvidence
from ricochet.tasks.systems.batting.validation.results import REFERENCE, BattingResult
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.report import Report

LABELS = {
    "passes": f"passes of the goal at {DELTA} m, in 200 s",
    "passes_wide": f"passes of the goal at {DISTANCES[-1]} m, in 200 s",
    "bats": "bats, in 200 s",
    "faults": "lines of faults, a trial",
    "impact_coverage": "held-out impacts in their 90 % regions, share",
    "filter_coverage": "flights in the filter's 90 % region, share",
    "filter_median": "error of the filter, median, m",
}


def report(_: Contenders, evidence: BattingEvidence, result: BattingResult) -> Report:
    """Return what is recorded and shown."""
    rows = summary(result)
    measured = {
        "impact_coverage": evidence.impacts.value,
        "filter_coverage": evidence.filter.value,
        "filter_median": float(np.median(evidence.errors)),
    }
    count = len(result.trials[CANDIDATE])
    shown = {role: rows[role] for role in (CANDIDATE, CHAMPION) if role in rows}
    return Report(
        result=result,
        content=results.to_json(result),
        summary={
            "measured_again": {**asdict(evidence), "errors": list(evidence.errors)},
            "trials": rows,
        },
        trials=f"{count} trials of {result.seconds:g} s",
        stated=f"{evidence.impacts.value:.2f} of the held-out impacts in their 90 % regions",
        measured=shown | {CANDIDATE: shown[CANDIDATE] | measured},
        labels=LABELS,
        parameters={"trials": count, "seconds": result.seconds, "seed": result.seed},
        draw=lambda: figures.passes(result),
    )


def line(result: Mapping[str, Any]) -> str:
    """Sum up `result.json` in a line."""
    ours, other = (result["trials"][role] for role in (CANDIDATE, REFERENCE))
    return (
        f"{ours['passes']:.1f} passes in 200 s at {DELTA} m (row B {other['passes']:.1f}),"
        f" {ours['bats']:.0f} bats"
    )


def summary(result: BattingResult) -> dict[str, dict[str, float]]:
    """Return passes and bats by role, scaled to 200 s."""
    scale = 200.0 / result.seconds
    return {
        role: {
            "passes": scale * float(result.passes(role).mean()),
            "passes_wide": scale * float(np.mean([each.passes[-1] for each in trials])),
            "bats": scale * float(np.mean([each.bats for each in trials])),
            "faults": float(np.mean([len(each.faults) for each in trials])),
        }
        for role, trials in result.trials.items()
    }
