"""The MLflow server, the Prefect server and a worker, started, announced and ended together.

State lies under `artifacts/`: `mlflow/` and `prefect/` keep the databases, which runs without
servers write too, so that everything done before is there to look at; `servers/` keeps the logs and
`servers.json`, by which later commands find a running Prefect server, and the next `up` what a
killed one left behind.
"""

import contextlib
import os
import secrets
import signal
import socket
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ricochet.flows.servers import children, kill_guard
from ricochet.flows.servers.children import Children
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.storage.provenance import ROOT, artifacts

POOL = "ricochet"
QUIET = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DVC_NO_ANALYTICS": "1",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_RESULTS_DEFAULT_SERIALIZER": "json",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # seven idle processes for language models
}
PATIENCE = 120.0
"""Longest wait for a server to answer, s."""


@dataclass(frozen=True)
class Request:
    """What to start.

    Attributes:
        host: Address to listen on.
        mlflow_port: Port of the MLflow server; 0 takes a free one.
        prefect_port: Port of the Prefect server; 0 takes a free one.
        deployments: The file that says which flows run when.
        state: Folder of databases and logs.
        out: Where `result.json` says the addresses once the servers answer; None is nowhere.
    """

    host: str
    mlflow_port: int
    prefect_port: int
    deployments: Path = ROOT / "prefect.yaml"
    state: Path = field(default_factory=artifacts)
    out: Path | None = None


def defaults() -> dict[str, Any]:
    """Read `mlflow/server.yaml`.

    Returns:
        Its keys and values.
    """
    with (ROOT / "mlflow" / "server.yaml").open() as file:
        return dict(yaml.safe_load(file))


def prepare_environment() -> None:
    """Set what Prefect and MLflow read when they are imported, where nobody has set it.

    Runs are kept under `artifacts/`, nothing phones home, and a Prefect server started by
    `ricochet up` is used where it is alive; a temporary one does not outlive a verb that is killed.
    """
    kill_guard.leave_nothing()
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("PREFECT_HOME", str(artifacts() / "prefect"))
    output_folder(Path(os.environ["PREFECT_HOME"]))  # Prefect makes no parents, and waits in vain
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")
    alive = find_running(artifacts())
    if alive is not None and "PREFECT_API_URL" not in os.environ:
        os.environ["PREFECT_API_URL"] = f"{alive['prefect']}/api"


def find_running(state: Path) -> dict[str, Any] | None:
    """Look for servers started by `ricochet up`.

    Args:
        state: Folder of databases and logs.

    Returns:
        The content of `servers.json` if its process lives and the servers answered, else None.
    """
    found = children.owner(state)
    return found if found is not None and "prefect" in found else None


def up(request: Request, *, say: Callable[[str], None]) -> None:
    """Start everything, announce it, and wait until told to stop.

    Args:
        request: What to start.
        say: Called with each line for the person at the terminal.

    Raises:
        BadInput: If a port is taken or servers are up already.
        RuntimeError: If a child ends by itself or does not answer.
    """
    _refuse_a_second(request.state)
    if left := children.end_orphans(request.state):
        say(f"ended {left} processes that an `up` which was killed had left running")
    with _stoppable(), servers(request) as (addresses, started):
        if request.out is not None:
            write_json(request.out / "result.json", {"schema": "ricochet.up/1", **addresses})
        say(f"MLflow   {addresses['mlflow']}")
        say(f"Prefect  {addresses['prefect']}")
        say("The worker waits for scheduled runs; Ctrl-C ends all.")
        while all(child.poll() is None for child in started.processes):
            time.sleep(0.5)
        raise RuntimeError(f"a server ended by itself; its log is in {started.logs}")


