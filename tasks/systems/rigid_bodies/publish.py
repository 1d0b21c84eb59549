"""A posterior of recorded motion into MLflow: a run, and a version of a named package."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ricochet.tasks.registry import runs
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.training.steps import Publication
from ricochet.tasks.validation import publication
from ricochet.tasks.validation.publication import Experiment, Inferred

EXPERIMENT = Experiment(
    "infer",
    "Posteriors of parameters from recorded motion (`ricochet infer`): a run a posterior."
    " `fit_rmse` is what the best fit misses by, over the states' deviations; `mixing` is near 1"
    " where particles have the posterior's law; `angle_deg`, `error` (of a joint, in its unit) and"
    " `coverage_90` are of further recordings.",
)
PACKAGE = "package"
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
    parameters = {each: result[each] for each in ("rate", "span", "pieces", "particles")}
    metrics = {each: result[each] for each in _NUMBERS if result[each] is not None}
    metrics |= _ahead(result)
    files = list(result["files"])
    inferred = Inferred(name, kind, out / PACKAGE, out, files, parameters, metrics)
    return publication.publish(tracker, EXPERIMENT, inferred, flow_run)


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
