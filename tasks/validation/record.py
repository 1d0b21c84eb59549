"""A validation in MLflow: candidate and champion on one page, and what the gate will read again.

The run of a validation holds one figure of both roles, the trials (`validation.json`), the gate's
checks (`gate.json`) and the rig's files (telemetry, pictures). Its description says it all in one
place, and that of the candidate in the registry leads there. Its two children, one a role, hold the
same metric names, so that MLflow's own comparison lays them side by side; the parent repeats them
as `candidate/..` and `champion/..`.

Others may write runs. So a version's tag in the registry, which the administrator alone writes,
says which run is its validation, what its trials were and what the gate said: another run, other
trials in it or another verdict are not believed.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mlflow.artifacts import download_artifacts

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import runs, version_page, versions
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.registry.verdicts import Verdict
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.storage import checked_json, limits
from ricochet.tasks.storage.files import digest_of, read_regular
from ricochet.tasks.validation import page
from ricochet.tasks.validation.outcomes import ComparedVersions, versions_by_role
from ricochet.tasks.validation.report import Report

EXPERIMENT = "validate"
PURPOSE = (
    "Trials of a candidate beside its champion on the rig (`ricochet validate`): a run a "
    "validation, whose name ends in what the gate said; below it one run each for candidate and "
    "champion."
)
TRIALS, CHECKS = "validation.json", "gate.json"
GATE = ("passed", "refused")
VALIDATED = "ricochet.validated_against."
"""Begins the tag of a version: its run, the digest of its trials, and what the gate said; the tag
ends in the champion."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Sealed:
    """What a version says of a validation of it.

    Attributes:
        digest: Of the trials.
        gate: `passed` or `refused`; `unknown` where the tag was written before it said so.
        champion: The version it was compared with, or `none`.
    """

    run: str
    digest: str
    gate: str
    champion: str


def sealed(tags: Mapping[str, str]) -> tuple[Sealed, ...]:
    """Read what the tags of a version say of its validations.

    >>> sealed({f"{VALIDATED}4": "0f1e d1 passed", "other": "a"})
    (Sealed(run='0f1e', digest='d1', gate='passed', champion='4'),)
    """
    found = []
    for tag, value in tags.items():
        if tag.startswith(VALIDATED):
            run, digest, gate = (*value.split(" "), "", "")[:3]
            gate = gate if gate in GATE else "unknown"
            found.append(Sealed(run, digest, gate, tag.removeprefix(VALIDATED)))
    return tuple(found)


def publish(
    tracker: Tracker, report: Report, verdict: Verdict, *, files: Path, flow_run: str = ""
) -> OpenRun:
    """Record a validation and the folder of what the rig left, if there is one.

    The same one again adds nothing.
    """
    result, judged = report.result, verdict.to_json()
    run = runs.open_run(
        tracker,
        EXPERIMENT,
        digest_of([report.content, judged]),
        name=page.title(result, verdict),
        tags={
            **_compared(result.name, result.candidate, result.champion),
            "ricochet.gate": GATE[not verdict.passed],
            "prefect.flow_run_id": flow_run,
        },
    )
    runs.describe_experiment(tracker, run, PURPOSE)
    _seal(tracker, result, run, report.content, GATE[not verdict.passed])
    if run.finished:
        return run
    tracker.client.log_figure(run.run_id, report.draw(), page.FIGURE)
    for name, value in ((TRIALS, report.content), (CHECKS, judged)):
        tracker.client.log_dict(run.run_id, dict(value), name)
    if files.is_dir():
        tracker.client.log_artifacts(run.run_id, str(files), "rig")
    _log_numbers(tracker, run, report)
    children = {role: _record_role(tracker, run, report, role) for role in report.measured}
    _describe(tracker, run, report, verdict, children)
    runs.finish(tracker, run.run_id)
    return run


