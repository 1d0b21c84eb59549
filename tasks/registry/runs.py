"""MLflow runs by explicit id, each found by its key before it is made: a retry adds nothing.

A key is a digest of everything that decides a result (recordings, settings, code). It is kept as a
tag. A finished run with the key is the result; an unfinished one, left by a crash, is taken up
again under the same id. The store is SQLite under `artifacts/mlflow`; it needs no server.
"""

import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import (
    Dataset,
    DatasetInput,
    InputTag,
    Metric,
    Param,
    Run,
    RunTag,
    ViewType,
)
from mlflow.exceptions import MlflowException
from mlflow.utils.credentials import read_mlflow_creds

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.console.progress import announce
from ricochet.tasks.registry import client_answers, client_confinement, lab_state, local_store
from ricochet.tasks.storage import exchange, login_transport, process_ids
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.storage.provenance import artifacts, git_commit

KEY, AUTHOR = "ricochet.key", "ricochet.author"
"""Tags: what makes a run the same, and the account that made it where it is not the
administrator's (`server_authors`)."""
PROCESS = "ricochet.process"
BY_SERVER = "mlflow-artifacts:"
"""Begins a place that only a server can find."""
PAGE = 100
"""Runs of a page, each with all that it says of itself."""
LARGEST_BATCH = 1000
"""Metrics that MLflow takes at once."""
DESCRIPTION = "mlflow.note.content"
"""Tag of a run or experiment: Markdown that MLflow shows at the top of its page."""


@dataclass(frozen=True)
class Tracker:
    """A store of runs.

    Attributes:
        client: Nothing uses the fluent interface, whose active run is thread-local.
        artifacts: Where a new experiment keeps its files; None leaves it to a server.
    """

    client: MlflowClient
    uri: str
    artifacts: str | None


@dataclass(frozen=True)
class OpenRun:
    """A run found or made.

    Attributes:
        finished: Whether an earlier process completed it, so that nothing is left to do.
    """

    run_id: str
    experiment_id: str
    finished: bool


def connect(uri: str | None = None, *, store: Path | None = None) -> Tracker:
    """Open the store of runs.

    Args:
        uri: Address of a tracking server or a database; by default `MLFLOW_TRACKING_URI` from the
            environment, else SQLite in `store`.
        store: Folder of the local store; by default `artifacts/mlflow`.

    Raises:
        BadInput: A login would be sent over plain http to another machine, or the local store would
            stand for a lab's registry (`lab_state`), or for one that was being put back.
    """
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("mlflow.exceptions").setLevel(logging.CRITICAL)  # it writes a server's words
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")  # a name of anybody's
    client_confinement.confine()
    client_answers.bound()
    uri = uri or os.environ.get("MLFLOW_TRACKING_URI")
    if not uri:
        if store is None:
            exchange.refuse_unfinished(artifacts())
            lab_state.refuse_without_servers(artifacts())
        place = output_folder(store or artifacts() / "mlflow")
        uri = f"sqlite:///{place / 'mlflow.db'}"
    sent = any(os.environ.get(name) for name in login_transport.TRACKING) or any(
        read_mlflow_creds()
    )
    login_transport.check("MLFLOW_TRACKING_URI", uri, sent=sent)
    login_transport.go_directly(os.environ)
    files = None
    if (database := local_store.file_of(uri)) is not None:
        files = (database.parent / "artifacts").as_uri()
        local_store.create(database)
    return Tracker(MlflowClient(tracking_uri=uri, registry_uri=uri), uri, files)


def find_run(tracker: Tracker, experiment: str, key: str) -> Run | None:
    """Return the finished run of a key, else an unfinished one, else None.

    It is the administrator's, or that of the account that asks; no other account's.
    """
    found = tracker.client.get_experiment_by_name(experiment)
    if found is None:
        return None
    for author in authors():
        answer = tracker.client.search_runs(
            [found.experiment_id],
            filter_string=f"tags.`{KEY}` = '{key}' and tags.`{AUTHOR}` {author}",
            run_view_type=ViewType.ACTIVE_ONLY,
            order_by=["attributes.start_time ASC"],
        )
        runs = [run for run in answer if run.data.tags.get(KEY) == key]
        done = [run for run in runs if run.info.status == "FINISHED"]
        if runs:
            return next(iter(done or runs))
    return None


def authors() -> Iterator[str]:
    """Yield what a search says of who made a run: the administrator, then whoever asks."""
    yield "IS NULL"
    name = read_mlflow_creds().username
    if name and "'" not in name and name.isprintable():
        yield f"= '{name}'"


