"""Slots of deployments that no run holds: taken ones are freed, lost ones are taken again.

A deployment's limit counts the runs that are PENDING, RUNNING or CANCELLING. A server that was
killed, or a run that was deleted, leaves a slot taken by nobody, and then every new run is
cancelled or waits for ever; a slot freed twice lets two runs begin at once. The server counts the
runs, and a limit is set by its id: whoever starts flows names limits as they like.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import GlobalConcurrencyLimitUpdate
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterId
from prefect.exceptions import ObjectNotFound

from ricochet.flows import open_runs, prefect_pages

PAUSE = 3.0
"""Time after which a difference must still be there, s: a run that begins or ends makes one too."""


@dataclass(frozen=True)
class Difference:
    """A deployment's limit, the slots that are taken of it, and the runs that hold one."""

    deployment: str
    limit: UUID
    taken: int
    held: int


def settle(client: SyncPrefectClient) -> list[str]:
    """Make the slots taken those of the runs that hold one; return a line for each change."""
    suspect = set(_differences(client))
    if not suspect:
        return []
    time.sleep(PAUSE)
    lasting = suspect & set(_differences(client))
    for each in lasting:
        right = GlobalConcurrencyLimitUpdate(active_slots=each.held)
        with contextlib.suppress(ObjectNotFound):  # deleted meanwhile
            client.update_global_concurrency_limit(str(each.limit), right)
    return [
        f"deployment {each.deployment}: {each.taken} slots taken by {each.held} runs, set right"
        for each in sorted(lasting, key=lambda each: each.deployment)
    ]


def _differences(client: SyncPrefectClient) -> Iterator[Difference]:
    """Yield those of all deployments; one that the server cannot show is passed over."""
    deployments = prefect_pages.read(
        lambda count, offset: client.read_deployments(limit=count, offset=offset),
        prefect_pages.Gaps(),
    )
    for each in deployments:
        limit = each.global_concurrency_limit
        if limit is not None and (held := _held(client, each.id)) != limit.active_slots:
            yield Difference(each.name, limit.id, limit.active_slots, held)


def _held(client: SyncPrefectClient, deployment: UUID) -> int:
    """Return how many runs hold a slot of a deployment."""
    of_it = DeploymentFilter(id=DeploymentFilterId(any_=[deployment]))
    filters = {
        "deployments": of_it.model_dump(mode="json", exclude_unset=True),
        "flow_runs": open_runs.filter_of(open_runs.HOLDING).model_dump(
            mode="json", exclude_unset=True
        ),
    }
    return int(client.request("POST", "/flow_runs/count", json=filters).json())
