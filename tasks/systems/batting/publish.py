"""What was learnt of impacts into MLflow: a run, and a version of a named package."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ricochet.tasks.registry import runs
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.systems.batting import infer_impacts, train
from ricochet.tasks.systems.batting.infer_impacts import PACKAGE
from ricochet.tasks.systems.batting.kinds import BATTER
from ricochet.tasks.training.steps import Publication, TrainingRequest
from ricochet.tasks.validation import publication
from ricochet.tasks.validation.publication import Experiment, Inferred

EXPERIMENT = Experiment(
    "batting",
    "What a batting controller knows of impacts (`ricochet infer impacts`, `ricochet train"
    " batting`): a run a table of impacts. `held_out_coverage_90` is the share of held-out impacts"
    " in their 90 % regions, `filter_coverage_90` that of flights in which the centre of mass is;"
    " `filter_median_m` is how far off the filter is.",
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
    parameters = {"impacts": result["impacts"], "learnt_from": result["used"]}
    files, metrics = [str(result["file"])], infer_impacts.metrics(result)
    inferred = Inferred(name, BATTER, out / PACKAGE, out, files, parameters, metrics)
    return publication.publish(tracker, EXPERIMENT, inferred, flow_run)
