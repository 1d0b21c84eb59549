"""What an account may not read changes nothing in the lists that it is given."""

import base64
import json

import pytest
from mlflow.entities import ExperimentTag, ViewType
from mlflow.entities.model_registry import ModelVersionTag, RegisteredModelTag
from mlflow.exceptions import MlflowException
from mlflow.store.entities import PagedList
from mlflow.store.model_registry.sqlalchemy_store import SqlAlchemyStore as Models
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore as Runs
from mlflow.utils.search_utils import SearchUtils

from ricochet.tasks.registry import server_lists
from tests.stores import NAME, copied

NAMES = ["a", "hidden-b", "c", "hidden-d", "hidden-e", "f", "g", "hidden-h"]
SEARCHES = ("search_experiments", "search_registered_models", "search_model_versions")
FILTERS = (None, "name LIKE '%d%'", "tags.kind = 'secret'", "tags.kind LIKE 's%'", "name != 'a'")
ORDERS = (["name ASC"], ["name DESC"])


def filled(database, folder, names):
    """Return the stores of a server with an experiment, a model and versions of some names."""
    address = f"sqlite:///{copied(database, folder) / NAME}"
    runs, models = Runs(address, (folder / "files").as_uri()), Models(address)
    for name in names:
        number = NAMES.index(name)
        kind = "secret" if number % 3 else "shown"
        runs.create_experiment(name, tags=[ExperimentTag("kind", kind)])
        models.create_registered_model(name, [RegisteredModelTag("kind", kind)])
        for _ in range(1 + number % 2):
            tags = [ModelVersionTag("kind", kind)]
            models.create_model_version(name, f"mlflow-artifacts:/1/{name}", tags=tags)
    return runs, models


@pytest.fixture(scope="module")
def stores(migrated_store, tmp_path_factory):
    """The stores of a lab, and of one that has what an account may read of it alone."""
    folder = tmp_path_factory.mktemp("lists")
    seen = [name for name in NAMES if not name.startswith("hidden")]
    found = [
        filled(migrated_store, folder / kind, names)
        for kind, names in (("whole", NAMES), ("seen", seen))
    ]
    yield found
    for each in (*found[0], *found[1]):
        each.engine.dispose()


def may_read(row):
    return not row.name.startswith("hidden")


def names_of(page):
    return [(row.name, getattr(row, "version", None)) for row in page]


@pytest.mark.parametrize("search", SEARCHES)
def test_pages_and_tokens_are_those_of_a_store_without_what_is_hidden(stores, search):
    whole, seen = [next(filter(lambda each: hasattr(each, search), pair)) for pair in stores]
    reduced = server_lists.readable(getattr(whole, search), lambda: may_read)
    compared = 0
    for words in FILTERS:
        for order in ORDERS:
            for size in (1, 2, 3, 50):
                token = None
                while True:
                    given = {"filter_string": words, "order_by": order, "max_results": size}
                    found = reduced(**given, page_token=token)
                    expected = getattr(seen, search)(**given, page_token=token)
                    assert names_of(found) == names_of(expected)
                    assert found.token == expected.token
                    compared += 1
                    token = found.token
                    if token is None:
                        break
    assert compared > 60


@pytest.mark.parametrize("search", SEARCHES)
def test_who_may_read_all_is_given_all_by_the_store_itself(stores, search):
    store = next(filter(lambda each: hasattr(each, search), stores[0]))
    method = getattr(store, search)
    found = server_lists.readable(method, lambda: None)(max_results=3)
    assert names_of(found) == names_of(method(max_results=3)) and found.token is not None


def test_many_hidden_rows_are_read_in_few_pages():
    rows, asked = range(5000), []

    def search(max_results, page_token=None):
        asked.append(max_results)
        page, token = SearchUtils.paginate(rows, page_token, max_results)
        return PagedList(page, token)

    found = server_lists.readable(search, lambda: lambda row: row > 4990)
    first = found(3)
    assert list(first) == [4991, 4992, 4993] and list(found(9, first.token)) == list(
        range(4994, 5000)
    )
    assert asked == 2 * [100, *5 * [1000]]


@pytest.mark.parametrize("row", [-1, 10**10, "a", 1e999, [1]])
def test_a_token_of_another_kind_is_refused(stores, row):
    search = server_lists.readable(stores[0][0].search_experiments, lambda: may_read)
    token = base64.b64encode(json.dumps({"offset": row}).encode())
    with pytest.raises(MlflowException) as caught:
        search(ViewType.ALL, 3, page_token=token)
    assert caught.value.get_http_status_code() == 400
    with pytest.raises(MlflowException, match="a token of another kind"):
        search(ViewType.ALL, 3, page_token=base64.b64encode(b"[1]"))
