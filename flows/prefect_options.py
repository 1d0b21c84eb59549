"""How flows and tasks run under Prefect, which caches no result: the project's own keys decide.

Only what records, publishes or fetches is tried again, unless it took all its time; what moves
hardware or computes is not.

Whoever imports these has the engine refuse false answers of a server: a worker's process comes to
nothing else of ours before it asks one.
"""

from typing import Any

from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State

from ricochet.flows import prefect_answers
from ricochet.flows.prefect_runs import note_process
from ricochet.tasks.recordings.dvc_commands import LateError


def ended_in_time(_: Any, __: Any, state: State[Any]) -> bool:
    """Tell whether a task that failed may do better: not where a remote had it wait for hours."""
    return not isinstance(state.data, LateError)


FLOW: Any = {
    "retries": 0,
    "persist_result": False,
    "result_serializer": "json",
    "on_running": [note_process],
}
"""Of every flow."""
ONCE: Any = {"cache_policy": NO_CACHE, "retries": 0}
RETRIED: Any = {
    "cache_policy": NO_CACHE,
    "retries": 2,
    "retry_delay_seconds": 5,
    "retry_condition_fn": ended_in_time,
}
"""Of tasks."""

prefect_answers.refuse_false()
