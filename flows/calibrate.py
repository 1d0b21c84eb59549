"""The flow from recordings to registered posteriors.

    density ready -> for each pair: hear and infer -> record and register -> all pairs on one plot

The steps are plain functions in `tasks`; a Prefect task wraps one pair. Nothing is cached by
Prefect: what is unchanged is told by its key, on disk and in MLflow.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_link_artifact
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from ricochet.flows.servers.up import defaults, find_running
from ricochet.flows.train_density import ready
from ricochet.tasks.console.progress import bar
from ricochet.tasks.registry import runs
from ricochet.tasks.registry.runs import TRAINING, OpenRun, Tracker
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.storage.provenance import artifacts
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import publish as publishing
from ricochet.tasks.systems.bouncing_ball.calibration import run as calibration
from ricochet.tasks.systems.bouncing_ball.calibration.run import Order, Pair
from ricochet.tasks.systems.bouncing_ball.settings import Density


@flow(name="calibrate", retries=0, persist_result=False, result_serializer="json")
def calibrate(
    sessions: list[str] | None = None,
    out: str = "artifacts/calibrate",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
    density: str | None = None,
) -> dict[str, Any]:
    """Calibrate every pair and register what came out.

    Args:
        sessions: Session folders; none means every session under `data/`.
        out: Folder of the results.
        seed: Seed of all randomness.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.
        density: Package of the density network; none takes the registered one.

    Returns:
        The results by name of the pair, with `unchanged` for those that were there already.
    """
    order = Order(
        settings=catalogue.load_settings(params, overrides),
        out=output_folder(Path(out)),
        seed=seed,
        density=None if density is None else Path(density),
    )
    tracker = runs.connect()
    runs.close_abandoned(tracker)
    if order.density is None:
        order = _with_network(tracker, order)
    named = sessions or []

    def publish(pair: Pair, wanted: Order) -> Mapping[str, Any]:
        result = infer(pair, wanted)
        return result if pair.bare else record(tracker, pair, wanted, result)

    results = calibration.run(named, order, do=publish, published=True)
    together = [pair for pair in calibration.pairs(named, order.out) if not pair.bare]
    if any(not entry["unchanged"] for entry in results.values()):
        compare(tracker, together, order)
    return results


@task(name="hear and infer", cache_policy=NO_CACHE, retries=0)
def infer(pair: Pair, order: Order) -> dict[str, Any]:
    """Calibrate one pair and write its files.

    Args:
        pair: The pair.
        order: What is wanted.

    Returns:
        What `result.json` shall hold.
    """
    with bar(pair.name) as progress:
        return calibration.calibrate_pair(pair, order, progress=progress)


@task(name="record and register", cache_policy=NO_CACHE, retries=2, retry_delay_seconds=5)
def record(tracker: Tracker, pair: Pair, order: Order, result: dict[str, Any]) -> dict[str, Any]:
    """Record one pair in MLflow, register its package, and link the two runs.

    Args:
        tracker: The store.
        pair: The pair.
        order: What was wanted.
        result: What `result.json` shall hold.

    Returns:
        The same with `registered` filled in.
    """
    published, run = publishing.publish_pair(
        tracker, pair, order, result, flow_run=str(flow_run.id or "")
    )
    link(run, f"{pair.name}: MLflow run", key="mlflow-run")
    return published


@task(name="all pairs on one plot", cache_policy=NO_CACHE, retries=2, retry_delay_seconds=5)
def compare(tracker: Tracker, pairs: list[Pair], order: Order) -> None:
    """Draw all pairs on one plot, in the parent of their runs.

    Args:
        tracker: The store.
        pairs: The pairs.
        order: What was wanted.
    """
    run = publishing.publish_comparison(tracker, pairs, order)
    if run is not None:
        link(run, "all pairs: MLflow run", key="mlflow-comparison")


def link(run: OpenRun, text: str, *, key: str) -> None:
    """Leave a link to an MLflow run in the Prefect run.

    Args:
        run: The run.
        text: What the link says.
        key: Key of the artifact.
    """
    server, running = defaults(), find_running(artifacts())
    address = running["mlflow"] if running else f"http://{server['host']}:{server['port']}"
    place = f"{address}/#/experiments/{run.experiment_id}/runs/{run.run_id}?{TRAINING}"
    create_link_artifact(link=place, link_text=text, key=key)


def _with_network(tracker: Tracker, order: Order) -> Order:
    folder, model = ready(tracker, order.settings[Density], seed=0)
    return replace(order, density=folder, model=model)
