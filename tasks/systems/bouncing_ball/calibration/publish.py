"""Results to MLflow: one run a pair and data digest, one version in the registry, one comparison.

Every step finds its own earlier result, so that running again adds nothing.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.tasks.figures import calibration_checks
from ricochet.tasks.recordings import sessions
from ricochet.tasks.registry import runs, versions
from ricochet.tasks.registry.packages import MANIFEST, read_package
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.storage.files import digest_of, sha256
from ricochet.tasks.storage.provenance import ROOT
from ricochet.tasks.systems.bouncing_ball.calibration import density
from ricochet.tasks.systems.bouncing_ball.calibration import run as steps
from ricochet.tasks.systems.bouncing_ball.calibration.run import DATA, Order, Pair
from ricochet.tasks.systems.bouncing_ball.figures import calibration
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY as DENSITY_KIND
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate, Density

EXPERIMENT = "calibrate"
DENSITY = "density"


def publish_density(
    tracker: Tracker, folder: Path, *, flow_run: str = ""
) -> tuple[Registered, OpenRun]:
    """Record and register a trained density.

    Args:
        tracker: The store.
        folder: Folder that holds `package`, and `search.journal` after a search.
        flow_run: Id of the Prefect flow run, if there is one.

    Returns:
        The version and the run.

    Raises:
        BadInput: If the package is not whole.
    """
    package = read_package(folder / "package", reader=density.READER)
    tags = {"prefect.flow_run_id": flow_run, "ricochet.settings": package.data_digest}
    run = runs.open_run(
        tracker, DENSITY, sha256(folder / "package" / MANIFEST), name=density.NAME, tags=tags
    )
    if not run.finished:
        _log_search(tracker, run, folder, dict(package.settings))
        for step, value in enumerate(package.checks["history"]):
            runs.log_numbers(
                tracker, run.run_id, parameters={}, metrics={"held_out_history": value}, step=step
            )
        _log_checks(tracker, run, package.checks)
        runs.log_numbers(
            tracker,
            run.run_id,
            parameters=_trained_with(package.settings),
            metrics={"held_out": package.checks["held_out"]},
        )
    version = versions.register(
        tracker,
        density.NAME,
        folder / "package",
        kind=DENSITY_KIND,
        run_id=run.run_id,
        tags=tags,
    )
    if not run.finished:
        runs.finish(tracker, run.run_id)
    return version, run


def publish_pair(
    tracker: Tracker, pair: Pair, order: Order, result: Mapping[str, Any], *, flow_run: str = ""
) -> tuple[dict[str, Any], OpenRun]:
    """Record a calibrated pair and register its package.

    Args:
        tracker: The store.
        pair: The pair, its files in its folder.
        order: What was wanted.
        result: What `result.json` shall hold.
        flow_run: Id of the Prefect flow run, if there is one.

    Returns:
        The result with `registered` filled in, and the run.

    Raises:
        BadInput: If the package is not whole.
    """
    details = json.loads((pair.folder / "details.json").read_text())
    digest = data_digest(pair)
    tags = {
        "ricochet.pair": pair.name,
        "ricochet.recordings": pair.digest,
        "data.digest": digest,
        "prefect.flow_run_id": flow_run,
    }
    run = runs.open_run(tracker, EXPERIMENT, details["key"], name=pair.name, tags=tags)
    published, package = dict(result), pair.folder / "package"
    if package.is_dir():
        version = versions.register(
            tracker, pair.name, package, kind=POSTERIOR, run_id=run.run_id, tags=tags
        )
        published["registered"] = asdict(version)
    if not run.finished:
        _log_pair(tracker, run, pair, order, details, digest)
        tracker.client.log_dict(run.run_id, published, "result.json")
        runs.finish(tracker, run.run_id)
    return published, run


def publish_comparison(tracker: Tracker, pairs: Sequence[Pair], order: Order) -> OpenRun | None:
    """Draw all pairs on one plot, in a run that is the parent of theirs.

    Args:
        tracker: The store.
        pairs: The pairs, published.
        order: What was wanted.

    Returns:
        The run, or None where fewer than two pairs are published.
    """
    found = {pair: runs.find_run(tracker, EXPERIMENT, steps.key(pair, order)) for pair in pairs}
    children = {pair: child.info.run_id for pair, child in found.items() if child is not None}
    if len(children) < 2:
        return None
    identity = digest_of(sorted(children.values()))
    run = runs.open_run(tracker, EXPERIMENT, identity, name="all pairs", tags={})
    if run.finished:
        return run
    samples = {}
    for pair in children:
        with np.load(pair.folder / "samples.npz") as arrays:
            samples[pair.name] = arrays["theta"]
    tracker.client.log_figure(run.run_id, calibration.comparison(samples), "figures/comparison.png")
    for child in children.values():
        tracker.client.set_tag(child, "mlflow.parentRunId", run.run_id)
    runs.finish(tracker, run.run_id)
    return run


def is_registered(tracker: Tracker, result: Mapping[str, Any]) -> bool:
    """Tell whether the version that a result names is in the registry.

    Args:
        tracker: The store.
        result: What `result.json` holds.

    Returns:
        True if it is, and for a bare recording, which is never registered.
    """
    named = result["registered"]
    return named is None or versions.exists(tracker, Registered(**named))


def data_digest(pair: Pair) -> str:
    """Return the digest that names the recordings of a pair.

    Args:
        pair: The pair.

    Returns:
        `32hex.dir` of `data.dvc` for sessions under `data/`, else the start of their own digest.
    """
    if all(DATA in source.resolve().parents for source in pair.sources):
        found = sessions.data_digest(ROOT / sessions.DATA_FILE)
        if found is not None:
            return found
    return pair.digest[:36]


def _log_pair(
    tracker: Tracker,
    run: OpenRun,
    pair: Pair,
    order: Order,
    details: Mapping[str, Any],
    digest: str,
) -> None:
    source = "data" if digest.endswith(".dir") else str(pair.sources[0])
    runs.log_recordings(tracker, run.run_id, name=pair.name, digest=digest, source=source)
    for picture in sorted((pair.folder / "figures").glob("*.png")):
        tracker.client.log_artifact(run.run_id, str(picture), "figures")
    for name in ("samples.npz", "details.json"):
        tracker.client.log_artifact(run.run_id, str(pair.folder / name))
    for entry in details["narrowing"]:
        spread = np.sqrt(np.diag(entry["covariance"]))
        metrics = {"narrowing_restitution_sd": spread[0], "narrowing_concentration_sd": spread[1]}
        runs.log_numbers(tracker, run.run_id, parameters={}, metrics=metrics, step=entry["drops"])
    numbers = {f"calibrate.{k}": v for k, v in asdict(order.settings[Calibrate]).items()}
    runs.log_numbers(
        tracker,
        run.run_id,
        parameters={**numbers, "seed": order.seed, "pair": pair.name},
        metrics=details["metrics"],
    )


def _log_checks(tracker: Tracker, run: OpenRun, checks: Mapping[str, Any]) -> None:
    """Record how honest the density is on fresh drops: rank histogram and coverage."""
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


def _trained_with(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a density, those that a search chose in place of those asked for."""
    asked = {name: value for name, value in settings.items() if name != "chosen"}
    return asked | settings["chosen"]


def _log_search(tracker: Tracker, run: OpenRun, folder: Path, settings: dict[str, Any]) -> None:
    """Record each trial of a search as a child of the density's run."""
    if not settings.get("trials"):
        return
    from ricochet.tasks.systems.bouncing_ball.calibration import density_search

    seed = int(settings.pop("seed"))
    del settings["chosen"]
    found = density_search.search(Density(**settings), folder, seed=seed)
    for attempt in found.attempts:
        child = runs.open_run(
            tracker,
            DENSITY,
            f"{found.name}-{attempt.number}",
            name=f"trial {attempt.number}",
            tags={"mlflow.parentRunId": run.run_id, "optuna.study": found.name},
        )
        if not child.finished:
            runs.log_numbers(
                tracker,
                child.run_id,
                parameters=asdict(attempt.settings),
                metrics={"held_out": attempt.held_out},
            )
            runs.finish(tracker, child.run_id)
