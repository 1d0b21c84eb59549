"""Patterns that are long, or end in half an escape, are refused wherever MLflow seeks by one."""

import pytest
from mlflow.entities import ViewType
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry.sqlalchemy_store import SqlAlchemyStore as Models
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore as Runs
from mlflow.utils.search_utils import SearchUtils

from ricochet.tasks.registry import server_patterns
from tests.stores import NAME, copied

HONEST = ["a%", "", "%", "C:\\\\takes\\\\", "100\\%", "\\\\" * 50, "a" * 100, "it''s"]
REFUSED = [
    "\\",
    "a%\\",
    "\\\\\\",
    "a''\\",
    "%\n\\",
    "a" * 101,
    f"%{'a' * 100}",
    f"''%{'a' * 100}",
]


KINDS = {
    "experiments": ["name", "tags.a"],
    "models": ["name", "tags.a"],
    "versions": ["name", "tags.a"],
    "runs": ["attributes.run_name", "params.a", "tags.a", "datasets.name"],
    "logged models": ["name", "tags.`a`", "params.a"],
}


@pytest.fixture(scope="module")
def searches(migrated_store, tmp_path_factory):
    """What a server's stores seek, by its kind."""
    folder = tmp_path_factory.mktemp("patterns")
    address = f"sqlite:///{copied(migrated_store, folder / 'store') / NAME}"
    runs, models = Runs(address, (folder / "artifacts").as_uri()), Models(address)
    with pytest.MonkeyPatch.context() as patch:
        kept = SearchUtils.__dict__["get_sql_comparison_func"]
        patch.setattr(SearchUtils, "get_sql_comparison_func", kept)
        server_patterns.bound()
        yield {
            "experiments": lambda words: runs.search_experiments(filter_string=words),
            "models": models.search_registered_models,
            "versions": models.search_model_versions,
            "runs": lambda words: runs.search_runs(["0"], words, ViewType.ALL, 10, []),
            "logged models": lambda words: runs.search_logged_models(["0"], words),
        }
    for store in (runs, models):
        store.engine.dispose()


@pytest.mark.parametrize("operator", ["LIKE", "ILIKE"])
@pytest.mark.parametrize(("kind", "key"), [(k, key) for k, keys in KINDS.items() for key in keys])
def test_a_pattern_is_short_and_its_escapes_are_whole(searches, kind, key, operator):
    search = searches[kind]
    for pattern in REFUSED:
        sought = f"{key} {operator} '{pattern}'"
        for words in (sought, f"{key} != 'like \"' AND {sought}"):
            with pytest.raises(MlflowException, match=r"half an escape|a long text") as caught:
                search(words)
            assert caught.value.get_http_status_code() == 400
    for pattern in HONEST:
        search(f"{key} {operator} '{pattern}'")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_pattern_may_end_in_a_backslash_and_be_long(searches, kind):
    for text in ("C:\\takes\\", "a" * 200):
        searches[kind](f"{KINDS[kind][1]} = '{text}'")


@pytest.mark.parametrize("dialect", ["postgresql", "sqlite", "mysql", "mssql"])
def test_each_database_is_asked_by_what_looks_at_patterns(searches, dialect):
    for comparator in ("LIKE", "ILIKE", "RLIKE"):
        with pytest.raises(MlflowException, match="half an escape"):
            SearchUtils.get_sql_comparison_func(comparator, dialect)(None, "a\\")
