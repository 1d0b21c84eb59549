"""Databases of a backup are moved as rows; nothing that they bring along runs."""

import signal
import sqlite3
import threading

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import databases
from tests.stores import with_prefect


def made(path, *statements):
    """Make a database with one run's address, and what else is stated."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE runs (artifact_uri TEXT, other TEXT)")
        database.execute("INSERT INTO runs VALUES ('file:///old/1', 'file:///old/1')")
        for statement in statements:
            database.execute(statement)
    database.close()
    return path


def rows(path):
    with sqlite3.connect(path) as database:
        return database.execute("SELECT * FROM runs").fetchall()


def test_addresses_of_files_are_moved_and_other_texts_stay(tmp_path):
    path = made(tmp_path / "a.db")
    assert databases.move(path, "/old", "/new") == 1
    assert rows(path) == [("file:///new/1", "file:///old/1")]
    assert databases.move(path, "/new", "/old") == 1


@pytest.mark.parametrize(
    "does",
    [
        "UPDATE runs SET other = 'x'",
        "INSERT INTO runs SELECT hex(zeroblob(1000000)), ''",
        "DELETE FROM runs",
    ],
)
def test_a_trigger_runs_nothing_and_is_refused(tmp_path, does):
    """Half a gigabyte, or an endless query, could be written by a database of some kilobytes."""
    text = f"CREATE TRIGGER t AFTER UPDATE ON runs BEGIN {does}; END"
    path = made(tmp_path / "a.db", text)
    before = rows(path)
    with pytest.raises(BadInput, match="not authorized"):
        databases.move(path, "/old", "/new")
    assert rows(path) == before


ENDLESS = "instr(zeroblob(300000 + length(artifact_uri)), zeroblob(100000) || x'01')"
"""Of 12 kB, it would have a restore take hours."""


@pytest.mark.parametrize(
    "condition", [f"{ENDLESS} = 0", "length(hex(zeroblob(length(artifact_uri) * 5000000))) > 0"]
)
def test_constraints_are_not_asked(tmp_path, condition):
    path = made(tmp_path / "a.db")
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE experiments (artifact_uri TEXT CHECK ({condition}))")
        database.execute("PRAGMA ignore_check_constraints=ON")
        database.execute("INSERT INTO experiments VALUES ('file:///old/2')")
    database.close()
    databases.check(path)
    assert databases.move(path, "/old", "/new") == 2


COMPUTED = {
    "an index": f"CREATE INDEX i ON runs ({ENDLESS})",
    "a part": "CREATE INDEX i ON runs (artifact_uri) WHERE length(artifact_uri) > 10",
    "a column": f"ALTER TABLE runs ADD COLUMN c AS ({ENDLESS})",
    "a column of another table": "CREATE TABLE models (name, c AS(hex(zeroblob(16000000))))",
    "a column that is kept": "CREATE TABLE models (name, c AS (name || name) STORED)",
    "a column behind an allowed one": """CREATE TABLE models (a, b /* GENERATED ALWAYS AS (a - a)
        STORED */ AS (hex(a)))""",
    "a view": "CREATE VIEW models AS SELECT hex(zeroblob(16000000)) AS name",
    "a trigger": "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM runs; END",
    "a virtual table": "CREATE VIRTUAL TABLE models USING fts5(name)",
    "a view in bytes": """UPDATE sqlite_master SET type = 'view', rootpage = 0,
        sql = CAST('CREATE VIEW runs AS SELECT 1 AS other' AS BLOB)""",
}


@pytest.mark.parametrize("how", COMPUTED)
def test_what_is_computed_is_refused(tmp_path, how):
    """A column of a megabyte of file had `ricochet list` take gigabytes."""
    path = made(tmp_path / "a.db")
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM runs")
        database.execute("PRAGMA writable_schema=ON")
        database.execute(COMPUTED[how])
    database.close()
    with pytest.raises(BadInput, match="found what is computed: CREATE"):
        databases.check(path)


def test_mlflows_own_database_is_let_in(migrated_store):
    """Its trigger and the one column that it computes with it."""
    databases.check(migrated_store)
    with databases.opened(migrated_store, read_only=True) as database:
        texts = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_master") if sql]
    assert [text for text in texts if "TRIGGER" in text]
    assert [text for text in texts if "GENERATED" in text]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE INDEX i ON runs (other COLLATE NOCASE, artifact_uri DESC)",
        "CREATE INDEX i ON runs ( coalesce(artifact_uri, other) ) WHERE other IS NOT NULL",
        "CREATE UNIQUE INDEX i ON runs\n (other)\n WHERE artifact_uri = 'SCHEDULED' AND other = 1",
    ],
)
def test_indexes_as_prefect_makes_them_are_let_in(tmp_path, statement):
    databases.check(made(tmp_path / "a.db", statement))


def test_a_database_that_takes_too_long_is_given_up(tmp_path, monkeypatch):
    """One of 100 kB, whose schema's pages lead to one another, had a restore run for ever."""
    monkeypatch.setattr(databases, "SECONDS", 0.3)
    path = made(tmp_path / "a.db")
    with sqlite3.connect(path) as database:
        database.executemany("INSERT INTO runs VALUES (?, '')", [("a",)] * 3000)
    database.close()
    with (
        pytest.raises(BadInput, match=r"more than 0\.3 s of work"),
        databases.refusing(path),
        databases.opened(path) as database,
    ):
        database.execute("SELECT count(*) FROM runs a, runs b, runs c").fetchone()


def test_ctrl_c_ends_it(tmp_path):
    path = made(tmp_path / "a.db")
    with sqlite3.connect(path) as database:
        database.executemany("INSERT INTO runs VALUES (?, '')", [("a",)] * 3000)
    database.close()
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored here
    try:
        threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
        with (
            pytest.raises(KeyboardInterrupt),
            databases.refusing(path),
            databases.opened(path) as database,
        ):
            database.execute("SELECT count(*) FROM runs a, runs b, runs c").fetchone()
    finally:
        signal.signal(signal.SIGINT, handler)


def test_a_view_or_a_trigger_of_many_values_is_bounded(tmp_path):
    """Whatever computes them, SQLite takes little."""
    with databases.opened(tmp_path / "a.db") as database:
        with pytest.raises(sqlite3.DataError, match="too big"):
            database.execute(f"SELECT hex(zeroblob({databases.LARGEST}))").fetchone()
        with pytest.raises(MemoryError):
            many = ", ".join(f"hex(zeroblob(33000000 - {each}))" for each in range(40))
            database.execute(f"SELECT length(max({many}))").fetchone()


def test_an_index_by_json_as_prefect_has_is_read(tmp_path):
    index = "CREATE INDEX i ON runs (json_extract(other, '$.a'), other)"
    path = made(tmp_path / "b.db", "UPDATE runs SET other = '{}'", index)
    databases.check(path)
    databases.copy(path, tmp_path / "c.db")
    assert databases.count(tmp_path / "c.db", "runs") == 1


@pytest.mark.slow
def test_prefects_own_database_is_copied_and_counted(tmp_path):
    """Of the version that is installed, by the SQLite that is."""
    with_prefect(tmp_path)
    databases.copy(tmp_path / "prefect.db", tmp_path / "copy.db")
    assert databases.count(tmp_path / "copy.db", "flow_run") == 0
    with databases.opened(tmp_path / "copy.db", read_only=True) as database:
        assert "flow_run" in databases.tables(database)
