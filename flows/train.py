"""The flow that runs a training of a system, each step a Prefect task, and registers what it made.

A step that was taken finds its result, so that a training that is complete is registered and
nothing else.
"""

from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.runtime import flow_run

from ricochet.flows.job_places import jobs_by_settings
from ricochet.flows.prefect_artifacts import link, reported
from ricochet.flows.prefect_options import FLOW, ONCE, RETRIED
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.systems import catalogue
from ricochet.tasks.training import steps
from ricochet.tasks.training.steps import Publication, Step, Training, TrainingRequest


@flow(name="train", flow_run_name="train {name}", **FLOW)
@jobs_by_settings
def train(
    name: str,
    out: str | None = None,
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
) -> dict[str, Any]:
    """Run a training, unless its result is there, and register the packages.

    Args:
        name: A name that `ricochet train` lists.
        out: Folder of the results; None takes `artifacts/train/<name>`.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.
    """
    training = catalogue.training(name)
    folder = output_folder(Path("artifacts", "train", name) if out is None else Path(out))
    request = TrainingRequest(catalogue.load_settings(params, overrides), folder, seed)
    result = train_and_publish(training, request)
    write_json(folder / "result.json", result)
    return result


def train_and_publish(training: Training, request: TrainingRequest) -> dict[str, Any]:
    """Take all steps and register the packages, as tasks of the flow that runs."""
    procedure = training.load()
    result = steps.run(
        procedure,
        request,
        take=lambda step: take.with_options(name=step.label, task_run_name=step.label)(step),
    )
    return result | dict(register(training, request).result)


@task(**ONCE)
def take(step: Step) -> None:
    """Take a step, unless it was taken."""
    steps.take(step, reported)


@task(name="record and register", task_run_name="register {training.name}", **RETRIED)
def register(training: Training, request: TrainingRequest) -> Publication:
    """Record and register all packages, and link the MLflow run."""
    published = training.load().publish(request, str(flow_run.id or ""))
    link(published, f"training of {training.name} in MLflow", key=f"mlflow-{training.name}")
    return published
