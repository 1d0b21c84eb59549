"""Prefect's flow runs that have not ended, and what decides about each.

Of a run's megabytes its id, name, state and labels are kept. A run that is PENDING without a
deployment holds no slot, and may begin on any machine: it is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType

from ricochet.flows import prefect_pages
from ricochet.flows.prefect_pages import Gaps

LABEL = "ricochet.process"
"""Label in which a run notes its process."""
WORKER = "prefect.worker.name"
"""Label by which Prefect names the worker that took a run; `up` gives it its own process's name."""
OPEN = [StateType.RUNNING, StateType.CANCELLING]
HOLDING = [*OPEN, StateType.PENDING]
"""States in which a run holds a slot of its deployment."""
LONGEST = 1000
"""Letters that are kept of a text."""


@dataclass(frozen=True)
class OpenRun:
    """A flow run that had not ended when it was listed.

    Attributes:
        state: What it is in, as Prefect writes it.
        since: From when on.
        deployed: Whether it is one of a deployment.
        pool: Where workers find it.
        process: What it noted as its process; None where it did not come to that.
        worker: The worker that took it, empty where nobody said so.
    """

    id: UUID
    name: str
    state: str
    since: datetime | None
    deployed: bool
    pool: str | None
    process: str | None
    worker: str

    @property
    def is_open(self) -> bool:
        """Whether it still has not ended."""
        return self.state in {state.value for state in HOLDING}


def read(client: SyncPrefectClient) -> tuple[list[OpenRun], Gaps]:
    """Return the runs that have not ended, those that began first, and what was not read."""
    gaps, found = Gaps(), list[OpenRun]()
    for wanted in (filter_of(OPEN), filter_of([StateType.PENDING], deployed=True)):
        runs = prefect_pages.read(
            lambda count, offset, wanted=wanted: client.read_flow_runs(  # type: ignore[misc]
                flow_run_filter=wanted, limit=count, offset=offset
            ),
            gaps,
        )
        found += map(_facts, runs)
    return found, gaps


def read_one(client: SyncPrefectClient, run: UUID) -> OpenRun:
    """Return what a run is now; it may have ended."""
    return _facts(client.read_flow_run(run))


def filter_of(states: Sequence[StateType], *, deployed: bool = False) -> FlowRunFilter:
    """Return a filter of flow runs in some states, of deployments alone if that is asked."""
    state = FlowRunFilterState(type=FlowRunFilterStateType(any_=[*states]))
    if not deployed:
        return FlowRunFilter(state=state)
    return FlowRunFilter(state=state, deployment_id=FlowRunFilterDeploymentId(is_null_=False))


def _facts(run: FlowRun) -> OpenRun:
    noted = run.labels.get(LABEL)
    return OpenRun(
        id=run.id,
        name=run.name[:LONGEST],
        state=run.state_type.value if run.state_type else "open",
        since=run.state.timestamp if run.state else None,
        deployed=run.deployment_id is not None,
        pool=run.work_pool_name,
        process=None if noted is None else str(noted)[:LONGEST],
        worker=str(run.labels.get(WORKER, ""))[:LONGEST],
    )
