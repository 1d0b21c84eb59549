"""Prefect's flow runs: what each is called, by which process, and the end of those whose died.

A process that is killed cannot say so: its flow run stays RUNNING, and holds its deployment's slot,
so that the next ones are cancelled. So each run notes its process, as `tasks.storage.process_ids`
names one, in a label; a run whose process is known to be gone has crashed. A run that did not come
to note one was taken by a worker, which is named by the process that started it, and its own would
carry the run's id in its environment. Runs of other machines are theirs to settle.
"""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psutil
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    TaskRunFilter,
    TaskRunFilterState,
    TaskRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, State, WorkerStatus
from prefect.exceptions import ObjectNotFound, PrefectHTTPStatusError
from prefect.runtime import flow_run
from prefect.states import Crashed

from ricochet.flows import concurrency_slots, open_runs
from ricochet.flows.open_runs import LABEL, OPEN, OpenRun
from ricochet.flows.servers import environments, known_servers, temporary_server
from ricochet.tasks.doctor import Finding
from ricochet.tasks.storage import process_ids
from ricochet.tasks.storage.provenance import artifacts

CARRIED = "PREFECT__FLOW_RUN_ID"
"""Variable in the environment of the process that a worker starts for a run."""
PATIENCE = 900.0
"""Longest time from a worker's taking a run to its process's note, s."""
NAMED = 3
"""Sessions that a run's name lists; the rest is counted."""


def note_process(_flow: Any, run: FlowRun, _state: Any) -> None:
    """Note this process in the labels of a run that begins, and hold its server's port.

    It is noted where its port is not handed over, too: `up` may be slow, and the run goes on.
    """
    try:
        addresses = (os.environ.get(name, "") for name in environments.ADDRESSES)
        known_servers.hold_ports(*addresses)  # a worker's run may outlive `up`
    finally:
        with get_client(sync_client=True) as client:
            client.update_flow_run_labels(run.id, {LABEL: process_ids.name_of(os.getpid())})


def name_by_sessions() -> str:
    """Name the run that begins by its flow and the sessions that it takes."""
    found: Sequence[str] = flow_run.parameters.get("sessions") or ()
    names = [Path(session).name for session in found]
    listed = ", ".join(names[:NAMED]) or "all sessions"
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{flow_run.flow_name} {listed}{more}"


def settle() -> list[Finding]:
    """End the runs whose process is gone as crashed; what nobody can know is said and left.

    The slots of deployments are then those of the runs that are left.
    """
    if not _is_any():
        return []
    with get_client(sync_client=True) as client:
        runs, gaps = open_runs.read(client)
        found = [finding for run in runs for finding in _settled_or_said(client, run)]
        found += [Finding(f"open flow runs: {gaps}", False)] if str(gaps) else []
        return found + [Finding(line, True) for line in concurrency_slots.settle(client)]


def _is_any() -> bool:
    """Return whether there is a server, or the database of one that would be started for this."""
    home, address = artifacts() / "prefect", os.environ.get("PREFECT_API_URL", "")
    elsewhere = bool(address) and not temporary_server.is_offered(address)
    return elsewhere or (Path(os.environ.get("PREFECT_HOME", home)) / "prefect.db").is_file()


def _settled_or_said(client: SyncPrefectClient, run: OpenRun) -> list[Finding]:
    """Settle a run, or say that the server refuses; others are settled all the same."""
    try:
        return _settled(client, run)
    except ObjectNotFound:  # deleted meanwhile
        return []
    except PrefectHTTPStatusError as error:
        said = f"the server answers {error.response.status_code}"
    except (ValueError, RecursionError, httpx.InvalidURL):  # of the run, its tasks or its pool
        said = "the server's answer cannot be read"
    return [Finding(f"flow run {run.name}: cannot be closed, {said}", False)]


def _settled(client: SyncPrefectClient, run: OpenRun) -> list[Finding]:
    if run.process is None:
        return _without_note(client, run)
    if not process_ids.is_gone(run.process) or _has_moved_on(client, run):
        return []
    _end(client, run, f"its process is gone: {run.process}")
    return [Finding(f"flow run {run.name}: left RUNNING by a process that is gone, closed", True)]


def _without_note(client: SyncPrefectClient, run: OpenRun) -> list[Finding]:
    """Settle a run that noted no process: its worker, or the machine, died before it could."""
    if not run.deployed:
        unknown = f"{run.state}, and by which process is not noted; Prefect's page can cancel it"
        return [Finding(f"flow run {run.name}: {unknown}", False)]
    if not _never_began(client, run) or _has_moved_on(client, run):
        return []
    _end(client, run, "the process that should have run it is gone")
    return [Finding(f"flow run {run.name}: left {run.state} without a process, closed", True)]


def _has_moved_on(client: SyncPrefectClient, run: OpenRun) -> bool:
    """Tell whether a run has ended or begun since it was listed, now that its process is gone."""
    now = open_runs.read_one(client, run.id)
    return not now.is_open or now.process != run.process


def _never_began(client: SyncPrefectClient, run: OpenRun) -> bool:
    """Tell whether no process can run it: nobody else can have it, and none here carries it."""
    return _has_no_taker(client, run) and not _is_carried(run.id)


def _has_no_taker(client: SyncPrefectClient, run: OpenRun) -> bool:
    """Tell whether no worker will start a process for it any more."""
    if process_ids.is_gone(run.worker):
        return True
    if run.since is None or (datetime.now(UTC) - run.since).total_seconds() < PATIENCE:
        return False
    return process_ids.is_alive(run.worker) or not (run.worker or _workers_elsewhere(client, run))


def _is_carried(run: UUID) -> bool:
    """Tell whether a process of this machine was started for a run."""
    return any(
        (process.info["environ"] or {}).get(CARRIED) == str(run)
        for process in psutil.process_iter(["environ"])
    )


def _workers_elsewhere(client: SyncPrefectClient, run: OpenRun) -> bool:
    """Tell whether a worker of another machine, or of nobody knows which, may have taken a run."""
    if run.pool is None:
        return False
    return any(
        worker.status == WorkerStatus.ONLINE and not process_ids.is_known(worker.name)
        for worker in client.read_workers_for_work_pool(run.pool)
    )


def _end(client: SyncPrefectClient, run: OpenRun, message: str) -> None:
    """Set a run and its open tasks to CRASHED, which frees its deployment's slot."""
    state: State[Any] = Crashed(message=message)
    within = TaskRunFilter(state=TaskRunFilterState(type=TaskRunFilterStateType(any_=OPEN)))
    of_run = FlowRunFilter(id=FlowRunFilterId(any_=[run.id]))
    for task in client.read_task_runs(flow_run_filter=of_run, task_run_filter=within):
        client.set_task_run_state(task.id, state, force=True)
    client.set_flow_run_state(run.id, state, force=True)
