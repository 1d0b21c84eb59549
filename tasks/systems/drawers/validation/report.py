"""What is reported of a validation of a drawer: errors, coverage, and the arm's hand."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ricochet.tasks.registry.aliases import CANDIDATE
from ricochet.tasks.systems.drawers.figures import validation as figures
from ricochet.tasks.systems.drawers.validation import results
from ricochet.tasks.systems.drawers.validation.gate import DrawerEvidence
from ricochet.tasks.systems.drawers.validation.results import MEASURED, DrawerResult
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.report import Report

LABELS = {
    "speed_error": "error of the speed, m/s",
    "speed_held": "frames whose speed is in its 90 % interval, share",
    "dark_error": "error of the opening in the dark, m",
    "middle_error": "the same of the middle of the stroke, m",
    "dark_held": "dark frames whose opening is in its 90 % interval, share",
    "signs": "right signs in the dark while it moves, share",
    "near": "moving time in the dark with the hand where it should be, share",
    "middle_near": "the same before the middle of the stroke, share",
    "touching": "moving time in the dark with the hand touching, share",
}


def report(_: Contenders, evidence: DrawerEvidence, result: DrawerResult) -> Report:
    """Return what is recorded and shown."""
    rows = summary(result)
    count = len(result.trials[CANDIDATE])
    return Report(
        result=result,
        content=results.to_json(result),
        summary={"measured_again": asdict(evidence), "trials": rows},
        trials=f"{count} takes",
        stated=", ".join(f"{name} {value:.3f}" for name, value in evidence.stated.items()),
        measured=rows,
        labels=LABELS,
        parameters={"takes": count, "seed": result.seed},
        draw=lambda: figures.takes(result),
    )


def line(result: Mapping[str, Any]) -> str:
    """Sum up `result.json` in a line."""
    ours = result["trials"][CANDIDATE]
    return (
        f"in the dark off by {ours['dark_error']:.3f} m (the middle {ours['middle_error']:.3f}),"
        f" the hand where it should be in {ours['near']:.0%} of the moving time"
        f" (before the middle {ours['middle_near']:.0%}), touching in {ours['touching']:.1%}"
    )


def summary(result: DrawerResult) -> dict[str, dict[str, float]]:
    """Return the numbers of each role over takes: roots of mean squares of errors, else means."""
    return {
        role: {
            name: float(np.sqrt((found**2).mean()) if name.endswith("error") else found.mean())
            for name in MEASURED
            for found in [result.column(role, name)]
        }
        for role in result.trials
    }
