"""Slots of deployments that no run holds: taken ones are freed, lost ones are taken again.

A deployment's limit counts the runs that are PENDING, RUNNING or CANCELLING. A server that was
killed, or a run that was deleted, leaves a slot taken by nobody, and then every new run is
cancelled or waits for ever; a slot freed twice lets two runs begin at once.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import GlobalConcurrencyLimitUpdate
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.responses import DeploymentResponse

PAGE = 100
PAUSE = 3.0
"""Time after which a difference must still be there, s: a run that begins or ends makes one too."""


@dataclass(frozen=True)
class Difference:
    """A deployment's limit, the slots that are taken of it, and the runs that hold one."""

    deployment: str
    limit: str
    taken: int
    held: int


def settle(client: SyncPrefectClient, open_runs: Callable[[], Iterable[FlowRun]]) -> list[str]:
    """Make the slots taken those of the runs that hold one; return a line for each change.

    Args:
        open_runs: Reads all runs that are PENDING, RUNNING or CANCELLING.
    """
    suspect = _differences(client, open_runs)
    if not suspect:
        return []
    time.sleep(PAUSE)
    lasting = suspect & _differences(client, open_runs)
    for each in lasting:
        right = GlobalConcurrencyLimitUpdate(active_slots=each.held)
        client.update_global_concurrency_limit(each.limit, right)
    return [
        f"deployment {each.deployment}: {each.taken} slots taken by {each.held} runs, set right"
        for each in sorted(lasting, key=lambda each: each.deployment)
    ]


def _differences(
    client: SyncPrefectClient, open_runs: Callable[[], Iterable[FlowRun]]
) -> set[Difference]:
    limited = list(_limited(client))
    held = Counter(run.deployment_id for run in open_runs())
    return {
        Difference(each.name, limit.name, limit.active_slots, held[each.id])
        for each in limited
        if (limit := each.global_concurrency_limit) is not None
        and limit.active_slots != held[each.id]
    }


def _limited(client: SyncPrefectClient) -> Iterator[DeploymentResponse]:
    """Read the deployments that have a limit."""
    for offset in range(0, 100 * PAGE, PAGE):
        found = client.read_deployments(limit=PAGE, offset=offset)
        yield from (each for each in found if each.global_concurrency_limit is not None)
        if len(found) < PAGE:
            return
