"""How flows and tasks run under Prefect, which caches no result: the project's own keys decide.

Only what records, publishes or fetches is tried again; what moves hardware or computes is not.

Prefect's server may answer that a run is complete, where its result lies and how it is to be read:
as code, or by a block that writes files where it likes. No result of this project is stored, so
none is ever read, and no place for one is asked for or opened.
"""

from typing import Any, NoReturn

from prefect import results
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

    async def refuse_soon(*_: object, **__: object) -> NoReturn:
        refuse()

    async def none_soon() -> None:
        return None

    for owner, name, instead in (
        (results, "resolve_result_storage", refuse),
        (results, "aresolve_result_storage", refuse_soon),
        (results, "_read_server_default_result_storage_block_id", lambda: None),
        (results, "_aread_server_default_result_storage_block_id", none_soon),
        (results.ResultStore, "_from_metadata", refuse_soon),
        (results.ResultStore, "read", refuse),
        (results.ResultStore, "aread", refuse_soon),
    ):
        getattr(owner, name)  # an error where this version of Prefect has another
        setattr(owner, name, instead)


_refuse_stored_results()
