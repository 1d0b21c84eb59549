"""The MLflow server, the Prefect server and workers, started, announced and ended together.

State lies under `artifacts/`: `mlflow/` and `prefect/` keep the databases, which runs without
servers write too, so that everything done before is there to look at; `secrets/` keeps passwords,
`servers/` the logs, and `servers.json` is how later commands find running servers, and the next
`up` what a killed one left behind. All of it is for the user alone who runs `up`: others go through
the servers.
"""

import contextlib
import functools
import itertools
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ricochet.flows import prefect_settings
from ricochet.flows.servers import (
    children,
    deployments,
    environments,
    held_ports,
    kill_guard,
    known_servers,
    listening,
    pool_worker,
    serving,
    temporary_server,
    upkeep,
    work_pools,
)
from ricochet.flows.servers.environments import QUIET
from ricochet.flows.servers.lab import Lab
from ricochet.flows.servers.stopping import stoppable
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.figures import matplotlib_settings
from ricochet.tasks.registry import lab_places, lab_state
from ricochet.tasks.storage import exchange, login_transport, process_ids, secret_files
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.storage.provenance import ROOT, artifacts, workplace
from ricochet.tasks.upkeep_settings import Keep

Process = subprocess.Popen[bytes]

LOGS = "servers"
EMBEDDED = {"PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL"}
"""For a verb that runs a flow itself."""
PATIENCE = 300.0
"""Longest wait for a server to answer, s."""
STARTING = 60.0
"""Longest wait for PostgreSQL, which may be starting too, s."""


@dataclass(frozen=True)
class Request:
    """What to start.

    Attributes:
        deployments: The file that says which flows run when.
        out: Where `result.json` says the addresses once the servers answer; None is nowhere.
        shared: Whether the lab's file was given: verbs and workers go through MLflow's server.
        keep: For how long what they write is kept.
    """

    lab: Lab
    deployments: Path = ROOT / "prefect.yaml"
    out: Path | None = None
    shared: bool = False
    keep: Keep = field(default_factory=lambda: _kept())


def prepare_environment() -> None:
    """Set what Prefect and MLflow read when they are imported, where it is not set.

    Runs are kept under `artifacts/`, nothing phones home, and servers started by `ricochet up` are
    used where they are alive; a temporary one does not outlive a verb that is killed, and answers
    that verb alone.

    Raises:
        BadInput: A login would be sent to Prefect over plain http to another machine, or to servers
            that are ending or have ended since; servers are being started; or another user may
            write where outputs lie.
    """
    refuse_foreign_places()
    kill_guard.guard_children()
    home = str(artifacts() / "prefect")
    for name, value in {**QUIET, **EMBEDDED, "PREFECT_HOME": home}.items():
        os.environ.setdefault(name, value)
    output_folder(Path(os.environ["PREFECT_HOME"]))  # Prefect makes no parents, and waits in vain
    login_transport.check_variable("PREFECT_API_URL", login_transport.ORCHESTRATION, os.environ)
    _find_prefect()
    known_servers.hold_ports(*(os.environ.get(name, "") for name in environments.ADDRESSES))
    prefect_settings.of_the_environment()
    matplotlib_settings.use_defaults()


def refuse_foreign_places() -> None:
    """Refuse outputs, and a current folder in place of a checkout, that others may write.

    Settings, programs and deployments lie there, which are run; so does the code in a checkout.
    """
    places = [artifacts()] * (not artifacts().is_relative_to(ROOT))
    places += [workplace().resolve()] * (workplace() != ROOT)
    for each in places:
        secret_files.refuse_foreign(each)


def _find_prefect() -> None:
    """Name Prefect's server in the environment: the one that is named, that of `up`, or its own."""
    if os.environ.get("PREFECT_API_URL"):
        return
    os.environ.pop("PREFECT_API_URL", None)  # to Prefect an empty one is none
    known_servers.refuse_starting(artifacts())
    alive = known_servers.find_running(artifacts())
    if alive is None:
        os.environ |= temporary_server.offer()
    else:
        known_servers.hold_all_of(artifacts(), alive)  # it may have died since
        for name, value in environments.of_clients(alive).items():
            os.environ[name] = os.environ.get(name) or value  # an empty one is none


def up(request: Request, *, report_line: Callable[[str], None]) -> None:
    """Start everything, announce it, and wait for a signal to stop.

    Raises:
        BadInput: If a port is taken or servers are up already.
        RuntimeError: If a child ends by itself or does not answer.
    """
    from ricochet.flows.servers.addresses import logins, pages

    state = request.lab.state
    if request.shared:
        lab_state.refuse_elsewhere(state)
    _refuse_a_second(state)
    if left := children.end_orphans(state):
        report_line(f"ended {left} processes that an `up` which was killed had left running")
    with stoppable(), secret_files.private(), servers(request) as (addresses, processes, beside):
        if request.out is not None:
            write_json(request.out / "result.json", {"schema": "ricochet.up/1", **addresses})
        report_line(f"MLflow   {addresses['mlflow']}")
        report_line(f"Prefect  {addresses['prefect']}")
        for line in pages(addresses):
            report_line(line)
        for line in logins(request.lab):
            report_line(line)
        report_line("The workers wait for scheduled runs; Ctrl-C ends all.")
        while all(process.poll() is None for process in processes):
            time.sleep(0.5)
            kill_guard.guard_children()
            beside.tick()
        raise RuntimeError(f"a server ended by itself; its log is in {state / LOGS}")


