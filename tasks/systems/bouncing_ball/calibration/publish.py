"""Results to MLflow: a run for each target and data digest, a version of it, and one comparison.

Every step finds its own earlier result, so that running again adds nothing.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ricochet.models.systems.bouncing_ball import problem
from ricochet.tasks.recordings import sessions
from ricochet.tasks.registry import runs, versions
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.storage import array_files, checked_json, limits
from ricochet.tasks.storage.files import digest_of, read_regular
from ricochet.tasks.storage.provenance import workplace
from ricochet.tasks.systems.bouncing_ball.calibration import run as steps
from ricochet.tasks.systems.bouncing_ball.calibration.targets import (
    DATA,
    CalibrationRequest,
    CalibrationTarget,
    key,
)
from ricochet.tasks.systems.bouncing_ball.figures import calibration
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate

EXPERIMENT = "calibrate"
PURPOSE = (
    "Posteriors of ball and surface from recordings (`ricochet calibrate`), a run a pair and set "
    "of recordings. The answer is `restitution_mean` and `log10_concentration_mean` with their "
    "deviations `_sd`; `three_bounces_` begins what the paper's model gives, `whole_takes_` the "
    "further parameters. A run `all pairs` compares the pairs below it."
)
COMPARISON = "figures/comparison.png"
FIGURE = "figures/posterior.png"


def publish_target(
    tracker: Tracker,
    target: CalibrationTarget,
    request: CalibrationRequest,
    result: Mapping[str, Any],
    *,
    flow_run: str = "",
) -> tuple[dict[str, Any], OpenRun]:
    """Record a calibrated target and register its package; `BadInput` if that is not whole.

    Returns the result with `registered` filled in, or with `withheld` in its place, and the run.
    """
    details = checked_json.load(target.folder / "details.json")
    digest = data_digest(target)
    tags = {
        "ricochet.pair": target.name,
        "ricochet.recordings": target.digest,
        "data.digest": digest,
        "prefect.flow_run_id": flow_run,
    }
    run = runs.open_run(tracker, EXPERIMENT, details["key"], name=target.name, tags=tags)
    runs.describe_experiment(tracker, run, PURPOSE)
    published, package = dict(result), target.folder / "package"
    reason = steps.withheld(result, request)
    if package.is_dir() and reason is not None:
        published["withheld"] = reason
    elif package.is_dir():
        version = versions.register(
            tracker,
            target.name,
            package,
            kind=POSTERIOR,
            run_id=run.run_id,
            tags=tags,
            figure=FIGURE,
        )
        published["registered"] = asdict(version)
    if not run.finished:
        _log_target(tracker, run, target, request, details, digest)
        described = _described(run, {target.name: published}, FIGURE)
        tracker.client.set_tag(run.run_id, runs.DESCRIPTION, described)
        tracker.client.log_dict(run.run_id, published, "result.json")
        runs.finish(tracker, run.run_id)
    return published, run


def publish_comparison(
    tracker: Tracker, targets: Sequence[CalibrationTarget], request: CalibrationRequest
) -> OpenRun | None:
    """Draw all targets on one plot, in the parent of their runs; None where fewer than two ran."""
    found = {each: runs.find_run(tracker, EXPERIMENT, key(each, request)) for each in targets}
    children = {target: child.info.run_id for target, child in found.items() if child is not None}
    if len(children) < 2:
        return None
    identity = digest_of(sorted(children.values()))
    run = runs.open_run(tracker, EXPERIMENT, identity, name="all pairs", tags={})
    if run.finished:
        return run
    samples = {}
    for target in children:
        file = target.folder / "samples.npz"
        content = read_regular(file, "an answer's samples", largest=limits.ARRAYS)
        found_there = array_files.parse(content, str(file), largest=limits.ARRAYS)
        samples[target.name] = found_there["theta"]
    tracker.client.log_figure(run.run_id, calibration.comparison(samples), COMPARISON)
    results = {target.name: checked_json.load(target.folder / "result.json") for target in children}
    described = _described(run, results, COMPARISON)
    tracker.client.set_tag(run.run_id, runs.DESCRIPTION, described)
    for child in children.values():
        tracker.client.set_tag(child, "mlflow.parentRunId", run.run_id)
    runs.finish(tracker, run.run_id)
    return run


def unchanged(
    sessions: Sequence[str], request: CalibrationRequest
) -> dict[str, dict[str, Any]] | None:
    """Return the earlier results if every target has one that is in the registry still, or None."""
    registered = functools.partial(is_registered, runs.connect())
    return steps.unchanged(sessions, request, registered=registered)


def is_registered(
    tracker: Tracker,
    target: CalibrationTarget,
    request: CalibrationRequest,
    result: Mapping[str, Any],
) -> bool:
    """Tell whether the version that a result names is in the registry, and of the result's key.

    That of the same number in another registry is of other recordings.
    """
    run = runs.find_run(tracker, EXPERIMENT, key(target, request))
    named = Registered(**result["registered"])
    return run is not None and versions.of_run(tracker, named.name, run.info.run_id) == named


def candidates(results: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the version that is the candidate now, of each name that results are registered as."""
    named = [entry["result"]["registered"] for entry in results.values()]
    return versions.candidates({each["name"] for each in named if each is not None})


