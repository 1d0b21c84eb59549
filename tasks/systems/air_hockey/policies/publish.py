"""Trained energies to MLflow: a run for each setting under one for the training they share.

Every step finds its own earlier result, so that publishing again adds nothing.
"""

from pathlib import Path

from ricochet.tasks.registry import runs
from ricochet.tasks.registry import versions as registry
from ricochet.tasks.registry.packages import Package, read_package
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.storage.files import digest_of, sha256
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.policies.packages import READER, folder_of
from ricochet.tasks.systems.air_hockey.policy_names import policy_names
from ricochet.tasks.training.steps import Publication, TrainingRequest

EXPERIMENT = "energy"
PURPOSE = (
    "Policies that shoot a puck (`ricochet train energy`), learnt from episodes of the simulated "
    "table or, where `recording` is a digest, of a recorded one: a run a setting, below the run of "
    "the training that they share. `regret` is the chance of a goal that the policy gives away to "
    "a search over all angles: lower is better."
)


def publish(request: TrainingRequest, flow_run: str) -> Publication:
    """Record and register the energies of a training in the store of this process."""
    versions, run = publish_energies(runs.connect(), request.out, flow_run=flow_run)
    named = {name: version.version for name, version in versions.items()}
    return Publication(run.experiment_id, run.run_id, {"registered": named})


def publish_energies(
    tracker: Tracker, folder: Path, *, flow_run: str = ""
) -> tuple[dict[str, Registered], OpenRun]:
    """Record and register the packages of a training; return the versions and the run they share.

    The folder holds `<name>/package` and `figures`; `BadInput` if a package is not whole.
    """
    places = {name: folder_of(folder, name) for name in policy_names()}
    digests = {name: sha256(place / READER.manifest) for name, place in places.items()}
    tags = {"prefect.flow_run_id": flow_run}
    shared = runs.open_run(tracker, EXPERIMENT, digest_of(digests), name="all settings", tags=tags)
    runs.describe_experiment(tracker, shared, PURPOSE)
    below = {**tags, "mlflow.parentRunId": shared.run_id}
    versions = {
        name: _publish_one(tracker, name, place, key=digests[name], tags=below)
        for name, place in places.items()
    }
    if not shared.finished:
        for picture in sorted((folder / "figures").glob("*.png")):
            tracker.client.log_artifact(shared.run_id, str(picture), "figures")
        runs.finish(tracker, shared.run_id)
    return versions, shared


def _publish_one(
    tracker: Tracker, name: str, place: Path, *, key: str, tags: dict[str, str]
) -> Registered:
    package = read_package(place, reader=READER)
    tags = {**tags, "ricochet.settings": package.data_digest}
    run = runs.open_run(tracker, EXPERIMENT, key, name=name, tags=tags)
    if not run.finished:
        _log(tracker, run, package)
    version = registry.register(tracker, name, place, kind=POLICY, run_id=run.run_id, tags=tags)
    if not run.finished:
        runs.finish(tracker, run.run_id)
    return version


def _log(tracker: Tracker, run: OpenRun, package: Package) -> None:
    checks = package.checks
    for name, curve in checks.items():
        if isinstance(curve, list):
            runs.log_curve(tracker, run.run_id, name, curve)
    numbers = {k: v for k, v in checks.items() if isinstance(v, int | float)}
    parameters = {**package.settings["training"], **package.settings["setting"]}
    runs.log_numbers(tracker, run.run_id, parameters=parameters, metrics=numbers)
