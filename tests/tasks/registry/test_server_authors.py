"""An account changes the runs that it made; verbs find those of nobody else."""

import asyncio
import contextlib

import pytest
from mlflow.entities import (
    Dataset,
    DatasetInput,
    ExperimentTag,
    InputTag,
    Metric,
    Param,
    RunTag,
)
from mlflow.exceptions import MlflowException
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

from ricochet.tasks.registry import runs, server_authors
from ricochet.tasks.registry.runs import AUTHOR
from ricochet.tasks.registry.server_logins import ADMIN, ASKER, ASKING
from tests.stores import NAME, copied

FILES = "/api/2.0/mlflow-artifacts/artifacts"


class Files:
    """A store of files that notes what it was asked."""

    def __init__(self):
        self.asked = []

    def log_artifact(self, local_file, artifact_path=None):
        self.asked.append(artifact_path)

    def log_artifact_from_stream(self, stream, filename, artifact_path=None):
        self.asked.append(artifact_path)

    async def log_artifact_from_async_stream(self, stream, filename, artifact_path=None):
        self.asked.append(artifact_path)

    def delete_artifacts(self, artifact_path=None):
        self.asked.append(artifact_path)


@pytest.fixture(scope="module")
def files():
    return Files()


@pytest.fixture(scope="module")
def store(migrated_store, tmp_path_factory, files):
    """The store of a server; it keeps a thread of its own."""
    folder = tmp_path_factory.mktemp("authors")
    database = copied(migrated_store, folder / "store") / NAME
    found = SqlAlchemyStore(f"sqlite:///{database}", (folder / "artifacts").as_uri())
    server_authors.bound(found, files)
    yield found
    found.engine.dispose()


@pytest.fixture(autouse=True)
def asking(monkeypatch):
    monkeypatch.setenv(ASKING, "somewhere")
    monkeypatch.setenv(ADMIN, "admin")


@contextlib.contextmanager
def account(name):
    """Ask as an account, as nobody (empty), or as the server itself (None)."""
    token = ASKER.set(None if name is None else f"{name}:a".encode() if name else b"")
    try:
        yield
    finally:
        ASKER.reset(token)


def a_run(store, name, tags=()):
    with account(name):
        return store.create_run("0", "user", 1, [RunTag("mlflow.runName", "a"), *tags], "a").info


WRITES = {
    "log_batch": lambda store, run: store.log_batch(run, [], [Param("a", "b")], [RunTag("c", "d")]),
    "log_inputs": lambda store, run: store.log_inputs(run, []),
    "log_outputs": lambda store, run: store.log_outputs(run, []),
    "log_param": lambda store, run: store.log_param(run, Param("e", "f")),
    "log_metric": lambda store, run: store.log_metric(run, Metric("a", 1.0, 1, 1)),
    "set_tag": lambda store, run: store.set_tag(run, RunTag("a", "b")),
    "delete_tag": lambda store, run: store.delete_tag(run, "a"),
    "update_run_info": lambda store, run: store.update_run_info(run, 3, 2, "b"),
    "delete_run": lambda store, run: store.delete_run(run),
    "restore_run": lambda store, run: store.restore_run(run),
    "record_logged_model": lambda store, run: store.record_logged_model(run, None),
}


def test_all_that_changes_a_run_is_looked_at(store):
    named = {
        name for name in dir(store) if name.startswith(("log_", "delete_", "restore_", "set_"))
    }
    of_run = {name for name in named if "run" in name} | {"set_tag", "delete_tag", "log_batch"}
    assert of_run <= {*server_authors.WRITES} and set(WRITES) == set(server_authors.WRITES)


@pytest.mark.parametrize("name", [name for name in WRITES if name != "record_logged_model"])
def test_an_account_changes_its_own_runs_and_the_administrator_all(store, name):
    theirs, own = a_run(store, "admin").run_id, a_run(store, "one").run_id

    def change(asker, run):
        with account("admin"):
            if name == "delete_tag":
                store.set_tag(run, RunTag("a", "b"))
            if name == "restore_run":
                store.delete_run(run)
        with account(asker):
            WRITES[name](store, run)

    for asker, run in (("one", own), ("admin", own), (None, theirs)):
        change(asker, run)
        with account("admin"):
            if name == "delete_run":
                store.restore_run(run)
    for asker, run in (("one", theirs), ("two", own), ("", own)):
        with pytest.raises(MlflowException, match="another account made"):
            change(asker, run)
        with account("admin"):
            if name == "restore_run":
                store.restore_run(run)


def test_a_model_of_another_s_run_is_refused(store):
    theirs = a_run(store, "admin")
    with account("one"), pytest.raises(MlflowException, match="another account made"):
        WRITES["record_logged_model"](store, theirs.run_id)


