"""An experiment has one number, by which its permissions are found too."""

import inspect
import re

import pytest
from mlflow.exceptions import MlflowException
from mlflow.protos.service_pb2 import SearchDatasets
from mlflow.server import handlers
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

from ricochet.tasks.registry import server_ids
from tests.stores import NAME, copied

OTHER = ["00", "+0", " 0", "0 ", "0.0", "-0", "0_0", "\u0660", "", "0x0", "1e0", "9" * 20]


@pytest.fixture(scope="module")
def store(migrated_store, tmp_path_factory):
    """The store of a server; it keeps a thread of its own."""
    folder = tmp_path_factory.mktemp("runs")
    database = copied(migrated_store, folder / "store") / NAME
    found = SqlAlchemyStore(f"sqlite:///{database}", (folder / "artifacts").as_uri())
    server_ids.bound(found)
    yield found
    found.engine.dispose()


def takes(name):
    """Say whether a method of a store takes numbers of experiments."""
    parameters = inspect.signature(getattr(SqlAlchemyStore, name)).parameters
    return bool({"experiment_id", "experiment_ids"} & parameters.keys())


@pytest.mark.parametrize("number", OTHER)
def test_a_number_in_another_form_is_no_experiment(store, number):
    asks = (
        lambda: store.search_runs([number], "", 3),
        lambda: store.search_runs(["0", number], "", 3),
        lambda: store.get_experiment(number),
        lambda: store.search_datasets([number]),
        lambda: store._search_datasets([number]),
        lambda: store.create_run(number, "user", 1, [], "a"),
        lambda: store.delete_experiment(experiment_id=number),
    )
    for ask in asks:
        with pytest.raises(MlflowException, match="expected its number") as caught:
            ask()
        assert caught.value.get_http_status_code() == 400
    assert store.search_runs(["0"], "", 3) == [] and store.get_experiment("0").name == "Default"
    message = SearchDatasets(experiment_ids=["0"])
    assert store._search_datasets(message.experiment_ids) == []
    message.experiment_ids.append(number)
    with pytest.raises(MlflowException, match="expected its number"):
        store._search_datasets(message.experiment_ids)


def test_each_method_that_the_server_calls_with_a_number_looks_at_it(store):
    called = set(re.findall(r"store(?:\(\))?\.(_\w+)", inspect.getsource(handlers)))
    private = [name for name in called if hasattr(SqlAlchemyStore, name) and takes(name)]
    assert private == list(server_ids.ASKED)
    assert "_search_datasets" in vars(store)


def test_each_public_method_that_takes_a_number_looks_at_it(store):
    found = 0
    for name in dir(SqlAlchemyStore):
        method = getattr(SqlAlchemyStore, name)
        if name.startswith("_") or not callable(method):
            continue
        if takes(name):
            assert name in vars(store), name
            found += 1
    assert found > 20