@contextlib.contextmanager
def servers(request: Request) -> Iterator[tuple[dict[str, str], Children]]:
    """Run both servers and the worker while the block lasts.

    Args:
        request: What to start.

    Yields:
        The addresses `mlflow` and `prefect`, once they answer, and the processes.

    Raises:
        BadInput: If a port is taken.
        RuntimeError: If a server does not answer.
    """
    state = output_folder(request.state)
    ports = [_port(request.host, port) for port in (request.mlflow_port, request.prefect_port)]
    mlflow, prefect = (f"http://{_reachable(request.host)}:{port}" for port in ports)
    started = Children(state, output_folder(state / "servers"), _environment(state, prefect))
    try:
        _start_mlflow(started, request.host, ports[0], state)
        _start_prefect(started, request.host, ports[1])
        _await_answer(f"{mlflow}/health", started)
        _await_answer(f"{prefect}/api/health", started)
        _deploy(started, request.deployments)
        started.start("worker", [*_prefect(), "worker", "start", "--pool", POOL])
        addresses = {"mlflow": mlflow, "prefect": prefect}
        started.write_down(addresses)
        yield addresses, started
    finally:
        started.end()


def _refuse_a_second(state: Path) -> None:
    running = children.owner(state)
    if running is None:
        return
    places = [running[name] for name in ("mlflow", "prefect") if name in running]
    where = f"up already at {' and '.join(places)}" if places else "being started already"
    raise BadInput(str(state), f"servers {where}", "none")


def _environment(state: Path, prefect: str) -> dict[str, str]:
    store = output_folder(state / "mlflow")
    settings = {
        "RICOCHET_ARTIFACTS": str(state),
        "PREFECT_HOME": str(state / "prefect"),
        "PREFECT_API_URL": f"{prefect}/api",
        "MLFLOW_TRACKING_URI": f"sqlite:///{store / 'mlflow.db'}",
        "PWD": str(ROOT),
    }
    return {**QUIET, "OMP_NUM_THREADS": "1", **os.environ, **settings}


def _start_mlflow(started: Children, host: str, port: int, state: Path) -> None:
    settings = defaults()
    # A fixed secret only keeps MLflow from warning; nobody logs in on loopback.
    started.environment = {
        **started.environment,
        "MLFLOW_FLASK_SERVER_SECRET_KEY": secrets.token_hex(16),
    }
    command = [sys.executable, "-m", "mlflow", "server", "--host", host, "--port", str(port)]
    command += ["--backend-store-uri", started.environment["MLFLOW_TRACKING_URI"]]
    command += ["--artifacts-destination", (state / "mlflow" / "artifacts").as_uri()]
    command += ["--workers", str(settings["workers"])]
    command += ["--allowed-hosts", ",".join(settings["allowed_hosts"])]
    started.start("mlflow", command)


def _start_prefect(started: Children, host: str, port: int) -> None:
    command = [*_prefect(), "server", "start", "--host", host, "--port", str(port)]
    started.start("prefect", [*command, "--analytics-off"])


def _deploy(started: Children, deployments: Path) -> None:
    pool = ["work-pool", "create", POOL, "--type", "process", "--overwrite"]
    deploy = ["--no-prompt", "deploy", "--all", "--prefect-file", str(deployments)]
    for name, command in (("pool", pool), ("deploy", deploy)):
        child = started.start(name, [*_prefect(), *command])
        child.wait(PATIENCE)
        started.processes.remove(child)
        if child.returncode != 0:
            raise RuntimeError(f"Prefect refused; see {started.logs / name}.log")


def _prefect() -> list[str]:
    return [sys.executable, "-m", "prefect"]


def _await_answer(address: str, started: Children) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if any(child.poll() is not None for child in started.processes):
            break
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=2.0) as answer:
            if answer.status == 200:
                return
        time.sleep(0.2)
    raise RuntimeError(f"no answer from {address}; see the logs in {started.logs}")


def _port(host: str, port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            found = (error.strerror or str(error)).lower()
            raise BadInput(f"{host}:{port}", found, "a free port, or another by option") from error
        return int(probe.getsockname()[1])


def _reachable(host: str) -> str:
    return "127.0.0.1" if host == "0.0.0.0" else host


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Turn Ctrl-C, SIGTERM and a closed terminal into an orderly end of the block.

    Only the first counts: a second Ctrl-C must not cut short the ending of the children.
    """
    wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(number: int, frame: object) -> None:
        for later in wanted:
            signal.signal(later, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in wanted}
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
