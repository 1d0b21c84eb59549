"""Links from a Prefect run to the MLflow run that records what it gave."""

from prefect.artifacts import create_link_artifact

from ricochet.flows.servers import addresses
from ricochet.tasks.registry import page_places
from ricochet.tasks.registry.runs import OpenRun
from ricochet.tasks.training.steps import Publication


def link(run: OpenRun | Publication, text: str, *, key: str) -> None:
    """Leave a link to an MLflow run in the Prefect run, as an artifact with a key."""
    address, _ = addresses.mlflow()
    place = f"{address}/{page_places.of_run(run.experiment_id, run.run_id)}"
    create_link_artifact(link=place, link_text=text, key=key)
