"""Databases of a backup are moved as rows; nothing that they bring along runs."""

import sqlite3

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import databases


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
