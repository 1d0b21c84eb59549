"""Runs of MLflow that a process left open when it was killed, closed."""

from collections.abc import Iterator
from functools import partial
from itertools import islice

from mlflow import MlflowClient
from mlflow.entities import LifecycleStage, Run
from mlflow.exceptions import MlflowException

from ricochet.tasks.registry import pages
from ricochet.tasks.registry.runs import AUTHOR, PAGE, PROCESS, Tracker, authors
from ricochet.tasks.storage import process_ids

RUNNING = "attributes.status = 'RUNNING'"
SLICE = 500
"""Experiments that are searched at once."""
MOST_OPEN = 1000
"""Runs of an experiment that are looked at, where very many are open."""


def close(tracker: Tracker) -> list[str]:
    """Close runs left RUNNING by a process of this machine that is gone; return their ids.

    They are the administrator's, or those of the account that asks: others may leave very many
    open, each as large as may be, and close their own.
    """
    gone = [
        run.info.run_id
        for author in authors()
        for run in _open_runs(tracker.client, f"{RUNNING} and tags.`{AUTHOR}` {author}")
        if process_ids.is_gone(run.data.tags.get(PROCESS, ""))
    ]
    return [run for run in gone if _closed(tracker.client, run)]


def _closed(client: MlflowClient, run_id: str) -> bool:
    """Close a run, where whoever asks may: an account not the administrator's.

    It is looked at again, as it may have ended between its listing and its process's end.
    """
    try:
        found = client.get_run(run_id).info
        if (found.status, found.lifecycle_stage) != ("RUNNING", LifecycleStage.ACTIVE):
            return False
        client.set_terminated(run_id, status="KILLED")
    except MlflowException as error:
        if error.error_code != "PERMISSION_DENIED":
            raise
        return False
    return True


def _open_runs(client: MlflowClient, condition: str) -> Iterator[Run]:
    """Yield runs that fit a condition, of an experiment that has very many the latest."""
    places = [found.experiment_id for found in pages.every(client.search_experiments)]
    search = partial(client.search_runs, filter_string=condition, max_results=PAGE)
    for first in range(0, len(places), SLICE):
        page = search(some := places[first : first + SLICE])
        if not page.token:
            yield from page
            continue
        for place in some:
            yield from islice(pages.every(partial(search, [place])), MOST_OPEN)
