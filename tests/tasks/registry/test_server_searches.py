"""A search by many conditions, which a database cannot plan, is refused whoever asks."""

import pytest
from mlflow.entities import Metric, ViewType
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry.sqlalchemy_store import SqlAlchemyStore as Models
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore as Runs
from mlflow.utils.search_utils import SearchLoggedModelsUtils, SearchModelVersionUtils

from ricochet.tasks.registry import server_searches
from tests.stores import NAME, copied

FEW = [
    None,
    "",
    "attributes.status = 'RUNNING'",
    "tags.a = 'at time zone' and tags.b = 'C:\\takes\\'",
    f"tags.a = '{';' * 20}' and params.c = '-- /* $ [' and params.b ILIKE '%{'a' * 90}%'",
    "tags.`ricochet.key` = 'a' and attributes.run_id IN ('a', 'b') AND metrics.m >= 1",
    " and ".join(f"metrics.m{number} > 0" for number in range(20)),
    "dataset.name IN ('train-dataset', 'a-dataset') and datasets.digest IN ('dataset', 'b')",
    "attributes.run_id IN (" + ", ".join(f"'{number:032x}'" for number in range(500)) + ")",
]
MANY = [
    " and ".join(f"metrics.m{number} > 0" for number in range(21)),
    "\tAND\n".join(f"tags.m{number} LIKE 'a'" for number in range(21)),
    " ".join(f"params.m{number}='a'" for number in range(41)),
    "and " * 41,
    "tags.a = 'x' and " * 400_000,
    " " * 2**15 + "x",
    " and ".join(f"dataset{'s' * (number % 2)}.name = 'd'" for number in range(3)),
    f"tags.a = '{'a' * 1000}b'",
    f"tags.a LIKE '\\'%{'a' * 1000}b'",
    ";" * 1000,
    f"tags.a = '{';' * 21}'",
    "/*'*/ ; /*'*/",
    "-- ' \n ; -- '",
    "# ' \n ; # '",
    "$$'$$ ; $$'$$",
    "['] ; [']",
    "\xb4'\xb4 ; \xb4'\xb4",
    "name != 'a' AT TIME ZONE 'b\\' 'c' AND name ILIKE 'a\\'",
    "name = 'a' at\ttime\nzone 'b'",
    "tags.a = 'x'; tags.b = 'y'",
    "(" * 2001 + ")" * 2001,
]


@pytest.fixture(scope="module")
def stores(migrated_store, tmp_path_factory):
    """The stores of a server, which are empty; one keeps a thread of its own."""
    folder = tmp_path_factory.mktemp("searches")
    empty_store = copied(migrated_store, folder / "store")
    address = f"sqlite:///{empty_store / NAME}"
    found = Runs(address, (folder / "artifacts").as_uri()), Models(address)
    server_searches.bound(*found)
    yield found
    for each in found:
        each.engine.dispose()


def searches(stores):
    runs, models = stores
    return {
        "runs": lambda words, order=(): runs.search_runs(
            ["0"], words, ViewType.ACTIVE_ONLY, 10, list(order)
        ),
        "experiments": lambda words, order=(): runs.search_experiments(
            filter_string=words, order_by=list(order)
        ),
        "models": lambda words, order=(): models.search_registered_models(
            filter_string=words, order_by=list(order)
        ),
        "versions": lambda words, order=(): models.search_model_versions(
            filter_string=words, order_by=list(order)
        ),
    }


@pytest.mark.parametrize("kind", ["runs", "experiments", "models", "versions"])
def test_many_conditions_are_refused_by_every_search(stores, kind):
    search = searches(stores)[kind]
    for words in MANY:
        with pytest.raises(
            MlflowException,
            match=r"operators|without end|semicolon|outside of texts",
        ) as caught:
            search(words)
        assert caught.value.get_http_status_code() == 400
    with pytest.raises(MlflowException, match="6 entries of order_by"):
        search(None, ["name"] * 6)
    assert len(search(None)) == len(search("")) == (kind == "experiments")


def test_lists_and_tokens_are_bounded(stores):
    runs, models = stores
    many = [str(number) for number in range(1001)]
    with pytest.raises(MlflowException, match="1001 entries of experiment_ids"):
        runs.search_runs(many, None, ViewType.ALL, 10, [])
    assert runs.search_runs(many[1:], None, ViewType.ALL, 10, []) == []
    with pytest.raises(MlflowException, match="1001 entries of experiment_ids"):
        runs._search_datasets(many)
    with pytest.raises(MlflowException, match="21 entries of datasets"):
        runs.search_logged_models(["0"], datasets=[{"dataset_name": "d"}] * 21)
    for search in (runs.search_experiments, models.search_model_versions):
        with pytest.raises(MlflowException, match="a token without end"):
            search(page_token="[" * 2**18)
    with pytest.raises(MlflowException, match="an order without end"):
        runs.search_experiments(order_by=["a" * 2**16])


