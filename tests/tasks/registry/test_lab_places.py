"""A lab's state goes on with the databases and packages that it was with, wherever they are now."""

import json
import shutil

import pytest

from ricochet.flows.servers import up
from ricochet.flows.servers.lab import Lab
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import lab_databases, lab_places, lab_state
from ricochet.tasks.registry.lab_databases import Database
from ricochet.tasks.registry.lab_notes import Note

MLFLOW, PREFECT, STORE = lab_places.MLFLOW, lab_places.PREFECT, lab_places.STORE


@pytest.fixture
def state(tmp_path):
    """A lab's state whose packages are in a folder of their own."""
    state = tmp_path / "state"
    state.mkdir()
    take(state, tmp_path / "packages")
    return state


def take(state, store="", **databases):
    """Do as `up --config` does when it starts."""
    found = lab_places.of_lab(state, databases, str(store), passwords=None)
    lab_places.take(state, found, database=MLFLOW in databases)


def forget(state, key):
    """Do as a refusal says."""
    mark = json.loads((state / lab_state.MARK).read_text())
    del mark["places"][key]
    (state / lab_state.MARK).write_text(json.dumps(mark))


@pytest.mark.parametrize("other", ["", "other", "s3://lab/packages"])
def test_another_folder_of_packages_is_refused_until_the_state_forgets_its_own(
    state, tmp_path, other
):
    """Sound packages were said to be damaged, and a backup held none of them."""
    store = str(tmp_path / other) if other == "other" else other
    take(state, tmp_path / "packages")
    said = rf"{STORE}: .* which is not what {state} was with, expected {tmp_path}/packages; or, "
    with pytest.raises(BadInput, match=rf"{said}.* no {STORE} in {state}/lab.json"):
        take(state, store)
    assert not (tmp_path / "other").exists()
    forget(state, STORE)
    take(state, store)
    with pytest.raises(BadInput, match="which is not what"):
        take(state, tmp_path / "third")


def test_packages_and_a_state_that_were_moved_are_the_lab_s(state, tmp_path):
    (tmp_path / "packages").rename(tmp_path / "elsewhere")
    moved = state.rename(tmp_path / "moved")
    take(moved, tmp_path / "elsewhere")
    assert lab_state.read(moved).places == {STORE: str(tmp_path / "elsewhere")}
    shutil.copytree(tmp_path / "elsewhere", moved / "mlflow" / "artifacts")
    take(moved)


def test_a_copy_of_a_state_does_not_go_on_with_what_is_the_original_s(state, tmp_path):
    """Two labs ran on one database."""
    copy = tmp_path / "copy"
    shutil.copytree(state, copy)
    with pytest.raises(BadInput, match=rf"{copy}, a copy of {state}, whose {STORE} it names"):
        take(copy, tmp_path / "packages")
    take(state, tmp_path / "packages")
    state.rename(tmp_path / "gone")
    take(copy, tmp_path / "packages")  # which was moved, for all that can be known
    take(copy, tmp_path / "packages")


def test_a_copy_of_a_state_that_holds_all_is_a_lab_of_its_own(tmp_path):
    own, copy = tmp_path / "own", tmp_path / "copy"
    own.mkdir()
    take(own)
    shutil.copytree(own, copy)
    take(copy)
    take(own)


def test_packages_whose_disk_is_not_there_are_missed(state, tmp_path):
    (tmp_path / "packages").rename(tmp_path / "disk")
    (tmp_path / "packages").mkdir()
    with pytest.raises(BadInput, match=rf"{STORE}: found {tmp_path}/packages, which is not what"):
        take(state, tmp_path / "packages")


