"""Links from a Prefect run to the MLflow run that records what it gave."""

from typing import Protocol

from prefect.artifacts import create_link_artifact

from ricochet.flows.servers.up import defaults, find_running
from ricochet.tasks.registry.runs import TRAINING
from ricochet.tasks.storage.provenance import artifacts


class Run(Protocol):
    """A run in MLflow."""

    @property
    def run_id(self) -> str:
        """Its id."""

    @property
    def experiment_id(self) -> str:
        """Its experiment's id."""


def link(run: Run, text: str, *, key: str) -> None:
    """Leave a link to an MLflow run in the Prefect run.

    Args:
        run: The MLflow run.
        text: What the link says.
        key: Key of the Prefect artifact.
    """
    server, running = defaults(), find_running(artifacts())
    address = running["mlflow"] if running else f"http://{server['host']}:{server['port']}"
    place = f"{address}/#/experiments/{run.experiment_id}/runs/{run.run_id}?{TRAINING}"
    create_link_artifact(link=place, link_text=text, key=key)
