"""The MLflow server, the Prefect server and workers, started, announced and ended together.

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
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ricochet.flows.servers import children, kill_guard, work_pools
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.storage.provenance import ROOT, artifacts, workplace

Process = subprocess.Popen[bytes]

LOGS = "servers"
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
EMBEDDED = {
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
}
"""For a verb that runs a flow itself, on a temporary server where none is up."""
PATIENCE = 120.0
"""Longest wait for a server to answer, s."""


@dataclass(frozen=True)
class Request:
    """What to start; port 0 takes a free one.

    Attributes:
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
    """Read the addresses and options in `mlflow/server.yaml`."""
    return dict(yaml.safe_load((ROOT / "mlflow" / "server.yaml").read_text()))


def prepare_environment() -> None:
    """Set what Prefect and MLflow read when they are imported, where it is not set.

    Runs are kept under `artifacts/`, nothing phones home, and a Prefect server started by
    `ricochet up` is used where it is alive; a temporary one does not outlive a verb that is killed.
    """
    kill_guard.guard_children()
    home = str(artifacts() / "prefect")
    for name, value in {**QUIET, **EMBEDDED, "PREFECT_HOME": home}.items():
        os.environ.setdefault(name, value)
    output_folder(Path(os.environ["PREFECT_HOME"]))  # Prefect makes no parents, and waits in vain
    alive = find_running(artifacts())
    if alive is not None:
        os.environ.setdefault("PREFECT_API_URL", f"{alive['prefect']}/api")


def find_running(state: Path) -> dict[str, Any] | None:
    """Return the ledger of `ricochet up`, if that process lives and its servers answered."""
    found = children.ledger(state)
    return found if found is not None and "prefect" in found else None


def up(request: Request, *, report_line: Callable[[str], None]) -> None:
    """Start everything, announce it, and wait for a signal to stop.

    Raises:
        BadInput: If a port is taken or servers are up already.
        RuntimeError: If a child ends by itself or does not answer.
    """
    from ricochet.flows.servers.addresses import pages

    _refuse_a_second(request.state)
    if left := children.end_orphans(request.state):
        report_line(f"ended {left} processes that an `up` which was killed had left running")
    with _stoppable(), servers(request) as (addresses, processes):
        if request.out is not None:
            write_json(request.out / "result.json", {"schema": "ricochet.up/1", **addresses})
        report_line(f"MLflow   {addresses['mlflow']}")
        report_line(f"Prefect  {addresses['prefect']}")
        for line in pages(addresses):
            report_line(line)
        report_line("The workers wait for scheduled runs; Ctrl-C ends all.")
        while all(process.poll() is None for process in processes):
            time.sleep(0.5)
        raise RuntimeError(f"a server ended by itself; its log is in {request.state / LOGS}")


@contextlib.contextmanager
def servers(request: Request) -> Iterator[tuple[dict[str, str], list[Process]]]:
    """Run both servers and the workers while the block lasts.

    The block is given the addresses `mlflow` and `prefect`, once they answer, and the processes.
    """
    state, host = output_folder(request.state), request.host
    ports = [_port(host, port) for port in (request.mlflow_port, request.prefect_port)]
    reachable = "127.0.0.1" if host == "0.0.0.0" else host
    mlflow, prefect = (f"http://{reachable}:{port}" for port in ports)
    logs, environment = output_folder(state / LOGS), _environment(state, prefect)

    def run(name: str, command: list[str]) -> contextlib.AbstractContextManager[Process]:
        return children.running(command, log=logs / f"{name}.log", environment=environment)

    children.write_ledger(state)
    _create_store(state)
    with contextlib.ExitStack() as started:
        started.callback((state / children.LEDGER).unlink, missing_ok=True)
        serve = ("server", "start", "--host", host, "--port", str(ports[1]), "--analytics-off")
        commands = {"mlflow": _mlflow(host, ports[0], state), "prefect": _prefect(*serve)}
        processes = [started.enter_context(run(*each)) for each in commands.items()]
        for address in (f"{mlflow}/health", f"{prefect}/api/health"):
            _await_answer(address, processes, logs)
        for name, command in _deployment(request.deployments).items():
            with run(name, command) as process:
                if process.wait(PATIENCE) != 0:
                    raise RuntimeError(f"Prefect refused; see {logs / name}.log")
        for pool in work_pools.POOLS:
            worker = run(f"worker-{pool}", _prefect("worker", "start", "--pool", pool))
            processes.append(started.enter_context(worker))
        children.write_ledger(state, mlflow=mlflow, prefect=prefect)
        started.callback((state / children.LEDGER).unlink, missing_ok=True)  # before all else ends
        yield {"mlflow": mlflow, "prefect": prefect}, processes


def _create_store(state: Path) -> None:
    """Make MLflow's tables before its server does, which would not wait for another verb."""
    from ricochet.tasks.registry import runs

    runs.create_store(output_folder(state / "mlflow") / "mlflow.db")


def _refuse_a_second(state: Path) -> None:
    running = children.ledger(state)
    if running is None:
        return
    places = [running[name] for name in ("mlflow", "prefect") if name in running]
    where = f"up already at {' and '.join(places)}" if places else "being started already"
    raise BadInput(str(state), f"servers {where}", "none")


def _environment(state: Path, prefect: str) -> dict[str, str]:
    settings = {
        "RICOCHET_ARTIFACTS": str(state),
        "PREFECT_HOME": str(state / "prefect"),
        "PREFECT_API_URL": f"{prefect}/api",
        "MLFLOW_TRACKING_URI": f"sqlite:///{output_folder(state / 'mlflow') / 'mlflow.db'}",
        # It only keeps MLflow from warning; no one logs in on loopback.
        "MLFLOW_FLASK_SERVER_SECRET_KEY": secrets.token_hex(16),
        "OMP_NUM_THREADS": "1",  # as `tasks.console.threads` has it for a verb
        "PWD": str(workplace()),
    }
    return {**QUIET, **os.environ, **settings}


def _mlflow(host: str, port: int, state: Path) -> list[str]:
    found, store = defaults(), state / "mlflow"
    options = {
        "host": host,
        "port": str(port),
        "backend-store-uri": f"sqlite:///{store / 'mlflow.db'}",
        "artifacts-destination": (store / "artifacts").as_uri(),
        "workers": str(found["workers"]),
        "allowed-hosts": ",".join(found["allowed_hosts"]),
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return [sys.executable, "-m", "mlflow", "server", *words]


def _prefect(*words: str) -> list[str]:
    return [sys.executable, "-m", "prefect", *words]


def _deployment(file: Path) -> dict[str, list[str]]:
    pools = [sys.executable, "-m", work_pools.__name__]
    deploy = ("--no-prompt", "deploy", "--all", "--prefect-file", str(file))
    return {"pools": pools, "deploy": _prefect(*deploy)}


def _await_answer(address: str, processes: list[Process], logs: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and all(process.poll() is None for process in processes):
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=2.0) as answer:
            if answer.status == 200:
                return
        time.sleep(0.2)
    raise RuntimeError(f"no answer from {address}; see the logs in {logs}")


def _port(host: str, port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            found = (error.strerror or str(error)).lower()
            raise BadInput(f"{host}:{port}", found, "a free port, or another by option") from error
        return int(probe.getsockname()[1])


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
