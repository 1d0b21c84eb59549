"""The outputs of a lab, to be backed up and restored."""

import shutil
import sqlite3

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


@pytest.fixture
def state(tmp_path, monkeypatch, migrated_store):
    """A lab's outputs: two versions, a champion, its log, a remote, a session, flow runs."""
    place = tmp_path / "artifacts"
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(place))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("PREFECT_HOME", raising=False)
    copied(migrated_store, place / "mlflow")
    remote = tmp_path / "remote"
    (remote / "files" / "ab").mkdir(parents=True)
    (remote / "files" / "ab" / "cd").write_bytes(b"a recording" * 100)
    monkeypatch.setattr(dvc_publish, "remotes", lambda root: {"published": str(remote)})
    register(place, 1)
    tracker = register(place, 2)
    tracker.client.set_registered_model_alias(NAME, CHAMPION, "2")
    pairs = (AliasPair(None, None), AliasPair("2", None))
    promotion_log.settle(promotion_log.append(Entry("promote", NAME, *pairs, "run", "")), "done")
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
