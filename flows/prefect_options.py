"""How flows and tasks run under Prefect, which caches no result: the project's own keys decide.

Only what records, publishes or fetches is tried again; what moves hardware or computes is not.

Whoever imports these has the engine refuse false answers of a server: a worker's process comes to
nothing else of ours before it asks one.
"""

from typing import Any

from prefect.cache_policies import NO_CACHE

from ricochet.flows import prefect_answers
from ricochet.flows.prefect_runs import note_process

FLOW: Any = {
    "retries": 0,
    "persist_result": False,
    "result_serializer": "json",
    "on_running": [note_process],
}
"""Of every flow."""
ONCE: Any = {"cache_policy": NO_CACHE, "retries": 0}
RETRIED: Any = {"cache_policy": NO_CACHE, "retries": 2, "retry_delay_seconds": 5}
"""Of tasks."""

prefect_answers.refuse_false()
