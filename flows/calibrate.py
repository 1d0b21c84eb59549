"""The flow from recordings to registered posteriors.

    density ready -> each target: detect and infer -> record and register -> all targets on one plot

The steps are plain functions in `tasks`; a Prefect task wraps one target. Nothing is cached by
Prefect: a result is unchanged if its key is, on disk and in MLflow.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.runtime import flow_run

from ricochet.flows.job_places import jobs_by_settings
from ricochet.flows.prefect_artifacts import link
from ricochet.flows.prefect_options import FLOW, ONCE, RETRIED
from ricochet.flows.prefect_runs import name_by_sessions
from ricochet.flows.train import train_and_publish
from ricochet.tasks.console.progress import bar
from ricochet.tasks.registry import abandoned_runs, runs
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.storage.provenance import artifacts
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import publish as publishing
from ricochet.tasks.systems.bouncing_ball.calibration import run as calibration
from ricochet.tasks.systems.bouncing_ball.calibration import targets
from ricochet.tasks.systems.bouncing_ball.calibration.targets import (
    CalibrationRequest,
    CalibrationTarget,
)
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from ricochet.tasks.training.steps import TrainingRequest


@flow(name="calibrate", flow_run_name=name_by_sessions, **FLOW)
@jobs_by_settings
def calibrate(
    sessions: list[str] | None = None,
    out: str = "artifacts/calibrate",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
    density: str | None = None,
    ball: str | None = None,
    anyway: bool = False,
) -> dict[str, Any]:
    """Calibrate every target and register the posteriors.

    Args:
        sessions: Session folders; none means every session under `data/`.
        out: Folder of the results.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.
        density: Package of the density network; none takes the registered one.
        ball: Name of the ball of bare recordings, by which their drag is known.
        anyway: Whether to register what rests on half of its takes or fewer.

    Returns:
        The results by name of the target, with `unchanged` for those that were there already.
    """
    request = CalibrationRequest(
        settings=catalogue.load_settings(params, overrides),
        out=output_folder(Path(out)),
        seed=seed,
        density=None if density is None else Path(density),
        ball=ball,
        anyway=anyway,
    )
    named = sessions or []
    targets.check_ball(named, request)
    tracker = runs.connect()
    catalogue.refuse_foreign(targets.registered_names(named, request.out), POSTERIOR.made_by)
    abandoned_runs.close(tracker)
    if request.density is None:
        request = _with_network(request)

    def publish(target: CalibrationTarget, request: CalibrationRequest) -> Mapping[str, Any]:
        result = infer(target, request)
        return result if target.bare else record(tracker, target, request, result)

    registered = partial(publishing.is_registered, tracker)
    results = calibration.run(named, request, do=publish, registered=registered)
    together = [target for target in targets.targets(named, request.out) if not target.bare]
    if any(not entry["unchanged"] for entry in results.values()):
        compare(tracker, together, request)
    return results


@task(name="detect and infer", task_run_name="infer {target.name}", **ONCE)
def infer(target: CalibrationTarget, request: CalibrationRequest) -> dict[str, Any]:
    """Calibrate one target; write all files but `result.json`, whose content is returned."""
    with bar(target.name) as progress:
        return calibration.calibrate_target(target, request, progress=progress)


@task(name="record and register", task_run_name="register {target.name}", **RETRIED)
def record(
    tracker: Tracker, target: CalibrationTarget, request: CalibrationRequest, result: dict[str, Any]
) -> dict[str, Any]:
    """Record one target in MLflow, register its package, and link the two runs.

    Returns:
        The result with `registered` filled in.
    """
    published, run = publishing.publish_target(
        tracker, target, request, result, flow_run=str(flow_run.id or "")
    )
    link(run, f"{target.name}: MLflow run", key="mlflow-run")
    return published


@task(name="all pairs on one plot", task_run_name="compare all pairs", **RETRIED)
def compare(
    tracker: Tracker, together: list[CalibrationTarget], request: CalibrationRequest
) -> None:
    """Draw all targets on one plot, in the parent of their runs."""
    run = publishing.publish_comparison(tracker, together, request)
    if run is not None:
        link(run, "all pairs: MLflow run", key="mlflow-comparison")


def _with_network(request: CalibrationRequest) -> CalibrationRequest:
    """Have the density of these settings trained and registered, and use it."""
    folder = output_folder(artifacts() / "train" / "density")
    training = TrainingRequest(request.settings, folder, seed=0)
    result = train_and_publish(catalogue.training("density"), training)
    return replace(request, density=folder / result["package"], model=result["model"])
