"""Where people look: addresses of pages of MLflow and Prefect."""

from collections.abc import Mapping

from ricochet.flows.servers import environments
from ricochet.flows.servers.environments import defaults
from ricochet.flows.servers.known_servers import find_running
from ricochet.flows.servers.lab import Lab
from ricochet.tasks.registry import page_places
from ricochet.tasks.storage.provenance import artifacts


def mlflow() -> tuple[str, str]:
    """Return the address of MLflow, and a note where nothing answers there."""
    running, server = find_running(artifacts()), defaults()
    if running:
        return str(running["mlflow"]), ""
    return f"http://{server['host']}:{server['port']}", "  (once `ricochet up` runs)"


def of_version(name: str, version: str) -> str:
    """Return the address of the page of a registered version, with a note where none answers."""
    address, note = mlflow()
    return f"{address}/{page_places.of_version(name, version)}{note}"


def pages(servers: Mapping[str, str]) -> list[str]:
    """Return lines that lead to the pages behind the servers' addresses."""
    return [
        f"  models            {servers['mlflow']}/{page_places.MODELS}",
        f"  runs              {servers['mlflow']}/{page_places.RUNS}",
        f"  flow runs         {servers['prefect']}/runs",
        f"  deployments       {servers['prefect']}/deployments",
    ]


def logins(lab: Lab) -> list[str]:
    """Return lines that say where the passwords lie which the pages ask for."""
    folder = lab.secrets_folder
    found = [f"Prefect's pages ask for a password: cat {folder / environments.PREFECT}"]
    if lab.login:
        file = folder / environments.MLFLOW_ADMIN
        found += [f"MLflow's pages ask for a name and a password: cat {file}"]
    return found
