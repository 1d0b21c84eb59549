"""What was learnt of impacts into MLflow: a run, and a version of a named package.

Each step finds its own earlier result, so that publishing again adds nothing.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ricochet.tasks.registry import runs, versions
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.batting import infer_impacts, train
from ricochet.tasks.systems.batting.infer_impacts import PACKAGE
from ricochet.tasks.systems.batting.kinds import BATTER
from ricochet.tasks.training.steps import Publication, TrainingRequest
from ricochet.tasks.validation.recorded_files import places_of

EXPERIMENT = "batting"
PURPOSE = (
    "What a batting controller knows of impacts (`ricochet infer impacts`, `ricochet train"
    " batting`): a run a table of impacts. `held_out_coverage_90` is the share of held-out impacts"
    " in their 90 % regions, `filter_coverage_90` that of flights in which the centre of mass is;"
    " `filter_median_m` is how far off the filter is."
)


def publish(name: str, out: Path, result: Mapping[str, Any], flow_run: str) -> Publication:
    """Record a result and register its package in the store of this process."""
    return publish_batter(runs.connect(), name, out, result, flow_run=flow_run)


def publish_training(request: TrainingRequest, flow_run: str) -> Publication:
    """Record and register the package of a training in the store of this process."""
    name = train.name_of(request)
    published = publish(name, request.out, train.describe(request), flow_run)
    version = str(published.result["registered"]["version"])
    return Publication(published.experiment_id, published.run_id, {"registered": {name: version}})


def publish_batter(
    tracker: Tracker, name: str, out: Path, result: Mapping[str, Any], *, flow_run: str = ""
) -> Publication:
    """Record and register what `ricochet infer impacts` left in a folder.

    Args:
        name: Of the package, prefix included.
        result: That of the inference; `filter`, where it was tried.
    """
    folder = out / PACKAGE
    tags = {"prefect.flow_run_id": flow_run, "ricochet.files": str(result["file"])[:5000]}
    key = sha256(folder / BATTER.load_reader().manifest)
    run = runs.open_run(tracker, EXPERIMENT, key, name=name, tags=tags)
    runs.describe_experiment(tracker, run, PURPOSE)
    if not run.finished:
        parameters = {"impacts": result["impacts"], "learnt_from": result["used"]}
        runs.log_numbers(
            tracker, run.run_id, parameters=parameters, metrics=infer_impacts.metrics(result)
        )
        tracker.client.log_dict(run.run_id, places_of([str(result["file"])]), "result.json")
        for picture in sorted(out.glob("*.png")):
            tracker.client.log_artifact(run.run_id, str(picture), "figures")
    version = versions.register(
        tracker, name, folder, kind=BATTER, run_id=run.run_id, tags=tags,
        figure="figures/posterior.png",
    )  # fmt: skip
    if not run.finished:
        runs.finish(tracker, run.run_id)
    registered = {"name": version.name, "version": version.version}
    return Publication(run.experiment_id, run.run_id, {"registered": registered})
