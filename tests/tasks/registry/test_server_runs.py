"""No run and no experiment grows beyond a bound, by whatever is said of it."""

import contextlib
import threading

import pytest
from mlflow.entities import (
    Dataset,
    DatasetInput,
    ExperimentTag,
    InputTag,
    Metric,
    Param,
    RunStatus,
    RunTag,
)
from mlflow.exceptions import MlflowException
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

from ricochet.tasks.registry import server_runs
from tests.stores import NAME, copied

LONG = "a" * 5000
LONGEST = 7 * len(LONG)


@pytest.fixture(scope="module")
def store(migrated_store, tmp_path_factory):
    """The store of a server; it keeps a thread of its own."""
    folder = tmp_path_factory.mktemp("runs")
    database = copied(migrated_store, folder / "store") / NAME
    found = SqlAlchemyStore(f"sqlite:///{database}", (folder / "artifacts").as_uri())
    server_runs.bound(found)
    yield found
    found.engine.dispose()


def a_run(store, tags=()):
    made = store.create_run("0", "user", 1, [RunTag("mlflow.runName", "a"), *tags], "a")
    return made.info.run_id


def a_data_set(number):
    return DatasetInput(Dataset(f"d{number}", "x", "local", "{}", schema=LONG), [])


WRITES = {
    "tags": lambda store, run, number: store.set_tag(run, RunTag(f"k{number}", LONG)),
    "parameters": lambda store, run, number: store.log_param(run, Param(f"k{number}", LONG)),
    "batches": lambda store, run, number: store.log_batch(
        run, [], [Param(f"k{number}", LONG)], [RunTag(f"k{number}", LONG)]
    ),
    "data sets": lambda store, run, number: store.log_inputs(run, [a_data_set(number)]),
    "metrics": lambda store, run, number: store.log_batch(
        run, [Metric(f"{number}{'m' * 200}{each}", 1.0, 1, 1) for each in range(20)], [], []
    ),
    "an experiment": lambda store, run, number: store.set_experiment_tag(
        "0", ExperimentTag(f"k{number}", LONG)
    ),
}


@pytest.mark.parametrize("kind", WRITES)
def test_what_is_added_many_times_is_refused_in_the_end(store, kind):
    run = a_run(store)
    with pytest.raises(MlflowException, match="characters") as caught:
        for number in range(100):
            WRITES[kind](store, run, number)
    assert number > 4 and caught.value.get_http_status_code() == 400
    assert server_runs.size(store.get_run(run)) <= server_runs.LARGEST


def test_a_run_has_few_data_sets_and_as_many_as_a_client_that_writes_at_once(store):
    run = a_run(store)
    small = [DatasetInput(Dataset(f"small {each}", "x", "local", "{}"), []) for each in range(51)]
    with pytest.raises(MlflowException, match="51 data sets of a run"):
        store.log_inputs(run, small)
    tagged = DatasetInput(small[0].dataset, [InputTag("", "")] * 21)
    with pytest.raises(MlflowException, match="21 tags of a data set"):
        store.log_inputs(run, [tagged])
    refused = []

    def log(each):
        try:
            store.log_inputs(run, small[each : each + 10])
        except MlflowException as error:
            refused.append(str(error))

    threads = [threading.Thread(target=log, args=(first,)) for first in range(0, 80, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.get_run(run).inputs.dataset_inputs) <= 50
    store.log_inputs(run, [])


def test_names_of_data_sets_and_their_tags_count_too(store):
    run = a_run(store)
    for first in range(0, 700, 100):
        store.log_batch(run, [Metric(f"m{first + n}", 1.0, 1, 0) for n in range(100)], [], [])
    tags = [InputTag(f"{number}", "") for number in range(20)]
    sets = [DatasetInput(Dataset(f"d{n}", "x", "local", "{}"), tags) for n in range(50)]
    with pytest.raises(MlflowException, match="characters"):
        store.log_inputs(run, sets)
    store.log_inputs(run, sets[:3])
    with pytest.raises(MlflowException, match="characters"):
        for first in range(0, 700, 100):
            store.log_batch(run, [Metric(f"n{first + n}", 1.0, 1, 0) for n in range(100)], [], [])


def test_of_two_writes_at_once_the_second_counts_the_first(store):
    """Forty that look at once would each find the run empty."""
    run = a_run(store)
    long = [RunTag(f"k{number}", LONG) for number in range(8)]

    def write(first):
        with contextlib.suppress(MlflowException):
            store.log_batch(run, [], [], [RunTag(f"{first}{tag.key}", tag.value) for tag in long])

    threads = [threading.Thread(target=write, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert LONGEST < server_runs.size(store.get_run(run)) <= server_runs.LARGEST


def test_a_run_is_not_made_too_large(store):
    with pytest.raises(MlflowException, match="characters"):
        a_run(store, [RunTag(f"k{number}", LONG) for number in range(100)])


def test_a_run_has_few_names_however_short(store):
    """Of a hundred runs with 3,800 metrics each a page is made for a minute."""
    run = a_run(store)
    with pytest.raises(MlflowException, match="characters"):
        for first in range(0, 4000, 500):
            names = [f"{number:x}" for number in range(first, first + 500)]
            store.log_batch(run, [Metric(name, 1.0, 1, 0) for name in names], [], [])
    assert 400 < len(store.get_run(run).data.metrics) < 1000
    with pytest.raises(MlflowException, match="characters"):
        a_run(store, [RunTag(f"{number:x}", "") for number in range(1100)])


def test_what_ricochet_says_of_a_run_is_taken(store):
    run = a_run(store, [RunTag("mlflow.note.content", "a" * 8000)])
    metrics = [Metric(f"metric_{each}", 1.0, 1, 1) for each in range(500)]
    params = [Param(f"a.setting.{each}", "1.0") for each in range(90)]
    store.log_batch(run, metrics, params, [])
    store.log_inputs(run, [a_data_set(0)])
    curve = [Metric("held_out_nats_by_look", 1.0, 1, step) for step in range(1000)]
    store.log_batch(run, curve, [], [])  # as many as MLflow's client sends
    for step in range(3):
        store.log_metric(run, Metric("m", 1.0, 1, step))
    assert len(store.get_run(run).data.metrics) == 502


def test_a_name_has_an_end_and_a_run_that_is_too_large_can_be_ended(store, monkeypatch):
    run = a_run(store, [RunTag("k", LONG)])
    with pytest.raises(MlflowException, match="characters"):
        store.update_run_info(run, None, None, "a" * 1001)
    monkeypatch.setattr(server_runs, "LARGEST", 10)
    with pytest.raises(MlflowException, match="characters"):
        store.set_tag(run, RunTag("a", "b"))
    assert store.update_run_info(run, RunStatus.KILLED, 2, None).status == "KILLED"


def test_a_tag_of_an_experiment_may_be_replaced_however_long_it_is(store):
    """What stood there had counted beside what replaces it."""
    made = store.create_experiment("described")
    store.set_experiment_tag(made, ExperimentTag("note", "a"))
    for text in ("b" * 4100, "c" * 4100):
        for number in range(15):
            store.set_experiment_tag(made, ExperimentTag(f"{number}", text))
    with pytest.raises(MlflowException, match="characters"):
        store.set_experiment_tag(made, ExperimentTag("note", "b" * 5000))
    assert {**store.get_experiment(made).tags}["note"] == "a"
