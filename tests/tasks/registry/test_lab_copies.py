"""Of two copies of a lab's state, or of a part of its registry, one goes on and no other."""

import contextlib
import os
import shutil
import sqlite3

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import lab_places, lab_state
from tests.tasks.registry.test_lab_places import MLFLOW, PREFECT, STORE, forget, take

FORMER = r"{key}: found .*, as it was before .* was last used, expected .*; or, to go on with"


@pytest.fixture
def state(tmp_path):
    """A lab's state whose packages are in a folder of their own."""
    state = tmp_path / "state"
    state.mkdir()
    take(state, tmp_path / "packages")
    return state


def test_a_moved_state_that_left_a_link_is_no_copy_of_itself(state, tmp_path):
    moved = state.rename(tmp_path / "moved")
    state.symlink_to(moved)
    for place in (moved, state, moved):
        take(place, tmp_path / "packages")
    state.unlink()
    take(moved, tmp_path / "packages")


@pytest.mark.parametrize("first", ["original", "copy"])
def test_of_a_copy_and_an_original_that_was_moved_the_first_that_starts_goes_on(
    state, tmp_path, first
):
    copy = tmp_path / "copy"
    shutil.copytree(state, copy)
    original = state.rename(tmp_path / "moved")
    own, other = (original, copy) if first == "original" else (copy, original)
    take(own, tmp_path / "packages")
    said = rf"{STORE}: found {tmp_path}/packages, which has been with {own} since then, expected"
    with pytest.raises(BadInput, match=rf"{said} that `state`; or, once it is gone, no ricochet"):
        take(other, tmp_path / "packages")
    take(own, tmp_path / "packages")
    shutil.rmtree(own)
    (tmp_path / "packages" / lab_places.NOTE).unlink()
    forget(other, STORE)
    take(other, tmp_path / "packages")


def test_a_copy_that_holds_all_is_not_given_what_the_first_takes_later(tmp_path):
    own, copy = tmp_path / "own", tmp_path / "copy"
    own.mkdir()
    take(own)
    shutil.copytree(own, copy)
    take(copy)
    forget(own, STORE)
    take(own, tmp_path / "packages")
    forget(copy, STORE)
    with pytest.raises(BadInput, match=f"which has been with {own} since then"):
        take(copy, tmp_path / "packages")


def test_a_folder_that_was_left_behind_by_a_move_is_not_gone_back_to(state, tmp_path):
    """An older file of the lab named it: what was registered since was not there."""
    shutil.copytree(tmp_path / "packages", tmp_path / "moved")
    take(state, tmp_path / "moved")
    take(state, tmp_path / "moved")
    with pytest.raises(BadInput, match=FORMER.format(key=STORE)):
        take(state, tmp_path / "packages")
    assert lab_state.read(state).places[STORE] == str(tmp_path / "moved")
    forget(state, STORE)
    take(state, tmp_path / "packages")


def test_what_is_put_back_where_it_was_is_gone_on_with(state, tmp_path):
    """An earlier copy, as of a disk that was lost."""
    shutil.copytree(tmp_path / "packages", tmp_path / "kept")
    take(state, tmp_path / "packages")
    shutil.rmtree(tmp_path / "packages")
    (tmp_path / "kept").rename(tmp_path / "packages")
    take(state, tmp_path / "packages")


def test_a_start_that_was_killed_as_it_noted_is_gone_on_with_where_the_state_was_moved(
    state, tmp_path, monkeypatch
):
    moved = state.rename(tmp_path / "moved")
    note = lab_places.Folder.note
    with monkeypatch.context() as patched:
        patched.setattr(lab_places.Folder, "note", lambda *words: note(*words) or 1 / 0)
        with pytest.raises(ZeroDivisionError):
            take(moved, tmp_path / "packages")
    take(moved, tmp_path / "packages")


def test_a_state_whose_name_is_no_text_is_gone_on_with(tmp_path):
    state = tmp_path / os.fsdecode(b"lab \xff's")
    state.mkdir()
    for _ in range(2):
        take(state, tmp_path / "packages")
    moved = state.rename(tmp_path / "moved")
    take(moved, tmp_path / "packages")


def test_a_note_of_before_is_completed(state, tmp_path):
    file = tmp_path / "packages" / lab_places.NOTE
    registry = lab_state.read(state).registry
    file.write_text(f'{{"schema": "{lab_places.SCHEMA}", "registry": "{registry}"}}')
    take(state, tmp_path / "packages")
    assert str(state) in file.read_text()


