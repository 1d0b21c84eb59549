"""What each server and the worker are given through their environment, passwords among it.

Prefect answers nobody without its password: whoever reaches its port could else have the worker run
any command. It is a new one at every plain start, so that one that somebody picked up on the port
while the servers were down is worth nothing; that of a lab is kept, since other machines hold it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ricochet.flows.servers.lab import PGPASS, Lab
from ricochet.tasks.storage import database_address, secret_files
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.storage.provenance import ROOT, workplace
from ricochet.tasks.upkeep_settings import Keep

USER, ADMIN, READER = "ricochet", "admin", "controller"
"""Names at Prefect, and at MLflow of who may do all and of who may read."""
PREFECT, MLFLOW_ADMIN, MLFLOW_READER = "prefect", "mlflow-admin", "mlflow-controller"
"""Files of `name:password`, beside `pgpass` for databases."""
SESSION_KEY, AUTH = "mlflow-session-key", "mlflow-auth.ini"
SERVER_LOGIN, CLIENT_LOGIN = "PREFECT_SERVER_API_AUTH_STRING", "PREFECT_API_AUTH_STRING"
KNOWN = 60
"""How long MLflow takes a password for right without comparing it again, s."""
PATIENCE = 120.0
"""Longest time that PostgreSQL works on a question of MLflow's while that starts, s: afterwards
`server_queries` says how long."""
ADDRESSES = ("PREFECT_API_URL", "MLFLOW_TRACKING_URI")
"""Variables that say whom a verb or a run asks."""
LEASES = "prefect.server.concurrency.lease_storage.filesystem"
QUIET = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DVC_NO_ANALYTICS": "1",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_RESULTS_DEFAULT_SERIALIZER": "json",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # names of runs are anybody's
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # seven idle processes for language models
}
ONE_POOL, FRUGAL = {"MALLOC_ARENA_MAX": "1"}, {"MALLOC_TRIM_THRESHOLD_": "131072"}
"""Have glibc give memory back: with a pool for each thread, servers grow by 1 to 2 MB a night.
What computes takes the same memory again and again, and would lose half its time by giving it back.
"""


@dataclass(frozen=True)
class Environments:
    """The environment of each kind of process; that of the worker is its clients' too."""

    mlflow: Mapping[str, str]
    prefect: Mapping[str, str]
    worker: Mapping[str, str]


def defaults() -> dict[str, Any]:
    """Read the addresses and options in `mlflow/server.yaml`."""
    return dict(yaml.safe_load((ROOT / "mlflow" / "server.yaml").read_text()))


def prepare(lab: Lab, *, mlflow: str, prefect: str, shared: bool, keep: Keep) -> Environments:
    """Make the passwords that are missing and return the environments.

    Args:
        mlflow, prefect: Addresses of the servers.
        shared: Whether clients go through MLflow's server, and Prefect's password is kept.
        keep: For how long runs are kept.
    """
    folder = secret_files.own_folder(lab.secrets_folder)
    make = secret_files.kept if shared else secret_files.fresh
    login = make(folder, PREFECT, prefix=f"{USER}:")
    every = _every(lab)
    client = {"PREFECT_API_URL": f"{prefect}/api", CLIENT_LOGIN: login}
    tracking = _tracking(lab, mlflow) if shared else {"MLFLOW_TRACKING_URI": local_store(lab.state)}
    return Environments(
        mlflow={**FRUGAL, **every, **_of_mlflow(lab, folder)},
        prefect={
            **FRUGAL,
            **every,
            **client,
            **_of_prefect(lab, prefect, keep),
            SERVER_LOGIN: login,
        },
        worker={**every, **client, **tracking},
    )


def of_clients(running: Mapping[str, Any]) -> dict[str, str]:
    """Return what a verb needs to reach servers that the ledger of `up` names."""
    folder = Path(running["secrets"])
    login = secret_files.read(folder, PREFECT)
    found = {"PREFECT_API_URL": f"{running['prefect']}/api", CLIENT_LOGIN: login}
    if "tracking" in running:
        found["MLFLOW_TRACKING_URI"] = running["tracking"]
    if running.get("login"):
        found |= _credentials(folder)
    return found


