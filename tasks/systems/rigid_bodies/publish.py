"""A posterior of recorded motion into MLflow: a run, and a version of a named package.

Each step finds its own earlier result, so that publishing again adds nothing.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ricochet.tasks.registry import runs, versions
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.training.steps import Publication
from ricochet.tasks.validation.recorded_files import places_of

EXPERIMENT = "infer"
PACKAGE = "package"
PURPOSE = (
    "Posteriors of parameters from recorded motion (`ricochet infer`): a run a posterior."
    " `fit_rmse` is what the best fit misses by, over the states' deviations; `mixing` is near 1"
    " where particles have the posterior's law; `angle_deg`, `error` (of a joint, in its unit) and"
    " `coverage_90` are of further recordings."
)
_FOREIGN = re.compile(r"[^\w.\- /:]", re.ASCII)
"""What MLflow refuses in names of metrics."""
_NUMBERS = ("fit_rmse", "starts_at_best", "mixing", "rank")


def publish(
    kind: PackageKind, name: str, out: Path, result: Mapping[str, Any], flow_run: str
) -> Publication:
    """Record a result and register its package in the store of this process."""
    return publish_posterior(runs.connect(), name, out, result, kind=kind, flow_run=flow_run)


def publish_posterior(
    tracker: Tracker,
    name: str,
    out: Path,
    result: Mapping[str, Any],
    *,
    kind: PackageKind,
    flow_run: str = "",
) -> Publication:
    """Record and register what `ricochet infer` left in a folder.

    Args:
        name: Of the package, prefix included.
    """
    folder = out / PACKAGE
    tags = {"prefect.flow_run_id": flow_run, "ricochet.files": ", ".join(result["files"])[:5000]}
    key = sha256(folder / kind.load_reader().manifest)
    run = runs.open_run(tracker, EXPERIMENT, key, name=name, tags=tags)
    runs.describe_experiment(tracker, run, PURPOSE)
    if not run.finished:
        parameters = {each: result[each] for each in ("rate", "span", "pieces", "particles")}
        metrics = {each: result[each] for each in _NUMBERS if result[each] is not None}
        metrics |= _ahead(result)
        runs.log_numbers(tracker, run.run_id, parameters=parameters, metrics=metrics)
        tracker.client.log_dict(run.run_id, places_of(list(result["files"])), "result.json")
        for picture in sorted(out.glob("*.png")):
            tracker.client.log_artifact(run.run_id, str(picture), "figures")
    version = versions.register(
        tracker, name, folder, kind=kind, run_id=run.run_id, tags=tags,
        figure="figures/posterior.png",
    )  # fmt: skip
    if not run.finished:
        runs.finish(tracker, run.run_id)
    registered = {"name": version.name, "version": version.version}
    return Publication(run.experiment_id, run.run_id, {"registered": registered})


def _ahead(result: Mapping[str, Any]) -> dict[str, float]:
    """Return what further recordings said, if there were some."""
    together = result["prediction_together"] or {}
    found = {
        f"{metric}_{time}": value
        for metric in ("angle_deg", "coverage_90")
        for time, value in together.get(metric, {}).items()
    }
    for time, errors in together.get("error", {}).items():
        found |= {f"error_{_FOREIGN.sub('_', joint)}_{time}": e for joint, e in errors.items()}
    return found
