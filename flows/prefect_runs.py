"""Prefect's flow runs: what each is called, by which process, and the end of those whose died.

A process that is killed cannot say so: its flow run stays RUNNING. So each run notes its process,
as `tasks.storage.process_ids` names one, in a label; a run whose process is known to be gone has
crashed. Runs of other machines are theirs to settle.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    FlowRunFilterState,
    FlowRunFilterStateType,
    TaskRunFilter,
    TaskRunFilterState,
    TaskRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.runtime import flow_run
from prefect.states import Crashed

from ricochet.tasks.doctor import Finding
from ricochet.tasks.storage import process_ids
from ricochet.tasks.storage.provenance import artifacts

LABEL = "ricochet.process"
OPEN = [StateType.RUNNING, StateType.CANCELLING]
PAGE = 100
NAMED = 3
"""Sessions that a run's name lists; the rest is counted."""


def note_process(_flow: Any, run: FlowRun, _state: Any) -> None:
    """Note this process in the labels of a run that begins."""
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
    """End the runs whose process is gone as crashed; what nobody can know is said and left."""
    if not _is_any():
        return []
    with get_client(sync_client=True) as client:
        return [finding for run in list(_open(client)) for finding in _settled(client, run)]


def _is_any() -> bool:
    """Return whether there is a server, or the database of one."""
    home = Path(os.environ.get("PREFECT_HOME", artifacts() / "prefect"))
    return "PREFECT_API_URL" in os.environ or (home / "prefect.db").is_file()


def _open(client: SyncPrefectClient) -> Iterator[FlowRun]:
    wanted = FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=OPEN)))
    for offset in range(0, 100 * PAGE, PAGE):
        found = client.read_flow_runs(flow_run_filter=wanted, limit=PAGE, offset=offset)
        yield from found
        if len(found) < PAGE:
            return


def _settled(client: SyncPrefectClient, run: FlowRun) -> list[Finding]:
    process = run.labels.get(LABEL)
    if process is None:
        unknown = "RUNNING, and by which process is not noted; Prefect's page can cancel it"
        return [Finding(f"flow run {run.name}: {unknown}", False)]
    if not process_ids.is_gone(str(process)):
        return []
    state: State[Any] = Crashed(message=f"its process is gone: {process}")
    within = TaskRunFilter(state=TaskRunFilterState(type=TaskRunFilterStateType(any_=OPEN)))
    of_run = FlowRunFilter(id=FlowRunFilterId(any_=[run.id]))
    for task in client.read_task_runs(flow_run_filter=of_run, task_run_filter=within):
        client.set_task_run_state(task.id, state, force=True)
    client.set_flow_run_state(run.id, state, force=True)
    return [Finding(f"flow run {run.name}: left RUNNING by a process that is gone, closed", True)]
