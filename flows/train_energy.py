"""The flow that learns how the puck moves, finds shots and trains their energies, one a setting.

    collect and fit -> strokes -> label -> train and check, one by one -> pictures -> register

What is there already is found by its key: an unchanged training is registered and nothing else.
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

from flows.calibrate import link
from models.planners.strokes import Strokes
from models.probability.puck_modes import PuckModes
from tasks import (
    energy_publishing,
    energy_steps,
    energy_training,
    settings,
    tracking,
)
from tasks.artefacts import output_folder, write_json
from tasks.energy_steps import Labels, Order
from tasks.progress import Progress, bar
from tasks.tracking import Tracker

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
    wanted = settings.load(None if params is None else Path(params), overrides or ())
    order, tracker = Order(wanted, output_folder(Path(out)), seed), tracking.connect()
    torch.set_num_threads(1)
    new = not energy_training.is_done(order)
    if new:
        modes, strokes = learn_modes(order), find_strokes(order)
        labels = label(order, modes, strokes)
        for name in energy_training.NAMES:
            train(order, name, labels)
        draw(order)
    result = energy_training.summary(order, trained=new)
    result["registered"] = register(tracker, order)
    write_json(order.out / "result.json", result)
    return result


@task(name="collect and fit", cache_policy=NO_CACHE, retries=0)
def learn_modes(order: Order) -> PuckModes:
    """Record the simulated table and learn how the puck moves on it.

    Args:
        order: What is wanted.

    Returns:
        The modes.
    """
    with reported("puck modes") as progress:
        return energy_steps.modes(order, progress)


@task(name="strokes", cache_policy=NO_CACHE, retries=0)
def find_strokes(order: Order) -> Strokes:
    """Compute what the arm can do.

    Args:
        order: What is wanted.

    Returns:
        The table of strokes.
    """
    with reported("strokes") as progress:
        return energy_steps.strokes(order, progress)


@task(name="label", cache_policy=NO_CACHE, retries=0)
def label(order: Order, modes: PuckModes, strokes: Strokes) -> Labels:
    """Roll out the shots that the energies learn from.

    Args:
        order: What is wanted.
        modes: How the puck moves.
        strokes: What the arm can do.

    Returns:
        States, angles and what comes of them.
    """
    with reported("shots") as progress:
        return energy_steps.labels(order, modes, strokes, progress)


@task(name="train and check", cache_policy=NO_CACHE, retries=0)
def train(order: Order, name: str, labels: Labels) -> None:
    """Train the energy of one setting, check it and write its package.

    Args:
        order: What is wanted.
        name: Name of the package.
        labels: What it learns from.
    """
    with reported(name) as progress:
        energy_training.train_one(order, name, labels, progress)


@task(name="pictures", cache_policy=NO_CACHE, retries=0)
def draw(order: Order) -> None:
    """Draw what was learnt.

    Args:
        order: What was wanted; the packages are there.
    """
    energy_training.draw(order)


@task(name="register energies", cache_policy=NO_CACHE, retries=2, retry_delay_seconds=5)
def register(tracker: Tracker, order: Order) -> dict[str, str]:
    """Record and register all packages.

    Args:
        tracker: The store.
        order: What was wanted.

    Returns:
        Versions by name.
    """
    versions, run = energy_publishing.publish(
        tracker, order.out, energy_training.NAMES, flow_run=str(flow_run.id or "")
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