@pytest.mark.slow
def test_a_database_that_was_left_behind_by_a_move_is_not_gone_back_to(server, databases, tmp_path):
    """Its registry was older, and so was the backup of it."""
    take(tmp_path, **databases)
    server.execute("CREATE DATABASE another TEMPLATE mlflow")
    for _ in range(2):
        take(tmp_path, **{**databases, MLFLOW: server.address("another")})
    with pytest.raises(BadInput, match=FORMER.format(key=MLFLOW)):
        take(tmp_path, **databases)


@pytest.mark.slow
def test_a_database_of_before_is_completed(server, databases, tmp_path):
    take(tmp_path, **databases)
    registry = lab_state.read(tmp_path).registry
    server.execute("DROP TABLE ricochet_lab; CREATE TABLE ricochet_lab (registry text NOT NULL);"
                   f"INSERT INTO ricochet_lab VALUES ('{registry}')", name="mlflow")  # fmt: skip
    take(tmp_path, **databases)
    found = server.execute("SELECT registry, home, starts FROM ricochet_lab", name="mlflow")
    assert found == [(registry, str(tmp_path), 2)]


@pytest.mark.slow
def test_who_reads_the_note_or_was_let_read_it_is_in_nobody_s_way(server, databases, tmp_path):
    """A dump that takes hours, a role that dumps, and a view."""
    take(tmp_path, **databases)
    server.execute("DROP ROLE IF EXISTS dumps; CREATE ROLE dumps")
    server.execute("GRANT SELECT ON ricochet_lab TO dumps", name="mlflow")
    server.execute("CREATE VIEW seen AS SELECT registry FROM ricochet_lab", name="mlflow")
    import psycopg2

    with contextlib.closing(psycopg2.connect(server.address("mlflow"))) as dump:
        dump.cursor().execute("LOCK TABLE ricochet_lab IN ACCESS SHARE MODE")
        take(tmp_path, **databases)
    seen = "SELECT has_table_privilege('dumps', 'ricochet_lab', 'SELECT'), count(*) FROM seen"
    assert server.execute(seen, name="mlflow") == [(True, 1)]
    server.execute("DROP VIEW seen; DROP OWNED BY dumps; DROP ROLE dumps", name="mlflow")


@pytest.mark.slow
def test_another_user_goes_on_with_what_the_former_made(server, databases, tmp_path):
    server.execute("DROP ROLE IF EXISTS former; CREATE ROLE former")
    take(tmp_path, **databases)
    server.execute("ALTER TABLE ricochet_lab OWNER TO former", name="mlflow")
    take(tmp_path, **databases)


@pytest.mark.slow
def test_of_two_that_start_at_one_moment_one_has_the_databases(databases, tmp_path):
    """Both had looked before either noted."""
    states = [tmp_path / "first", tmp_path / "second"]
    looked = []
    for state in states:
        state.mkdir()
        looked.append(lab_places.of_lab(state, databases, "", passwords=None))
        lab_places.refuse_others(state, looked[-1])
    lab_places.take(states[0], looked[0], database=True)
    with pytest.raises(BadInput, match="one that another `up` takes now, expected one at a time"):
        lab_places.take(states[1], looked[1], database=True)
    take(states[0], **databases)
    with pytest.raises(BadInput, match="with another `state`"):
        take(states[1], **databases)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["flow_run", "variable"])
def test_a_database_that_is_named_later_hides_no_flow_runs(databases, tmp_path, table):
    """Deployments and variables were gone, and no backup held them."""
    take(tmp_path)
    place = tmp_path / "prefect"
    place.mkdir()
    (place / "prefect.db").touch()
    lab_state.refuse_flow_runs(tmp_path)
    with contextlib.closing(sqlite3.connect(place / "prefect.db")) as store, store:
        for name in ("flow_run", "variable"):
            store.execute(f"CREATE TABLE {name} (id TEXT)")
    lab_state.refuse_flow_runs(tmp_path)
    with contextlib.closing(sqlite3.connect(place / "prefect.db")) as store, store:
        store.execute(f"INSERT INTO {table} VALUES ('a')")
    said = f"{PREFECT}: found one, beside 1 flow runs and variables in {place}/prefect.db"
    with pytest.raises(BadInput, match=said):
        take(tmp_path, **{PREFECT: databases[PREFECT]})
    (place / "prefect.db").write_text("no database")
    with pytest.raises(BadInput, match=f"{place}/prefect.db: found file is not a database"):
        take(tmp_path, **{PREFECT: databases[PREFECT]})
    place.rename(tmp_path / "aside")
    take(tmp_path, **{PREFECT: databases[PREFECT]})