def is_finished(tracker: Tracker, run_id: str) -> bool:
    """Tell whether a run is there, and finished."""
    try:
        return str(tracker.client.get_run(run_id).info.status) == "FINISHED"
    except MlflowException:
        return False


def open_run(
    tracker: Tracker, experiment: str, key: str, *, name: str, tags: Mapping[str, str]
) -> OpenRun:
    """Find the run of a key, or make it and its experiment; the commit and process are tags too.

    A run that is not finished is now RUNNING under this process.

    Raises:
        BadInput: Its experiment was made through a server, which alone knows where its files lie.
    """
    run = find_run(tracker, experiment, key)
    if run is not None and run.info.status == "FINISHED":
        return OpenRun(run.info.run_id, run.info.experiment_id, finished=True)
    tags = {**tags, "git.commit": git_commit(), KEY: key, PROCESS: process_ids.name_of(os.getpid())}
    if run is None:
        experiment_id = _experiment(tracker, experiment)
        run = tracker.client.create_run(experiment_id, tags=tags, run_name=name)
    else:
        tracker.client.update_run(run.info.run_id, status="RUNNING")
        tracker.client.log_batch(run.info.run_id, tags=[RunTag(*tag) for tag in tags.items()])
    return OpenRun(run.info.run_id, run.info.experiment_id, finished=False)


def log_numbers(
    tracker: Tracker,
    run_id: str,
    *,
    parameters: Mapping[str, object],
    metrics: Mapping[str, float],
    step: int = 0,
) -> None:
    """Record parameters and metrics.

    Args:
        metrics: Finite numbers by name; the same names in all runs of a kind, so that they compare.
    """
    now = int(time.time() * 1000)
    tracker.client.log_batch(
        run_id,
        metrics=[Metric(name, float(value), now, step) for name, value in metrics.items()],
        params=[Param(name, str(value)[:6000]) for name, value in parameters.items()],
    )


def log_curve(tracker: Tracker, run_id: str, name: str, values: Sequence[float]) -> None:
    """Record finite values of a metric at steps 0, 1, 2.."""
    now = int(time.time() * 1000)
    rows = [Metric(name, float(value), now, step) for step, value in enumerate(values)]
    for start in range(0, len(rows), LARGEST_BATCH):
        tracker.client.log_batch(run_id, metrics=rows[start : start + LARGEST_BATCH])


def log_recordings(tracker: Tracker, run_id: str, *, name: str, digest: str, source: str) -> None:
    """Record which recordings were used: a pointer, never the recordings.

    Args:
        digest: At most 36 characters (`32hex.dir` from DVC is exactly that).
    """
    data = Dataset(name=name, digest=digest[:36], source_type="dvc", source=source)
    context = [InputTag("mlflow.data.context", "calibration")]
    tracker.client.log_inputs(run_id, datasets=[DatasetInput(data, context)])


def describe_experiment(tracker: Tracker, run: OpenRun, text: str) -> None:
    """Say in Markdown, at the top of an experiment's page, what its runs are.

    That is the administrator's to say: another account leaves it as it is. Where the server takes
    no more of that experiment, it says so, and nothing else is lost.
    """
    there = tracker.client.get_experiment(run.experiment_id)
    if there.tags.get(DESCRIPTION) == text:
        return
    try:
        tracker.client.set_experiment_tag(run.experiment_id, DESCRIPTION, text)
    except MlflowException as error:
        if error.error_code == "INVALID_PARAMETER_VALUE":
            announce(one_line(f"experiment {there.name} is not described: {error}"))
        elif error.error_code != "PERMISSION_DENIED":
            raise


def finish(tracker: Tracker, run_id: str) -> None:
    """Mark a run as complete."""
    tracker.client.set_terminated(run_id, status="FINISHED")


def fail(tracker: Tracker, run_id: str) -> None:
    """Mark a run as failed; the next attempt takes it up under the same id."""
    tracker.client.set_terminated(run_id, status="FAILED")


def _experiment(tracker: Tracker, name: str) -> str:
    found = tracker.client.get_experiment_by_name(name)
    if found is not None:
        _check_place(tracker, name, str(found.artifact_location))
        return str(found.experiment_id)
    place = None if tracker.artifacts is None else f"{tracker.artifacts}/{name}"
    return str(tracker.client.create_experiment(name, artifact_location=place))


def _check_place(tracker: Tracker, name: str, place: str) -> None:
    if tracker.artifacts is not None and place.startswith(BY_SERVER):
        said = "made through MLflow's server, which keeps its files"
        raise BadInput(f"experiment {name!r}", said, "one made by a verb: rename it in MLflow")
