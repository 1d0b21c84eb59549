"""What is reported of a shooting policy's validation: score, speed and banks of both roles."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ricochet.tasks.registry.aliases import CANDIDATE
from ricochet.tasks.systems.air_hockey.figures import validation as figures
from ricochet.tasks.systems.air_hockey.validation import results
from ricochet.tasks.systems.air_hockey.validation.gate import PolicyEvidence
from ricochet.tasks.systems.air_hockey.validation.results import ShootingResult, Shot
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.report import Report

LABELS = {
    "score": "shots that scored, share",
    "speed_mean": "speed of the goals at the line, mean, m/s",
    "speed_sd": "speed of the goals at the line, standard deviation, m/s",
    "banks_mean": "banks of the goals, mean",
    "violations": "limits broken",
    "regret": "objective lost by the search, share of the best",
    "agreement": "states with as many banks as the best shot, share",
}


def report(_: Contenders, evidence: PolicyEvidence, result: ShootingResult) -> Report:
    """Return what is recorded and shown."""
    rows = summary(result)
    found = {"regret": evidence.share, "agreement": evidence.agreement}
    count = len(result.shots[CANDIDATE])
    return Report(
        result=result,
        content=results.to_json(result),
        summary={"regret": asdict(evidence), "shots": rows},
        trials=f"{count} shots",
        stated=f"{evidence.share:.4f} of the best objective lost on {evidence.states} states",
        measured=rows | {CANDIDATE: rows[CANDIDATE] | found},
        labels=LABELS,
        parameters={"shots": count, "seed": result.seed, **result.disturbance},
        draw=lambda: figures.comparison(result),
    )


def line(result: Mapping[str, Any]) -> str:
    """Sum up `result.json` in a line."""
    row = result["shots"][CANDIDATE]
    speed = f"{row['speed_mean']:.2f} ± {row['speed_sd']:.2f} m/s"
    return f"scored {row['score']:.2f} of the shots at {speed}, {row['banks_mean']:.2f} banks"


def summary(result: ShootingResult) -> dict[str, dict[str, float]]:
    """Return score, speed, banks and violations by role, as Table I of the paper has them.

    Speed, m/s, and banks are those of the goals; they are 0 where there are none.
    """
    return {role: _row(shots) for role, shots in result.shots.items()}


def _row(shots: Sequence[Shot]) -> dict[str, float]:
    goals = [shot for shot in shots if shot.scored] or [Shot(False, 0.0, 0, 0)]
    speeds = [shot.speed for shot in goals]
    return {
        "score": float(np.mean([shot.scored for shot in shots])),
        "speed_mean": float(np.mean(speeds)),
        "speed_sd": float(np.std(speeds)),
        "banks_mean": float(np.mean([shot.banks for shot in goals])),
        "violations": float(sum(shot.violations for shot in shots)),
    }