def find(
    tracker: Tracker,
    name: str,
    candidate: str,
    champion: str | None,
    *,
    read: Callable[[Mapping[str, Any], str], Result],
) -> tuple[str, Result] | None:
    """Look up the last validation of a version against the champion there is now.

    Returns its run and its trials, read by `read`, which is given where they came from too; None
    where there is none, or it was not finished.

    Raises:
        BadInput: Its trials are no longer those that were recorded, or cannot be read.
    """
    known = sealed(versions.tags(tracker, Registered(name, candidate)))
    found = next((each for each in known if each.champion == (champion or "none")), None)
    if found is None or not runs.is_finished(tracker, found.run):
        return None
    content = load_json(tracker, found.run, TRIALS)
    if digest_of(content) != found.digest:
        expected = "those of the validation that the registry names"
        raise BadInput(f"{TRIALS} of run {found.run}", "other trials", expected)
    return found.run, read(content, f"run {found.run}")


def load_json(tracker: Tracker, run_id: str, name: str) -> dict[str, Any]:
    """Read a JSON file of a run.

    Raises:
        BadInput: It is larger than is read, or holds what `tasks.storage.checked_json` refuses.
    """
    where = f"{name} of run {run_id}"
    stated = tracker.client.list_artifacts(run_id)
    if any(file.path == name and (file.file_size or 0) > limits.TEXT for file in stated):
        raise BadInput(where, "a larger file", f"one of at most {limits.TEXT >> 20} MiB")
    if not any(file.path == name for file in stated):
        raise BadInput(where, "no such file", "it to be there")
    with tempfile.TemporaryDirectory() as place:
        path = download_artifacts(
            run_id=run_id, artifact_path=name, dst_path=place, tracking_uri=tracker.uri
        )
        content = read_regular(Path(path), "a file of a run", largest=limits.TEXT)
        return checked_json.parse_object(content, where)


def _log_numbers(tracker: Tracker, run: OpenRun, report: Report) -> None:
    runs.log_numbers(
        tracker,
        run.run_id,
        parameters={"name": report.result.name, "rig": report.result.rig, **report.parameters},
        metrics={
            f"{role}/{name}": value
            for role, row in report.measured.items()
            for name, value in row.items()
        },
    )


def _record_role(tracker: Tracker, parent: OpenRun, report: Report, role: str) -> str:
    result = report.result
    version = versions_by_role(result)[role]
    child = runs.open_run(
        tracker,
        EXPERIMENT,
        f"{parent.run_id}-{role}",
        name=f"{result.name} {role}, version {version}",
        tags={"mlflow.parentRunId": parent.run_id, "ricochet.role": role},
    )
    if not child.finished:
        parameters = {"name": result.name, "version": version, "rig": result.rig}
        runs.log_numbers(
            tracker, child.run_id, parameters=parameters, metrics=report.measured[role]
        )
        runs.finish(tracker, child.run_id)
    return child.run_id


def _describe(
    tracker: Tracker, run: OpenRun, report: Report, verdict: Verdict, children: Mapping[str, str]
) -> None:
    description = page.describe(run, report, verdict, children=children)
    tracker.client.set_tag(run.run_id, runs.DESCRIPTION, description)
    result = report.result
    said = page.describe_version(run, result, verdict, stated=report.stated)
    before = tracker.client.get_model_version(result.name, result.candidate).description or ""
    said = version_page.with_validation(said, before)
    tracker.client.update_model_version(result.name, result.candidate, said)


def _seal(
    tracker: Tracker, result: ComparedVersions, run: OpenRun, content: Mapping[str, Any], gate: str
) -> None:
    """Say in the registry which run is a version's validation, its trials and its verdict."""
    digest = digest_of(json.loads(json.dumps(content)))
    tag = f"{VALIDATED}{result.champion or 'none'}"
    tracker.client.set_model_version_tag(
        result.name, result.candidate, tag, f"{run.run_id} {digest} {gate}"
    )


def _compared(name: str, candidate: str, champion: str | None) -> dict[str, str]:
    """Return the tags by which a validation is found."""
    return {
        "ricochet.name": name,
        "ricochet.candidate": candidate,
        "ricochet.champion": champion or "none",
    }
