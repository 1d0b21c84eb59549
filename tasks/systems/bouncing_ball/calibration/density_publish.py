"""A trained density to MLflow: its run, the trials of its search below it, and a version.

Every step finds its own earlier result, so that publishing again adds nothing.
"""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.tasks.figures import calibration_checks
from ricochet.tasks.registry import runs, versions
from ricochet.tasks.registry.packages import MANIFEST, read_package
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.bouncing_ball.calibration.density_packages import READER
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY
from ricochet.tasks.systems.bouncing_ball.settings import Density
from ricochet.tasks.training.steps import Publication, TrainingRequest

EXPERIMENT = "density"
PURPOSE = (
    "Densities of the parameters given one drop, trained on simulated drops (`ricochet train "
    "density`). `held_out_nats` is the mean negative log density of drops that were not trained "
    "on: lower is better. Trials of a search are below the run that they led to."
)


def publish(request: TrainingRequest, flow_run: str) -> Publication:
    """Record and register the density of a training in the store of this process."""
    version, run = publish_density(runs.connect(), request.out, flow_run=flow_run)
    named = {"model": f"{version.name}/{version.version}", "registered": vars(version)}
    return Publication(run.experiment_id, run.run_id, named)


def publish_density(
    tracker: Tracker, folder: Path, *, flow_run: str = ""
) -> tuple[Registered, OpenRun]:
    """Record and register a trained density; `BadInput` if its package is not whole.

    The folder holds `package`, and `search.journal` after a search.
    """
    package = read_package(folder / "package", reader=READER)
    name, key = DENSITY.pattern, sha256(folder / "package" / MANIFEST)
    tags = {"prefect.flow_run_id": flow_run, "ricochet.settings": package.data_digest}
    run = runs.open_run(tracker, EXPERIMENT, key, name=name, tags=tags)
    runs.describe_experiment(tracker, run, PURPOSE)
    if not run.finished:
        _log_search(tracker, run, folder, package.settings)
        runs.log_curve(tracker, run.run_id, "held_out_nats_by_look", package.checks["history"])
        _log_checks(tracker, run, package.checks)
        asked = {name: value for name, value in package.settings.items() if name != "chosen"}
        runs.log_numbers(
            tracker,
            run.run_id,
            parameters=asked | package.settings["chosen"],
            metrics={"held_out_nats": package.checks["held_out"]},
        )
    version = versions.register(
        tracker, name, folder / "package", kind=DENSITY, run_id=run.run_id, tags=tags
    )
    if not run.finished:
        runs.finish(tracker, run.run_id)
    return version, run


def _log_checks(tracker: Tracker, run: OpenRun, checks: Mapping[str, Any]) -> None:
    """Record how well calibrated the density is on fresh drops: rank histogram and coverage."""
    ranks = {name: np.asarray(values) for name, values in checks["ranks"].items()}
    found = checks["coverage"]
    levels, shares = [float(level) for level in found], list(found.values())
    drawn = {
        "rank-histogram": calibration_checks.rank_histogram(ranks),
        "coverage": calibration_checks.coverage(
            levels, {"one drop": shares}, cases=checks["cases"]
        ),
    }
    for name, figure in drawn.items():
        tracker.client.log_figure(run.run_id, figure, f"figures/{name}.png")
    metrics = {f"coverage_{round(100 * float(level))}": share for level, share in found.items()}
    runs.log_numbers(tracker, run.run_id, parameters={}, metrics=metrics)


def _log_search(tracker: Tracker, run: OpenRun, folder: Path, settings: Mapping[str, Any]) -> None:
    """Record each completed trial of a search as a child of the density's run."""
    asked = {field.name: settings[field.name] for field in fields(Density)}
    if not asked["trials"]:
        return
    from ricochet.tasks.systems.bouncing_ball.calibration import density_search
    from ricochet.tasks.training import search

    study = density_search.study_name(Density(**asked), settings["seed"])
    for trial in search.completed(study, folder):
        child = runs.open_run(
            tracker,
            EXPERIMENT,
            f"{study}-{trial.number}",
            name=f"trial {trial.number}",
            tags={"mlflow.parentRunId": run.run_id, "optuna.study": study},
        )
        if not child.finished:
            runs.log_numbers(
                tracker,
                child.run_id,
                parameters={**asked, "trials": 0, **trial.chosen},
                metrics={"held_out_nats": trial.value},
            )
            runs.finish(tracker, child.run_id)