def data_digest(target: CalibrationTarget) -> str:
    """Return the digest that names the recordings of a target.

    It is `32hex.dir` of `data.dvc` for sessions under `data/`, else the start of their own digest.
    """
    if all(DATA in source.resolve().parents for source in target.sources):
        found = sessions.data_digest(workplace() / sessions.DATA_FILE)
        if found is not None:
            return found
    return target.digest[:36]


def _described(run: OpenRun, results: Mapping[str, Mapping[str, Any]], figure: str) -> str:
    """Return table and figure of results in Markdown, which stand at the top of the run."""
    lines = ["| pair | restitution | log10 concentration | takes |", "| --- | --- | --- | --- |"]
    for name, result in results.items():
        spread = np.sqrt(np.diag(result["covariance"]))
        (e, c), (e_sd, c_sd) = result["mean"], spread
        numbers = f"{e:.5f} +- {e_sd:.5f} | {c:.3f} +- {c_sd:.3f} | {result['takes']['used']}"
        lines.append(f"| {name} | {numbers} |")
    picture = f"![{figure}](get-artifact?path={figure}&run_uuid={run.run_id})"
    return "\n".join(lines) + "\n\n" + picture


def _log_target(
    tracker: Tracker,
    run: OpenRun,
    target: CalibrationTarget,
    request: CalibrationRequest,
    details: Mapping[str, Any],
    digest: str,
) -> None:
    source = "data" if digest.endswith(".dir") else str(target.sources[0])
    runs.log_recordings(tracker, run.run_id, name=target.name, digest=digest, source=source)
    for picture in sorted((target.folder / "figures").glob("*.png")):
        tracker.client.log_artifact(run.run_id, str(picture), "figures")
    for name in ("samples.npz", "details.json"):
        tracker.client.log_artifact(run.run_id, str(target.folder / name))
    numbers = {f"calibrate.{k}": v for k, v in asdict(request.settings[Calibrate]).items()}
    runs.log_numbers(
        tracker,
        run.run_id,
        parameters={
            **numbers,
            "seed": request.seed,
            "pair": target.name,
            "package_kind": details.get("package_kind", "none"),
        },
        metrics=details["metrics"],
    )
    for entry in details["narrowing"]:
        spread = np.sqrt(np.diag(entry["covariance"]))
        names = (f"narrowing_{name}_sd" for name in problem.PARAMETERS)
        metrics = dict(zip(names, spread, strict=True))
        runs.log_numbers(tracker, run.run_id, parameters={}, metrics=metrics, step=entry["drops"])
