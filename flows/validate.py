"""The flow that lets a candidate become `champion`, whatever its system.

    open the rig -> load candidate and champion -> measure the candidate again -> trials -> gate
        -> record -> aliases

The steps are plain functions of `tasks.validation`; Prefect tasks wrap them, and a dry run calls
them as they are. Everything is recorded whether it passes or not. Only a candidate that passes
every check moves an alias; one that is the champion already is left as it is. On a real rig an
operator is asked before anything moves, and what aborts the trials is the reason in a failed run.
"""

from asyncio import CancelledError
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.runtime import flow_run

from ricochet.flows.job_places import jobs_by_settings
from ricochet.flows.prefect_artifacts import link
from ricochet.flows.prefect_options import FLOW, ONCE, RETRIED
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import promotion, runs
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.registry.promotion import Moved
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.registry.verdicts import Verdict
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.systems import catalogue
from ricochet.tasks.validation import aborted, contenders, judge
from ricochet.tasks.validation import record as records
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.judge import RigRequest, Validation
from ricochet.tasks.validation.outcomes import SCHEMA, SIMULATED
from ricochet.tasks.validation.report import Report

ABORTS = (BadInput, RuntimeError, KeyboardInterrupt, CancelledError)
"""What ends trials before their time: an operator, microphones and devices raise RuntimeErrors."""


@dataclass(frozen=True)
class Request:
    """Which candidate is validated, on which rig, and where the results go.

    Attributes:
        armed: Whether a real robot may move, once the operator has confirmed it.
    """

    name: str
    settings: Settings
    out: Path
    seed: int = 0
    rig: str = SIMULATED
    armed: bool = False


@dataclass(frozen=True)
class Steps:
    """The steps as they are called, in order; `record_abort` takes the place of the last two."""

    load: Callable[..., Contenders | None]
    measure: Callable[..., Any]
    run_trials: Callable[..., Any]
    record: Callable[..., OpenRun | None]
    promote: Callable[..., Moved | None]
    record_abort: Callable[..., OpenRun | None]


@flow(name="validate", flow_run_name="validate {name}", **FLOW)
@jobs_by_settings
def validate(
    name: str,
    out: str = "artifacts/validate",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
    rig: str = SIMULATED,
    arm: bool = False,
) -> dict[str, Any]:
    """Validate the candidate of a name and, if it passes, make it the champion.

    Args:
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.
        arm: Whether a real robot may move, once the operator at the terminal has confirmed it.

    Raises:
        BadInput: If something is missing or not as it should be.
        RuntimeError: If the trials were aborted.
    """
    settings = catalogue.load_settings(params, overrides)
    return run(Request(name, settings, Path(out), seed, rig, arm), TASKS)


def dry_run(request: Request) -> dict[str, Any]:
    """Validate without Prefect, record nothing and move nothing; return the result."""
    return run(request, DRY)


def run(request: Request, steps: Steps) -> dict[str, Any]:
    """Validate a candidate in steps; return what `result.json` holds."""
    validation: Validation[Any, Any] = catalogue.validation_of(request.name)
    judge.refuse_rig(validation, request.rig, armed=request.armed)
    catalogue.refuse_untried(request.name, validation)
    rig_request = RigRequest(request.name, request.settings, request.armed)
    trials = validation.rigs[request.rig](rig_request)
    tracker, out = runs.connect(), output_folder(request.out)
    found = steps.load(tracker, request.name, validation.kind)
    if found is None:
        result = contenders.unchanged(tracker, request.name)
    else:
        result = _compare(request, steps, validation, trials, tracker, found)
    write_json(out / "result.json", result)
    return result


def _compare(
    request: Request,
    steps: Steps,
    validation: Validation[Any, Any],
    trials: judge.RunTrials[Any],
    tracker: Tracker,
    found: Contenders,
) -> dict[str, Any]:
    evidence = steps.measure(
        tracker,
        validation,
        found.registered,
        found.packages[CANDIDATE],
        settings=request.settings,
        seed=request.seed,
    )
    files = request.out / "-".join((found.name, *found.versions.values()))
    try:
        judge.refuse_motion(validation, evidence, request.rig)
        outcomes = steps.run_trials(trials, found, request.seed, files)
    except ABORTS as error:
        reason = " ".join(str(error).split()) or "interrupted"
        _write_aborted(request, reason, steps.record_abort(tracker, found, files, reason))
        raise
    verdict = validation.judge(evidence, outcomes)
    report = validation.report(found, evidence, outcomes)
    recorded, moved = steps.record(tracker, report, verdict, files), None
    if verdict.passed and recorded is not None:
        moved = steps.promote(
            tracker,
            found.registered,
            kind=validation.kind,
            verdict=verdict,
            against=found.versions.get(CHAMPION),
            validation=recorded.run_id,
            reason="validated",
        )
    return {
        "schema": SCHEMA,
        "name": found.name,
        "unchanged": False,
        "versions": found.versions,
        "run": None if recorded is None else recorded.run_id,
        "gate": verdict.to_json(),
        **report.summary,
        "promoted": moved is not None and moved.changed,
    }


def _write_aborted(request: Request, reason: str, recorded: OpenRun | None) -> None:
    result = {
        "schema": SCHEMA,
        "name": request.name,
        "rig": request.rig,
        "ended": reason,
        "run": None if recorded is None else recorded.run_id,
        "unchanged": False,
        "promoted": False,
    }
    write_json(request.out / "result.json", result)


def record(tracker: Tracker, report: Report, verdict: Verdict, files: Path) -> OpenRun:
    """Record the validation in MLflow, passed or not, and link the two runs."""
    done = records.publish(tracker, report, verdict, files=files, flow_run=str(flow_run.id or ""))
    link(done, f"{report.result.name}: validation in MLflow", key="mlflow-validation")
    return done


def record_abort(tracker: Tracker, found: Contenders, files: Path, reason: str) -> OpenRun:
    """Record in MLflow why the trials were aborted, and link the two runs."""
    flow_id = str(flow_run.id or "")
    done = aborted.publish(tracker, found, reason=reason, files=files, flow_run=flow_id)
    link(done, f"{found.name}: aborted validation in MLflow", key="mlflow-validation-ended")
    return done


def _nothing(*_: object, **__: object) -> None:
    """Stand in for a step that a dry run leaves out."""


TASKS = Steps(
    load=task(name="load as a controller would", task_run_name="load {name}", **RETRIED)(
        contenders.load
    ),
    measure=task(name="measure again", task_run_name="measure {registered.name} again", **ONCE)(
        judge.measure
    ),
    run_trials=task(
        name="try on the rig", task_run_name="try {contenders.name} on the rig", **ONCE
    )(judge.run_trials),
    record=task(name="record", task_run_name="record {report.result.name}", **RETRIED)(record),
    promote=task(
        name="move the aliases", task_run_name="move the aliases of {registered.name}", **ONCE
    )(promotion.promote),
    record_abort=task(
        name="record the abort", task_run_name="record the abort of {found.name}", **RETRIED
    )(record_abort),
)
DRY = Steps(contenders.load, judge.measure, judge.run_trials, _nothing, _nothing, _nothing)