def test_who_made_a_run_is_the_server_s_to_say(store):
    for said in ("admin", "two"):
        made = a_run(store, "one", [RunTag(AUTHOR, said)])
        assert store.get_run(made.run_id).data.tags[AUTHOR] == "one"
    assert AUTHOR not in store.get_run(a_run(store, "admin").run_id).data.tags
    for change in (
        lambda run: store.set_tag(run, RunTag(AUTHOR, "two")),
        lambda run: store.delete_tag(run, AUTHOR),
        lambda run: store.log_batch(run, [], [], [RunTag(AUTHOR, "two")]),
    ):
        with account("one"), pytest.raises(MlflowException, match="who made a run"):
            change(made.run_id)


FILE_WRITES = {
    "log_artifact": lambda files, place: files.log_artifact("a", place),
    "log_artifact_from_stream": lambda files, place: files.log_artifact_from_stream("", "a", place),
    "log_artifact_from_async_stream": lambda files, place: asyncio.run(
        files.log_artifact_from_async_stream("", "a", artifact_path=place)
    ),
    "delete_artifacts": lambda files, place: files.delete_artifacts(place),
}


@pytest.mark.parametrize("name", FILE_WRITES)
def test_files_of_a_run_are_its_author_s_alone_to_change(store, files, name):
    theirs, own = (a_run(store, who).run_id for who in ("admin", "one"))
    write = FILE_WRITES[name]
    files.asked.clear()
    for place in (f"0/{theirs}/artifacts", f"0/{theirs}", "0/models/m-1", "0", "", None, own):
        with account("one"), pytest.raises(MlflowException, match="another account made"):
            write(files, place)
        for asker in ("admin", None):
            with account(asker):
                write(files, place)
    with account("one"):
        write(files, f"0/{own}/artifacts")
    assert len(files.asked) == 15


def test_what_runs_share_is_no_account_s_to_say(store):
    """One had filled an experiment's tags, so that verbs which describe it failed."""
    for change in (
        lambda: store.set_experiment_tag("0", ExperimentTag("a", "b")),
        lambda: store.delete_experiment_tag("0", "a"),
    ):
        with account("admin"):
            change()
            store.set_experiment_tag("0", ExperimentTag("a", "b"))
        with account("one"), pytest.raises(MlflowException, match="tags of an experiment"):
            change()


def test_data_sets_of_an_account_are_never_those_of_another(store):
    """MLflow keeps of one name and digest what was said first: where it is from, 64 kB of facts."""
    found = {}
    for name in ("one", "admin", "other"):
        run = a_run(store, name).run_id
        said = Dataset("golf", "abc", "dvc", f"of {name}", profile=f"by {name}")
        with account(name):
            store.log_inputs(run, [DatasetInput(said, [InputTag("a", "b")])])
        [found[name]] = store.get_run(run).inputs.dataset_inputs
    assert {name: each.dataset.name for name, each in found.items()} == {
        "one": "golf (one)",
        "admin": "golf",
        "other": "golf (other)",
    }
    for name, each in found.items():
        assert (each.dataset.source, each.dataset.profile) == (f"of {name}", f"by {name}")
        assert each.dataset.digest == "abc" and [tag.key for tag in each.tags] == ["a"]
    long = DatasetInput(Dataset("g" * 499, "abc", "dvc", "x"), [])
    run = a_run(store, "one").run_id
    with account("one"), pytest.raises(MlflowException, match="500 characters"):
        store.log_inputs(run, [long])


def test_where_nobody_is_asked_all_may_change_all(store, monkeypatch):
    own = a_run(store, "one")
    monkeypatch.delenv(ASKING)
    with account("two"):
        store.set_tag(own.run_id, RunTag("a", "b"))


def test_verbs_find_no_run_that_another_account_made(empty_store, monkeypatch):
    tracker = runs.connect(store=empty_store)
    mine = runs.open_run(tracker, "calibrate", "key", name="a", tags={})
    others = tracker.client.create_run(
        mine.experiment_id, start_time=1, tags={runs.KEY: "key", AUTHOR: "one"}, run_name="x"
    )
    runs.finish(tracker, others.info.run_id)
    assert runs.find_run(tracker, "calibrate", "key").info.run_id == mine.run_id
    assert not runs.open_run(tracker, "calibrate", "key", name="a", tags={}).finished
    tracker.client.delete_run(mine.run_id)
    assert runs.find_run(tracker, "calibrate", "key") is None
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "one")
    assert runs.find_run(tracker, "calibrate", "key").info.run_id == others.info.run_id