def test_packages_of_another_lab_are_refused_until_their_note_is_gone(state, tmp_path):
    second = tmp_path / "second"
    second.mkdir()
    for _ in range(2):
        with pytest.raises(BadInput, match=rf"with another `state` than {second}, .* no ricochet"):
            take(second, tmp_path / "packages")
        assert not lab_state.is_marked(second)
    (tmp_path / "packages" / lab_places.NOTE).unlink()
    take(second, tmp_path / "packages")
    with pytest.raises(BadInput, match=f"with another `state` than {state}"):
        take(state, tmp_path / "packages")


def test_a_bucket_is_known_by_its_address(tmp_path):
    take(tmp_path, "s3://lab/packages")
    take(tmp_path, "s3://lab/packages")
    for other in ("s3://lab/others", ""):
        with pytest.raises(BadInput, match=r"which is not what .* expected s3://lab/packages; or"):
            take(tmp_path, other)


@pytest.mark.parametrize("database", [False, True])
def test_a_mark_of_before_is_completed(tmp_path, database):
    before = {"schema": "ricochet.lab/1", "database": database}
    (tmp_path / lab_state.MARK).write_text(json.dumps(before))
    take(tmp_path)
    take(tmp_path)
    with pytest.raises(BadInput, match="which is not what"):
        take(tmp_path, tmp_path / "other")


