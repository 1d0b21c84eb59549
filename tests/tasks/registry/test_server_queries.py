"""A question that a database would work on for long is given up, and the next one answered."""

import os
import time
from types import SimpleNamespace

import pytest
import sqlalchemy
from mlflow.entities import ViewType
from mlflow.exceptions import MlflowException
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore as Runs
from mlflow.utils.search_utils import SearchUtils
from sqlalchemy import text

from ricochet.tasks.registry import server_patterns, server_queries
from tests import postgres
from tests.stores import NAME, copied

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
LONGEST = 0.5


def given_up(store):
    """Ask what has no end, and say how long that took; a transaction taken back changes nothing."""
    begun = time.monotonic()
    for _ in range(2):
        with pytest.raises(MlflowException) as caught, store.ManagedSessionMaker() as session:
            session.execute(text(ENDLESS)).all()
        assert caught.value.get_http_status_code() == 400 and "takes long" in str(caught.value)
    return time.monotonic() - begun


def test_sqlite_gives_up_what_takes_long(migrated_store, tmp_path):
    folder = copied(migrated_store, tmp_path / "store")
    store = Runs(f"sqlite:///{folder / NAME}", (tmp_path / "artifacts").as_uri())
    server_queries.bound(store, longest=LONGEST)
    try:
        assert given_up(store) >= 2 * LONGEST
        store.create_run("0", "somebody", 0, [], "a run")
        assert len(store.search_runs(["0"], None, ViewType.ALL, 10, [])) == 1
    finally:
        store.engine.dispose()


def test_sqlite_looks_at_the_clock_between_texts_that_are_compared_for_long(tmp_path):
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'texts.db'}")
    server_queries.bound(SimpleNamespace(engine=engine), longest=0.05)
    sought = {"sought": f"%{'a' * 90}c"}
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE tags (value TEXT)"))
        rows = [{"value": "a" * 7900 + "b"}] * 500  # some thousand steps in all
        connection.execute(text("INSERT INTO tags VALUES (:value)"), rows)
        with pytest.raises(MlflowException, match="takes long"):
            connection.execute(text("SELECT * FROM tags WHERE value LIKE :sought"), sought).all()
    engine.dispose()


@pytest.fixture(scope="module")
def of_postgresql(tmp_path_factory):
    """A store in PostgreSQL."""
    folder = tmp_path_factory.mktemp("runs")
    with postgres.running("runs") as database, pytest.MonkeyPatch.context() as patch:
        pgpass = folder / "pgpass"
        pgpass.write_text(database.pgpass)
        os.chmod(pgpass, 0o600)
        patch.setenv("PGPASSFILE", str(pgpass))
        store = Runs(database.address("runs"), (folder / "artifacts").as_uri())
        server_queries.bound(store, longest=LONGEST)
        kept = SearchUtils.__dict__["get_sql_comparison_func"]
        patch.setattr(SearchUtils, "get_sql_comparison_func", kept)
        server_patterns.bound()
        yield store
        store.engine.dispose()


@pytest.mark.slow
def test_postgresql_gives_up_what_takes_long(of_postgresql):
    assert given_up(of_postgresql) >= 2 * LONGEST
    assert len(of_postgresql.search_experiments()) == 1


@pytest.mark.slow
def test_no_error_says_whether_a_pattern_fits_a_row_that_may_not_be_read(of_postgresql):
    """Half an escape at its end was one where a name began so, and quoted what was asked."""

    def asked(pattern):
        with of_postgresql.ManagedSessionMaker() as session:
            words = text("SELECT name FROM experiments WHERE name LIKE :pattern")
            return session.execute(words, {"pattern": pattern}).all()

    def refused(words):
        with pytest.raises(MlflowException) as caught:
            of_postgresql.search_experiments(filter_string=words)
        return str(caught.value)

    assert asked("Dex%\\") == []
    with pytest.raises(MlflowException, match="found a question that the database does not take"):
        asked("Def%\\")
    # whose first text ends, to who reads it, where the second would begin
    aside = "name != 'a' AT TIME ZONE 'b\\' 'c' AND "
    for before in ("", aside):
        sought = f"{before}name LIKE 'Def%\\'"
        assert "half an escape" in refused(sought)
        assert refused(sought) == refused(sought.replace("Def", "Dex"))
    assert of_postgresql.search_experiments(filter_string="name LIKE 'Def%\\\\'") == []
