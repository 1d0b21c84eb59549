"""A validation in MLflow: candidate and champion on one page, and what the gate will read again.

The run of a validation holds one figure with both posteriors and both success rates, the trials
(`validation.json`), the gate's checks (`gate.json`) and the rig's files (telemetry, pictures). Its
description says it all in one place, and that of the candidate in the registry leads there. Its two
children, one a role, hold the same metric names, so that MLflow's own comparison lays them side by
side; the parent repeats them as `candidate/..` and `champion/..`.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from mlflow.artifacts import download_artifacts

from ricochet.tasks.registry import runs as tracking
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.storage.files import digest_of
from ricochet.tasks.systems.bouncing_ball.figures import validation
from ricochet.tasks.systems.bouncing_ball.validation import results
from ricochet.tasks.systems.bouncing_ball.validation.results import CANDIDATE, OnTrial, TwinResult
from ricochet.tasks.validation import page as validation_page
from ricochet.tasks.validation.checks import Verdict

EXPERIMENT = "validate"
TRIALS, CHECKS = "validation.json", "gate.json"
DESCRIPTION = "mlflow.note.content"

Numbers = Mapping[str, Mapping[str, float]]
"""Metrics by role (`candidate`, `champion`) and name; the same names for both."""


@dataclass(frozen=True)
class Report:
    """What is recorded of a validation, whatever was on trial.

    Attributes:
        result: Who was on trial.
        content: The trials, as JSON can hold them.
        trials: What the trials were, in words.
        stated: What the candidate states, in words.
        measured: Metrics by role.
        parameters: How much was tried, by name.
        draw: Draws the figure of both roles.
    """

    result: OnTrial
    content: Mapping[str, Any]
    trials: str
    stated: str
    measured: Numbers
    parameters: Mapping[str, Any]
    draw: Callable[[], Figure]


def publish_validation(
    tracker: Tracker,
    result: TwinResult,
    *,
    packages: Mapping[str, Package],
    verdict: Verdict,
    numbers: Numbers | None = None,
    files: Path | None = None,
    flow_run: str = "",
) -> OpenRun:
    """Record a validation; the same one again adds nothing.

    Args:
        tracker: The store.
        result: The trials.
        packages: The packages by role; the champion's only where there is one.
        verdict: What the gate says.
        numbers: Further metrics by role, such as energy and latency.
        files: Folder of what the rig left, recorded as it is.
        flow_run: Id of the Prefect flow run, if there is one.

    Returns:
        The run.
    """
    samples = {role: package.arrays["samples"] for role, package in packages.items()}
    report = Report(
        result=result,
        content=results.to_json(result),
        trials=f"{len(result.seeds)} tosses and {len(result.positions)} cups",
        stated=validation_page.posterior(packages[CANDIDATE]),
        measured={
            role: _posterior(package) | _shares(result, role) | dict((numbers or {}).get(role, {}))
            for role, package in packages.items()
        },
        parameters={"tosses": len(result.seeds)},
        draw=lambda: validation.comparison(result.name, samples, result),
    )
    return publish(tracker, report, verdict=verdict, files=files, flow_run=flow_run)


def publish(
    tracker: Tracker,
    report: Report,
    *,
    verdict: Verdict,
    files: Path | None = None,
    flow_run: str = "",
) -> OpenRun:
    """Record what a validation reports; the same one again adds nothing.

    Args:
        tracker: The store.
        report: The report.
        verdict: What the gate says.
        files: Folder of what the rig left, recorded as it is.
        flow_run: Id of the Prefect flow run, if there is one.

    Returns:
        The run.
    """
    result, judged, measured = report.result, verdict.to_json(), report.measured
    key = digest_of([report.content, judged])
    tags = _tags(result, verdict) | {"prefect.flow_run_id": flow_run}
    title = validation_page.title(result, verdict)
    run = tracking.open_run(tracker, EXPERIMENT, key, name=title, tags=tags)
    if run.finished:
        return run
    tracker.client.log_figure(run.run_id, report.draw(), validation_page.FIGURE)
    for name, value in ((TRIALS, report.content), (CHECKS, judged)):
        tracker.client.log_dict(run.run_id, dict(value), name)
    if files is not None:
        tracker.client.log_artifacts(run.run_id, str(files), "rig")
    both = {f"{role}/{name}": v for role, row in measured.items() for name, v in row.items()}
    parameters = {"name": result.name, "rig": result.rig, **report.parameters}
    tracking.log_numbers(tracker, run.run_id, parameters=parameters, metrics=both)
    children = {
        role: _record_role(tracker, run, result, role, row) for role, row in measured.items()
    }
    page = validation_page.page(
        run, result, verdict, trials=report.trials, measured=measured, children=children
    )
    tracker.client.set_tag(run.run_id, DESCRIPTION, page)
    said = validation_page.describe_version(run, result, verdict, stated=report.stated)
    tracker.client.update_model_version(result.name, result.candidate, said)
    tracking.finish(tracker, run.run_id)
    return run


def find_validation(
    tracker: Tracker, name: str, candidate: str, champion: str | None
) -> tuple[str, TwinResult] | None:
    """Look up the last finished validation of a posterior against the champion there is now.

    Args:
        tracker: The store.
        name: Name in the registry.
        candidate: The version on trial.
        champion: The present champion; None where there is none.

    Returns:
        The run and its trials, or None.

    Raises:
        BadInput: If what the run holds is no validation.
    """
    found = find_trials(tracker, name, candidate, champion)
    if found is None:
        return None
    return found[0], results.from_json(found[1], where=f"run {found[0]}")


def find_trials(
    tracker: Tracker, name: str, candidate: str, champion: str | None
) -> tuple[str, dict[str, Any]] | None:
    """Look up the last finished validation of a version against the champion there is now.

    Args:
        tracker: The store.
        name: Name in the registry.
        candidate: The version on trial.
        champion: The present champion; None where there is none.

    Returns:
        The run and its trials as JSON, or None.
    """
    found = tracker.client.get_experiment_by_name(EXPERIMENT)
    if found is None:
        return None
    wanted = {"ricochet.name": name, "ricochet.candidate": candidate}
    wanted["ricochet.champion"] = champion or "none"
    conditions = [f"tags.`{key}` = '{value}'" for key, value in wanted.items()]
    runs = tracker.client.search_runs(
        [found.experiment_id],
        " and ".join([*conditions, "attributes.status = 'FINISHED'"]),
        order_by=["attributes.start_time DESC"],
        max_results=1,
    )
    if not runs:
        return None
    run_id = runs[0].info.run_id
    return run_id, load_json(tracker, run_id, TRIALS)


def load_json(tracker: Tracker, run_id: str, name: str) -> dict[str, Any]:
    """Read a JSON file of a run.

    Args:
        tracker: The store.
        run_id: The run.
        name: The file.

    Returns:
        Its content.
    """
    with tempfile.TemporaryDirectory() as place:
        path = download_artifacts(
            run_id=run_id, artifact_path=name, dst_path=place, tracking_uri=tracker.uri
        )
        return dict(json.loads(Path(path).read_text()))


def _record_role(
    tracker: Tracker, parent: OpenRun, result: OnTrial, role: str, row: Mapping[str, float]
) -> str:
    version = result.candidate if role == CANDIDATE else result.champion
    child = tracking.open_run(
        tracker,
        EXPERIMENT,
        f"{parent.run_id}-{role}",
        name=f"{result.name} {role}, version {version}",
        tags={"mlflow.parentRunId": parent.run_id, "ricochet.role": role},
    )
    if not child.finished:
        parameters = {"name": result.name, "version": version, "rig": result.rig}
        tracking.log_numbers(tracker, child.run_id, parameters=parameters, metrics=row)
        tracking.finish(tracker, child.run_id)
    return child.run_id


def _tags(result: OnTrial, verdict: Verdict) -> dict[str, str]:
    return {
        "ricochet.name": result.name,
        "ricochet.candidate": result.candidate,
        "ricochet.champion": result.champion or "none",
        "ricochet.gate": "passed" if verdict.passed else "refused",
    }


def _shares(result: TwinResult, role: str) -> dict[str, float]:
    rows = {"success": result.success, "cup_inside_90": result.inside_90}
    return {name: paired.shares()[role] for name, paired in rows.items() if role in paired.shares()}


def _posterior(package: Package) -> dict[str, float]:
    names = [parameter.name for parameter in package.parameters]
    spread = np.sqrt(np.diag(package.arrays["covariance"]))
    rows = zip(names, package.arrays["mean"], spread, strict=True)
    return {
        key: float(value)
        for name, mean, deviation in rows
        for key, value in ((f"{name}_mean", mean), (f"{name}_sd", deviation))
    }
