"""What was inferred from recorded files into MLflow: a run, and a version of a named package.

Each step finds its own earlier result, so that publishing again adds nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ricochet.tasks.registry import runs, versions
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.training.steps import Publication
from ricochet.tasks.validation.recorded_files import places_of

FIGURE = "posterior.png"
LONGEST_TAG = 5000


@dataclass(frozen=True)
class Experiment:
    """Where inferences of a kind are recorded, and what MLflow's page says of them."""

    name: str
    purpose: str


@dataclass(frozen=True)
class Inferred:
    """What an inference left.

    Attributes:
        name: Of the package, prefix included.
        package: Its folder.
        out: Folder of pictures, `figure` among them.
        files: The recorded files.
        parameters, metrics: What the run shows.
        figure: The picture of the version's page.
    """

    name: str
    kind: PackageKind
    package: Path
    out: Path
    files: Sequence[str]
    parameters: Mapping[str, object]
    metrics: Mapping[str, float]
    figure: str = FIGURE


def publish(
    tracker: Tracker, experiment: Experiment, inferred: Inferred, flow_run: str = ""
) -> Publication:
    """Record an inference and register its package."""
    files = ", ".join(inferred.files)[:LONGEST_TAG]
    tags = {"prefect.flow_run_id": flow_run, "ricochet.files": files}
    key = sha256(inferred.package / inferred.kind.load_reader().manifest)
    run = runs.open_run(tracker, experiment.name, key, name=inferred.name, tags=tags)
    runs.describe_experiment(tracker, run, experiment.purpose)
    if not run.finished:
        runs.log_numbers(
            tracker, run.run_id, parameters=inferred.parameters, metrics=inferred.metrics
        )
        tracker.client.log_dict(run.run_id, places_of(list(inferred.files)), "result.json")
        for picture in sorted(inferred.out.glob("*.png")):
            tracker.client.log_artifact(run.run_id, str(picture), "figures")
    version = versions.register(
        tracker, inferred.name, inferred.package, kind=inferred.kind, run_id=run.run_id, tags=tags,
        figure=f"figures/{inferred.figure}",
    )  # fmt: skip
    if not run.finished:
        runs.finish(tracker, run.run_id)
    registered = {"name": version.name, "version": version.version}
    return Publication(run.experiment_id, run.run_id, {"registered": registered})
