"""How flows and tasks run under Prefect, which caches no result: the project's own keys decide.

Only what records, publishes or fetches is tried again; what moves hardware or computes is not.

Prefect's server may answer that a run is complete, and where its result lies and how it is to be
read, which may be as code. No result of this project is stored, so none is ever read.
"""

from typing import Any, NoReturn

from prefect._internal.result_records import ResultRecord
from prefect.cache_policies import NO_CACHE

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


def _refuse_stored_results() -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("Prefect's server named a stored result: none of this project is stored")

    for reader in ("deserialize", "deserialize_from_result_and_metadata"):
        setattr(ResultRecord, reader, refuse)


_refuse_stored_results()
