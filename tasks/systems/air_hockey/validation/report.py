"""A validation of a shooting policy in MLflow: score, speed and banks of candidate and champion.

It is recorded as any validation is (`tasks.validation.report`); here it is said what is recorded of
shots.
"""

from collections.abc import Sequence

import numpy as np

from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.systems.air_hockey.figures import validation as shooting_figures
from ricochet.tasks.systems.air_hockey.validation import results
from ricochet.tasks.systems.air_hockey.validation.gate import Evidence
from ricochet.tasks.systems.air_hockey.validation.results import ShootingResult, Shot
from ricochet.tasks.systems.bouncing_ball.validation.results import CANDIDATE
from ricochet.tasks.validation import report as validation
from ricochet.tasks.validation.checks import Verdict
from ricochet.tasks.validation.report import Report


def publish(
    tracker: Tracker,
    result: ShootingResult,
    *,
    evidence: Evidence,
    verdict: Verdict,
    flow_run: str = "",
) -> OpenRun:
    """Record a validation; the same one again adds nothing.

    Args:
        tracker: The store.
        result: The shots.
        evidence: What was measured again about the candidate.
        verdict: What the gate says.
        flow_run: Id of the Prefect flow run, if there is one.

    Returns:
        The run.
    """
    measured = summary(result)
    measured[CANDIDATE] |= {"regret": evidence.share, "agreement": evidence.agreement}
    count = len(result.shots[CANDIDATE])
    report = Report(
        result=result,
        content=results.to_json(result),
        trials=f"{count} shots",
        stated=f"{evidence.share:.4f} of the best objective lost on {evidence.states} states",
        measured=measured,
        parameters={"shots": count, "seed": result.seed, **result.disturbance},
        draw=lambda: shooting_figures.comparison(result),
    )
    return validation.publish(tracker, report, verdict=verdict, flow_run=flow_run)


def find(
    tracker: Tracker, name: str, candidate: str, champion: str | None
) -> tuple[str, ShootingResult] | None:
    """Look up the last finished validation of a version against the champion there is now.

    Args:
        tracker: The store.
        name: Name in the registry.
        candidate: The version on trial.
        champion: The present champion; None where there is none.

    Returns:
        The run and its shots, or None.

    Raises:
        BadInput: If what the run holds is no validation.
    """
    found = validation.find_trials(tracker, name, candidate, champion)
    if found is None:
        return None
    return found[0], results.from_json(found[1], where=f"run {found[0]}")


def summary(result: ShootingResult) -> dict[str, dict[str, float]]:
    """Return score, speed, banks and violations by role, as Table I of the paper has them.

    Args:
        result: The shots.

    Returns:
        Numbers by role and name; speed and banks are those of the goals, 0 where there are none.
    """
    return {role: _row(shots) for role, shots in result.shots.items()}


def _row(shots: Sequence[Shot]) -> dict[str, float]:
    goals = [shot for shot in shots if shot.scored] or [Shot(False, 0.0, 0, 0)]
    speeds = {
        "speed_mean": float(np.mean([shot.speed for shot in goals])),
        "speed_sd": float(np.std([shot.speed for shot in goals])),
    }
    return {
        "score": float(np.mean([shot.scored for shot in shots])),
        **speeds,
        "banks_mean": float(np.mean([shot.banks for shot in goals])),
        "violations": float(sum(shot.violations for shot in shots)),
    }