def test_logged_models_are_searched_in_orders_of_several_texts(stores):
    """As MLflow's own page asks; each was taken for one text."""
    runs, _ = stores
    whole = {"field_name": "metrics.a", "ascending": False, "dataset_name": "a; b"}
    plain = {"field_name": "creation_time", "ascending": True, "dataset_name": None}
    model = runs.create_logged_model("0", "a")
    for order in (whole, plain):
        found = runs.search_logged_models(["0"], order_by=[order])
        assert [each.model_id for each in found] == [model.model_id]
        for name in ("field_name", "dataset_name", "dataset_digest"):
            with pytest.raises(MlflowException, match="an order without end"):
                runs.search_logged_models(["0"], order_by=[{**order, name: "a" * 501}])
    with pytest.raises(MlflowException, match="6 entries of order_by"):
        runs.search_logged_models(["0"], order_by=[plain] * 6)


def test_a_page_has_few_runs_and_the_next_one_follows(stores, monkeypatch):
    """MLflow's `search_runs` asks for 10,000 at once, and then by a token."""
    runs, _ = stores
    monkeypatch.setitem(server_searches.PAGES, "_search_runs", 2)
    made = {runs.create_run("0", "user", each, [], "a").info.run_id for each in range(5)}
    found, token, pages = set(), None, 0
    while token is not None or not pages:
        page = runs.search_runs(["0"], None, ViewType.ALL, 10_000, [], page_token=token)
        found |= {run.info.run_id for run in page}
        token, pages = page.token, pages + 1
    for run in made:
        runs.delete_run(run)
    assert found == made and pages == 3


def test_a_page_has_few_versions_and_the_next_one_follows(stores, monkeypatch):
    monkeypatch.setitem(server_searches.PAGES, "search_model_versions", 2)
    models = stores[1]
    models.create_registered_model("many")
    for _ in range(3):
        models.create_model_version("many", "mlflow-artifacts:/1/a")
    first = models.search_model_versions("name = 'many'", 10_000)
    assert len(first) == 2
    assert len(models.search_model_versions("name = 'many'", page_token=first.token)) == 1
    assert len(models.search_model_versions("name = 'many'", 1)) == 1


def test_a_metric_is_read_in_pages_whoever_asks_for_all(stores, monkeypatch):
    runs, _ = stores
    monkeypatch.setitem(server_searches.PAGES, "get_metric_history", 3)
    run = runs.create_run("0", "user", 1, [], "a").info.run_id
    runs.log_batch(run, [Metric("m", step, step, step) for step in range(7)], [], [])
    page = runs.get_metric_history(run, "m")
    found = list(page)
    assert len(found) == 3
    while page.token:
        page = runs.get_metric_history(run, "m", 100, page.token)
        found += page
    assert [each.value for each in found] == list(range(7))
    monkeypatch.setitem(server_searches.PAGES, "get_metric_history_bulk_interval", 2)
    few = runs.get_metric_history_bulk_interval([run], "m", 10**9, None, None)
    assert [each.step for each in few] == [0, 6]
    monkeypatch.setattr(server_searches, "MOST_STEPS", 4)
    others = [run]
    for name in "bcd":
        others.append(runs.create_run("0", "user", 1, [], name).info.run_id)
        runs.log_batch(others[-1], [Metric("m", step, step, step) for step in range(7)], [], [])
    assert len(runs.get_metric_history_bulk_interval(others, "m", 2, None, None)) == 4
    with pytest.raises(MlflowException, match="a run twice"):
        runs.get_metric_history_bulk_interval([run] * 2, "m", 2, None, None)
    monkeypatch.setitem(server_searches.PAGES, "get_metric_history_bulk", 2)
    assert len(runs.get_metric_history_bulk([run], "m", -1)) == 2
    with pytest.raises(MlflowException, match="101 entries of run_ids"):
        runs.get_metric_history_bulk_interval([run] * 101, "m", 1, None, None)
    for each in others:
        runs.delete_run(each)


@pytest.mark.parametrize("words", FEW)
def test_few_are_searched_by(stores, words):
    assert searches(stores)["runs"](words, ["metrics.m DESC"]) == []


@pytest.mark.parametrize("words", [";" * 64_000, "/*'*/;/*'*/", "a" * 500_000])
def test_who_asks_whether_one_may_search_reads_no_filter_that_is_refused(monkeypatch, words):
    """MLflow reads those of models before it is asked for any."""
    monkeypatch.setattr("sqlparse.parse", lambda *_: pytest.fail("read"))
    server_searches.bound_reading()
    for kind in (SearchLoggedModelsUtils, SearchModelVersionUtils):
        with pytest.raises(MlflowException):
            kind.parse_search_filter(words)