def test_a_start_that_was_killed_before_its_end_is_gone_on_with(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(lab_places.Folder, "note", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            take(tmp_path)
    take(tmp_path)
    registry = lab_state.read(tmp_path).registry
    (tmp_path / lab_state.MARK).write_text(
        json.dumps({"schema": "ricochet.lab/1", "database": False, "registry": registry})
    )
    take(tmp_path)
    assert lab_state.read(tmp_path).registry == registry


def test_up_starts_nothing_on_packages_of_nobody(state, tmp_path):
    lab = Lab(state=state, mlflow_port=0, prefect_port=0, artifact_store=str(tmp_path / "other"))
    with (
        pytest.raises(BadInput, match="which is not what"),
        up.servers(up.Request(lab, shared=True)),
    ):
        pytest.fail("started")
    assert not (state / up.LOGS).exists()


@pytest.mark.slow
def test_another_database_is_refused_and_the_same_one_at_another_place_is_not(
    server, databases, tmp_path
):
    """The registry was said to be empty, and a backup of nothing was made."""
    take(tmp_path, **databases)
    server.execute("CREATE DATABASE another")
    for key in databases:
        changed = {**databases, key: server.address("another")}
        with pytest.raises(BadInput, match=rf"{key}: found {server.folder}:\d+/another, which is"):
            take(tmp_path, **changed)
    assert server.execute("SELECT count(*) FROM pg_class WHERE relname = 'ricochet_lab'") == [(0,)]
    with pytest.raises(BadInput, match=rf"{PREFECT}: found none, expected {server.folder}:\d+/pre"):
        take(tmp_path, **{MLFLOW: databases[MLFLOW]})
    server.execute("DROP DATABASE another")
    server.execute("CREATE DATABASE another TEMPLATE mlflow")
    copied = f"postgresql://{server.user}@127.0.0.1:{server.port}/another"
    take(tmp_path, **{**databases, MLFLOW: copied})
    assert lab_state.read(tmp_path).places[MLFLOW] == f"127.0.0.1:{server.port}/another"


@pytest.mark.slow
def test_a_second_state_on_one_database_is_refused(server, databases, tmp_path):
    """Two `up` were on one registry, and each called the packages of the other damaged."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    take(tmp_path / "first", **databases)
    with pytest.raises(BadInput, match=r"another `state` .* `DELETE FROM ricochet_lab` there"):
        take(tmp_path / "second", **databases)
    take(tmp_path / "first", **databases)
    for name in ("mlflow", "prefect"):
        server.execute("DELETE FROM ricochet_lab", name=name)
    take(tmp_path / "second", **databases)
    with pytest.raises(BadInput, match=f"{MLFLOW}: found .*another `state`"):
        take(tmp_path / "first", **databases)


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        "CREATE VIEW ricochet_lab AS SELECT pg_read_file('/etc/hostname') AS registry",
        "CREATE TABLE ricochet_lab (registry text);"
        "ALTER TABLE ricochet_lab ENABLE ROW LEVEL SECURITY",
        "CREATE TABLE ricochet_lab (registry text);"
        "CREATE FUNCTION run() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
        "CREATE TRIGGER t BEFORE INSERT ON ricochet_lab FOR EACH ROW EXECUTE FUNCTION run()",
        "CREATE TABLE ricochet_lab (registry text);"
        "CREATE RULE r AS ON INSERT TO ricochet_lab DO ALSO SELECT 1",
        "CREATE TABLE ricochet_lab (registry text CHECK (length(registry) > 0))",
        "CREATE TABLE ricochet_lab (registry text, more text DEFAULT current_user)",
        "CREATE DOMAIN id AS text CHECK (length(value) > 0); CREATE TABLE ricochet_lab (a id)",
        "CREATE TABLE ricochet_lab (registry text); CREATE INDEX ON ricochet_lab (upper(registry))",
    ],
)
def test_what_stands_for_the_note_and_runs_something_is_not_read(server, databases, tmp_path, made):
    server.execute(made, name="mlflow")
    with pytest.raises(
        BadInput, match="ricochet_lab: found no plain table, expected that, or none"
    ):
        take(tmp_path, **databases)
    assert not lab_state.is_marked(tmp_path)


@pytest.mark.slow
def test_neither_one_database_for_both_nor_each_other_s_is_taken(server, databases, tmp_path):
    """MLflow's tables were put into Prefect's, and no server answered."""
    by_port = f"postgresql://{server.user}@127.0.0.1:{server.port}/mlflow"
    for same in (databases[MLFLOW], by_port):
        with pytest.raises(BadInput, match=r"prefect_database: found .*/mlflow, the one of MLflow"):
            take(tmp_path, **{MLFLOW: databases[MLFLOW], PREFECT: same})
    tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"
    assert server.execute(tables, name="mlflow") == [(0,)] and not lab_state.is_marked(tmp_path)
    server.execute("CREATE TABLE flow_run (id int)", name="prefect")
    server.execute("CREATE TABLE registered_models (id int)", name="mlflow")
    exchanged = {MLFLOW: databases[PREFECT], PREFECT: databases[MLFLOW]}
    with pytest.raises(BadInput, match=r"mlflow_database: found .*/prefect, a database of Prefect"):
        take(tmp_path, **exchanged)
    with pytest.raises(BadInput, match=r"prefect_database: found .*/mlflow, a database of MLflow"):
        take(tmp_path, **{PREFECT: databases[MLFLOW]})
    take(tmp_path, **databases)


@pytest.mark.slow
@pytest.mark.parametrize("soon", ["starting up", "shutting down", "in recovery mode"])
def test_a_database_that_is_not_there_is_said_in_a_line_and_one_that_starts_is_awaited(
    server, monkeypatch, soon
):
    import psycopg2

    with pytest.raises(BadInput, match=r'/absent: found .*database "absent" does not exist'):
        Database(server.address("absent"), patience=60.0).look()
    connect, asked = psycopg2.connect, []

    def starting(*words, **named):
        asked.append(words)
        if len(asked) < 3:
            said = ["Connection refused", f"FATAL: the database system is {soon}"]
            raise psycopg2.OperationalError(said[len(asked) - 1])
        return connect(*words, **named)

    monkeypatch.setattr(psycopg2, "connect", starting)
    found = Database(server.address("postgres"), patience=60.0).look()
    assert found.note is None and not found.mlflow and len(asked) == 3
    asked.clear()
    with pytest.raises(BadInput, match="Connection refused"):
        Database(server.address("postgres")).look()


def test_an_id_that_is_none_makes_no_statements():
    with pytest.raises(ValueError, match="invalid literal"):
        lab_databases.statements(Note("'; DROP TABLE runs; --"))
