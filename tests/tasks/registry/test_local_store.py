"""A store is made whole or not at all, and only once."""

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import local_store


def test_a_store_that_is_ended_while_it_is_made_is_made_anew(tmp_path, monkeypatch):
    """Its tables are committed one by one: what has some of them no migration completes."""
    store, asked = tmp_path / "mlflow" / "mlflow.db", []

    def migrate(uri):
        file = local_store.file_of(uri)
        asked.append(file)
        with file.open("a") as half:
            half.write("a table")
        if len(asked) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(local_store, "_migrate", migrate)
    with pytest.raises(KeyboardInterrupt):
        local_store.create(store)
    assert not store.exists()
    local_store.create(store)
    local_store.create(store)
    partial = store.with_name(".mlflow.db.partial")
    assert asked == [partial, partial, store]
    assert store.read_text() == "a table" * 2 and not partial.exists()


def test_one_that_was_left_half_made_is_named(tmp_path, monkeypatch):
    def migrate(_):
        raise ValueError("table trace_info already exists\n[SQL: CREATE TABLE trace_info]")

    monkeypatch.setattr(local_store, "_migrate", migrate)
    (tmp_path / "mlflow.db").write_text("some tables")
    with pytest.raises(BadInput, match=r"cannot be completed .*already exists.*, or none") as found:
        local_store.create(tmp_path / "mlflow.db")
    assert str(found.value).isprintable() and str(tmp_path / "mlflow.db") in str(found.value)
    assert (tmp_path / "mlflow.db").read_text() == "some tables"


@pytest.mark.parametrize("uri", ["http://127.0.0.1:5000", "postgresql://a@b/c", "databricks"])
def test_a_store_that_is_no_file_has_none(uri, tmp_path):
    assert local_store.file_of(uri) is None
    assert local_store.file_of(f"sqlite:///{tmp_path / 'a.db'}") == tmp_path / "a.db"
