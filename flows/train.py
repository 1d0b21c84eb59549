"""The flow that learns how the puck moves, finds shots and trains their energies, one a setting.

    puck modes -> strokes -> shots -> (search) -> train and check each -> pictures -> register

The steps are those of `tasks.systems.air_hockey.policies.train`; one that was taken finds its
result. An unchanged training is registered and nothing else.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import torch
from prefect import flow, task
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from ricochet.flows.calibrate import link
from ricochet.tasks.console.progress import Progress, bar
from ricochet.tasks.registry import runs
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.policies import publish, train
from ricochet.tasks.systems.air_hockey.policies.train import Step
from ricochet.tasks.systems.air_hockey.policies.training_data import Order

STEP = 5
"""Per cent of a step's work between two reports to Prefect."""


@flow(name="train-energy", retries=0, persist_result=False, result_serializer="json")
def train_energy(
    out: str = "artifacts/train/energy",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
) -> dict[str, Any]:
    """Train the energies of all settings, unless they are there, and register them.

    Args:
        out: Folder of the results.
        seed: Seed of all randomness.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.

    Returns:
        What `result.json` holds.
    """
    wanted = catalogue.load_settings(params, overrides)
    order, tracker = Order(wanted, output_folder(Path(out)), seed), runs.connect()
    torch.set_num_threads(1)
    new = not train.is_done(order)
    for step in train.steps(order) if new else ():
        take.with_options(name=step.label)(step)
    result = train.summary(order, trained=new)
    result["registered"] = register(tracker, order)
    write_json(order.out / "result.json", result)
    return result


@task(cache_policy=NO_CACHE, retries=0)
def take(step: Step) -> None:
    """Take a step, unless it was taken.

    Args:
        step: The step.
    """
    train.take(step, reported)


@task(name="register energies", cache_policy=NO_CACHE, retries=2, retry_delay_seconds=5)
def register(tracker: Tracker, order: Order) -> dict[str, str]:
    """Record and register all packages.

    Args:
        tracker: The store.
        order: What was wanted.

    Returns:
        Versions by name.
    """
    versions, run = publish.publish(
        tracker, order.out, train.NAMES, flow_run=str(flow_run.id or "")
    )
    link(run, "energies of all settings in MLflow", key="mlflow-energies")
    return {name: version.version for name, version in versions.items()}


@contextlib.contextmanager
def reported(label: str) -> Iterator[Progress]:
    """Show progress at the terminal and, inside a flow, in Prefect.

    Args:
        label: What is being done.

    Yields:
        The function to call after each step.
    """
    with bar(label) as drawn:
        if flow_run.id is None:
            yield drawn
            return
        artifact = cast(UUID, create_progress_artifact(progress=0.0, description=label))
        told = 0

        def report(done: int, total: int) -> None:
            nonlocal told
            drawn(done, total)
            share = 100 * done // max(total, 1)
            if share >= told + STEP or (done == total and told < 100):
                told = share
                update_progress_artifact(artifact_id=artifact, progress=float(share))

        yield report