def local_store(state: Path) -> str:
    """Return the address of MLflow's own database in the folder of state."""
    return f"sqlite:///{output_folder(state / 'mlflow') / 'mlflow.db'}"


def _every(lab: Lab) -> dict[str, str]:
    passed = {key: os.environ[key] for key in os.environ if key not in (SERVER_LOGIN, CLIENT_LOGIN)}
    inherited = {key: value for key, value in passed.items() if not key.startswith("MLFLOW_T")}
    found = {
        "RICOCHET_ARTIFACTS": str(lab.state),
        "PREFECT_HOME": str(lab.state / "prefect"),
        "OMP_NUM_THREADS": "1",  # as `tasks.console.threads` has it for a verb
        "PWD": str(workplace()),
    }
    passwords = lab.secrets_folder / PGPASS
    if passwords.exists():
        found["PGPASSFILE"] = str(passwords)
    return {**QUIET, **ONE_POOL, **inherited, **found}


def _tracking(lab: Lab, mlflow: str) -> dict[str, str]:
    login = _credentials(lab.secrets_folder) if lab.login else {}
    return {"MLFLOW_TRACKING_URI": mlflow, **login}


def _credentials(folder: Path) -> dict[str, str]:
    name, _, password = secret_files.kept(folder, MLFLOW_ADMIN, prefix=f"{ADMIN}:").partition(":")
    return {"MLFLOW_TRACKING_USERNAME": name, "MLFLOW_TRACKING_PASSWORD": password}


def _of_mlflow(lab: Lab, folder: Path) -> dict[str, str]:
    files = (output_folder(lab.state / "mlflow") / "artifacts").as_uri()
    origins = [f"https://{name}" for name in lab.names]
    found = {
        "MLFLOW_BACKEND_STORE_URI": lab.mlflow_database or local_store(lab.state),
        "MLFLOW_ARTIFACTS_DESTINATION": lab.artifact_store or files,
        "MLFLOW_SERVER_ALLOWED_HOSTS": ",".join([*defaults()["allowed_hosts"], *lab.names]),
        "MLFLOW_FLASK_SERVER_SECRET_KEY": secret_files.kept(folder, SESSION_KEY),
        "PGOPTIONS": f"{os.environ.get('PGOPTIONS', '')} -c statement_timeout={PATIENCE:.0f}s",
    }
    if origins:
        found["MLFLOW_SERVER_CORS_ALLOWED_ORIGINS"] = ",".join(origins)
    return found | (_mlflow_login(lab, folder) if lab.login else {})


def _mlflow_login(lab: Lab, folder: Path) -> dict[str, str]:
    users = lab.mlflow_database or f"sqlite:///{lab.state / 'mlflow' / 'users.db'}"
    lines = ["[mlflow]", "default_permission = READ", f"database_uri = {users}"]
    lines += [f"admin_username = {ADMIN}", "grant_default_workspace_access = false"]
    lines += [f"auth_cache_ttl_seconds = {KNOWN}"]
    return {
        "MLFLOW_AUTH_CONFIG_PATH": str(secret_files.write(folder, AUTH, "\n".join(lines))),
        "MLFLOW_AUTH_ADMIN_USERNAME": ADMIN,
        "MLFLOW_AUTH_ADMIN_PASSWORD": _credentials(folder)["MLFLOW_TRACKING_PASSWORD"],
        "RICOCHET_READER": secret_files.kept(folder, MLFLOW_READER, prefix=f"{READER}:"),
    }


def _of_prefect(lab: Lab, prefect: str, keep: Keep) -> dict[str, str]:
    """Pages ask where they came from; a page of another origin is given no answer to read.

    Leases of slots lie in files: were they in memory, a server that is started anew would know
    none, and the runs that hold one would be ended.
    """
    found = {
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": LEASES,
        "PREFECT_UI_API_URL": "/api",
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": prefect,
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": str(round(86400.0 * keep.flow_runs)),
    }
    if lab.prefect_database:
        address = database_address.for_asyncpg(lab.prefect_database)
        found["PREFECT_API_DATABASE_CONNECTION_URL"] = address
    return found
