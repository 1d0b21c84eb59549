"""Whose a run of MLflow's server is: an account changes the runs that it made, and no others.

Verbs find their runs again by what stands in them, and MLflow lets whoever may write to an
experiment change every run of it: what a validation found, which recordings a result is of, the
files of a champion. Here a run that another account than the administrator made says so in a tag,
which the server alone writes, and verbs look for the others (`runs.find_run`). What runs share is
not an account's either: the tags of their experiment are the administrator's, and an account's data
sets carry its name, since MLflow keeps of one name and digest what was said first.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from ricochet.tasks.registry import server_logins
from ricochet.tasks.registry.runs import AUTHOR
from ricochet.tasks.registry.server_methods import checked, denial, refusal

WRITES = (
    "log_batch",
    "log_inputs",
    "log_outputs",
    "log_param",
    "log_metric",
    "set_tag",
    "delete_tag",
    "update_run_info",
    "delete_run",
    "restore_run",
    "record_logged_model",
)
"""Methods of a store that change a run."""

SHARED = ("set_experiment_tag", "delete_experiment_tag")
"""Methods of a store that change what all runs of an experiment are shown with."""
LONGEST_DATASET = 500
"""Characters of a data set's name that MLflow keeps."""

FILES = ("log_artifact", "log_artifacts", "log_artifact_from_stream", "delete_artifacts")
"""Methods of a store of files that change some."""

Author = Callable[[str], str | None]
"""Returns the account that made a run; None for the administrator, or where there is no run."""


def bound(store: Any, files: Any) -> None:
    """Have stores of MLflow's sign the runs of accounts, and let each change its own alone.

    Args:
        store: Of runs, in a database.
        files: Of what runs hold, `EXPERIMENT/RUN/..`.
    """
    author = partial(_author, store)
    checked(store, "create_run", _sign)
    for name in WRITES:
        checked(store, name, partial(_refuse_others, author))
    checked(store, "log_inputs", _sign_datasets)
    for name in SHARED:
        checked(store, name, _refuse_accounts)
    refuse = partial(_refuse_files, author)
    for name in FILES:
        if hasattr(files, name):
            checked(files, name, refuse)
    if hasattr(files, "log_artifact_from_async_stream"):
        files.log_artifact_from_async_stream = _written(files, refuse)


def _author(store: Any, run: str) -> str | None:
    from mlflow.store.tracking.dbmodels.models import SqlTag

    with store.ManagedSessionMaker() as session:
        found = session.query(SqlTag.value).filter_by(run_uuid=run, key=AUTHOR).first()
        return None if found is None else str(found[0])


def _sign(given: dict[str, Any]) -> None:
    from mlflow.entities import RunTag

    if (name := server_logins.account()) is not None:
        kept = [tag for tag in given.get("tags") or () if tag.key != AUTHOR]
        given["tags"] = [*kept, RunTag(AUTHOR, name)]


def _sign_datasets(given: dict[str, Any]) -> None:
    """Have an account's data sets be named after it, and be nobody else's."""
    from mlflow.entities import DatasetInput

    if (account := server_logins.account()) is None:
        return
    signed = []
    for each in given.get("datasets") or ():
        facts = dict(each.dataset) | {"name": f"{each.dataset.name} ({account})"}
        if len(facts["name"]) > LONGEST_DATASET:
            raise refusal("a longer name of a data set", f"{LONGEST_DATASET} characters")
        signed.append(DatasetInput(type(each.dataset)(**facts), each.tags))
    given["datasets"] = signed


def _refuse_accounts(_given: dict[str, Any]) -> None:
    if server_logins.account() is not None:
        raise denial("changing tags of an experiment")


def _refuse_others(author: Author, given: dict[str, Any]) -> None:
    """Refuse a change of another's run, or of who made it."""
    if (name := server_logins.account()) is None:
        return
    tags = [given.get("tag"), *(given.get("tags") or ())]
    if AUTHOR in (given.get("key"), *(getattr(tag, "key", None) for tag in tags)):
        raise denial("changing who made a run")
    if author(given["run_id"]) != name:
        raise denial("changing a run that another account made")


def _refuse_files(author: Author, given: dict[str, Any]) -> None:
    """Refuse a change of files of another's run, or of none."""
    if (name := server_logins.account()) is None:
        return
    run = (given.get("artifact_path") or "").strip("/").partition("/")[2].partition("/")[0]
    if author(run) != name:
        raise denial("changing files of a run that another account made")


def _written(files: Any, refuse: Callable[[dict[str, Any]], None]) -> Callable[..., Any]:
    """Return what writes a file as it comes, once its run is known to be its sender's."""
    write = files.log_artifact_from_async_stream

    async def written(stream: Any, filename: str, artifact_path: str | None = None) -> None:
        await asyncio.to_thread(refuse, {"artifact_path": artifact_path})
        await write(stream, filename, artifact_path=artifact_path)

    return written
