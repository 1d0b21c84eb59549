"""The outputs of a lab, to be backed up and restored."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from ricochet.tasks.recordings import dvc_publish
from ricochet.tasks.registry import packages, promotion_log, runs, versions
from ricochet.tasks.registry.aliases import CHAMPION
from ricochet.tasks.registry.promotion_log import AliasPair, Entry
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests import grid_packages
from tests.stores import copied

NAME = "ping-pong-table"


@pytest.fixture(scope="session")
def made_state(tmp_path_factory, migrated_store):
    """A lab's outputs, made once: two versions, a champion, its log, a session, flow runs."""
    place = tmp_path_factory.mktemp("lab") / "artifacts"
    with pytest.MonkeyPatch.context() as patch:
        alone(patch, place)
        copied(migrated_store, place / "mlflow")
        register(place, 1)
        tracker = register(place, 2)
        tracker.client.set_registered_model_alias(NAME, CHAMPION, "2")
        pairs = (AliasPair(None, None), AliasPair("2", None))
        entry = Entry("promote", NAME, *pairs, "run", "")
        promotion_log.settle(promotion_log.append(entry), "done")
    (place / "prefect").mkdir()
    with sqlite3.connect(place / "prefect" / "prefect.db") as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE flow_run (id)")
        database.executemany("INSERT INTO flow_run VALUES (?)", [(1,), (2,), (3,)])
    database.close()
    session = place / "nightly" / "capture" / "tonight"
    session.mkdir(parents=True)
    (session / "session.json").write_text("{}")
    return place


@pytest.fixture
def state(tmp_path, monkeypatch, made_state):
    """Such outputs of the test's own, and a remote."""
    place = tmp_path / "artifacts"
    alone(monkeypatch, place)
    shutil.copytree(made_state, place)
    move(place / "mlflow" / "mlflow.db", made_state, place)
    remote = tmp_path / "remote"
    (remote / "files" / "ab").mkdir(parents=True)
    (remote / "files" / "ab" / "cd").write_bytes(b"a recording" * 100)
    monkeypatch.setattr(dvc_publish, "remotes", lambda root: {"published": str(remote)})
    return place


def alone(patch, place):
    """Have outputs at a place, and no servers."""
    patch.setenv("RICOCHET_ARTIFACTS", str(place))
    patch.delenv("MLFLOW_TRACKING_URI", raising=False)
    patch.delenv("PREFECT_HOME", raising=False)


def move(database, before, after):
    """Have a registry that was copied name its files where they are now."""
    with closing(sqlite3.connect(database)) as opened, opened:
        tables = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for _, column, kind, *_ in opened.execute(f'PRAGMA table_info("{table}")').fetchall():
                if kind.startswith(("VARCHAR", "TEXT")):
                    opened.execute(
                        f'UPDATE "{table}" SET "{column}" = replace("{column}", ?, ?) '
                        f'WHERE instr("{column}", ?)',
                        (str(before), str(after), str(before)),
                    )


def register(place, number):
    tracker = runs.connect()
    made = grid_packages.narrow(NAME, (0.8, 3.0), (1e-3, 0.14), number=number)
    packages.write_package(place / f"package-{number}", made, reader=GRID)
    run = runs.open_run(tracker, "calibrate", str(number), name=NAME, tags={})
    words = {"kind": POSTERIOR, "run_id": run.run_id, "tags": {}}
    versions.register(tracker, NAME, place / f"package-{number}", **words)
    runs.finish(tracker, run.run_id)
    shutil.rmtree(place / f"package-{number}")
    return tracker


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