@contextlib.contextmanager
def servers(
    request: Request,
) -> Iterator[tuple[dict[str, str], list[Process], upkeep.Upkeep]]:
    """Run both servers and the workers while the block lasts.

    The block is given the addresses `mlflow` and `prefect`, once they answer, the processes, and
    what is to be done beside them. Before anything is deployed, dead runs have given up its slots,
    or half a minute has passed.
    """
    exchange.refuse_unfinished(request.lab.state)  # before a folder is made in its place
    ports = (request.lab.mlflow_port, request.lab.prefect_port)
    with contextlib.ExitStack() as notes:
        sockets = notes.enter_context(listening.held(request.lab.host, ports))
        found = [one[0].getsockname()[1] for one in sockets]
        notes.enter_context(known_servers.noted(request.lab.state, found))
        _take_folders(request.lab)
        children.write_ledger(request.lab.state)
        _refuse_a_restore(request.lab.state)
        _say_where_the_registry_is(request)
        every = tuple(itertools.chain(*sockets))
        with held_ports.offered(request.lab.state, every), contextlib.ExitStack() as started:
            yield _started(request, sockets, started)


def _say_where_the_registry_is(request: Request) -> None:
    """Refuse a state whose registry others give, and say in it whose the registry is."""
    state = request.lab.state
    if not request.shared:
        lab_state.refuse_marked(state)
    else:
        database = bool(request.lab.mlflow_database)
        lab_state.refuse_another_registry(state, database=database)
        lab_places.take(state, request.lab.places(patience=STARTING), database=database)


def _take_folders(lab: Lab) -> None:
    """Have what decides whom a lab obeys lie where this user alone can write and rename.

    Raises:
        BadInput: A folder is another user's, or another user could move it away.
    """
    refuse_foreign_places()
    store = lab.artifact_store
    packages = [Path(store)] if store and "://" not in store else []
    for each in (lab.state, lab.secrets_folder, *packages):
        secret_files.taken_folder(each)


def _started(
    request: Request, sockets: Sequence[list[socket.socket]], started: contextlib.ExitStack
) -> tuple[dict[str, str], list[Process], upkeep.Upkeep]:
    """Start everything in a stack, which ends it, on sockets that listen already."""
    lab, ledger = request.lab, request.lab.state / children.LEDGER
    started.callback(ledger.unlink, missing_ok=True)
    addresses = dict(zip(("mlflow", "prefect"), map(listening.address, sockets), strict=True))
    given = environments.prepare(lab, **addresses, shared=request.shared, keep=request.keep)
    logs = output_folder(lab.state / LOGS)

    def run(
        name: str | None,
        command: list[str],
        environment: Mapping[str, str],
        listeners: Sequence[socket.socket] = tuple(itertools.chain(*sockets)),  # ports stay taken
    ) -> contextlib.AbstractContextManager[Process]:
        log = None if name is None else logs / f"{name}.log"
        return children.running(command, log=log, environment=environment, listeners=listeners)

    def serve(name: str, listeners: list[socket.socket], environment: Mapping[str, str]) -> Process:
        command = serving.command(name, listeners)
        return started.enter_context(run(name, command, environment, listeners))

    processes = [
        serve(serving.MLFLOW, sockets[0], given.mlflow),
        serve(serving.PREFECT, sockets[1], given.prefect),
    ]
    for address in (f"{addresses['mlflow']}/health", f"{addresses['prefect']}/api/health"):
        _await_answer(address, processes, logs)
    search = functools.partial(run, None, environment=given.worker)
    care = started.enter_context(upkeep.Upkeep(logs, search, request.keep))
    care.search_first(lambda: all(process.poll() is None for process in processes))
    for name, command in deployments.commands(request.deployments).items():
        with run(name, command, given.worker) as process:
            deployments.await_end(process, processes, logs / f"{name}.log", PATIENCE)
    name = process_ids.name_of(os.getpid())  # by which its runs are known to be dead with it
    for pool in work_pools.POOLS:
        command = pool_worker.command(pool, name)
        processes.append(started.enter_context(run(f"worker-{pool}", command, given.worker)))
    children.write_ledger(lab.state, **_facts(request, **addresses))
    started.callback(ledger.unlink, missing_ok=True)  # before all else ends
    return addresses, processes, care


def _facts(request: Request, mlflow: str, prefect: str) -> dict[str, str]:
    """Return what others must know to use the servers; where passwords lie, not what they are."""
    facts = {"mlflow": mlflow, "prefect": prefect, "secrets": str(request.lab.secrets_folder)}
    if request.shared:
        facts |= {"tracking": mlflow, "login": "yes" if request.lab.login else ""}
    return facts


def _refuse_a_second(state: Path) -> None:
    running = children.ledger(state)
    if running is None:
        return
    places = [running[name] for name in ("mlflow", "prefect") if name in running]
    where = f"up already at {' and '.join(places)}" if places else "being started already"
    raise BadInput(str(state), f"servers {where}", "none")


def _refuse_a_restore(state: Path) -> None:
    """Refuse to start while a backup is put back, which looks at the ledger with this lock.

    So is what one left that was killed.
    """
    from ricochet.tasks.backups import contents

    contents.refuse_unfinished(state)
    exchange.refuse_busy(state)


def _kept() -> Keep:
    from ricochet.tasks.systems import catalogue

    return catalogue.load_settings(None, [])[Keep]


def _await_answer(address: str, processes: list[Process], logs: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and all(process.poll() is None for process in processes):
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=2.0) as answer:
            if answer.status == 200:
                return
        time.sleep(0.2)
    raise RuntimeError(f"no answer from {address}; see the logs in {logs}")
