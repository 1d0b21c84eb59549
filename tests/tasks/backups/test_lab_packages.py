"""Packages that a lab keeps in a folder of its own come back there, or nothing is touched."""

import shutil

import pytest

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import backup, contents, manifests, restore
from ricochet.tasks.backups.contents import Stated
from ricochet.tasks.backups.postgres import Server
from ricochet.tasks.storage import exchange
from tests.crash import kill
from tests.tasks.backups.states import tree


@pytest.fixture
def packages(state, tmp_path):
    """The lab's own folder."""
    place = tmp_path / "mount" / "packages"
    place.parent.mkdir()
    (state / "mlflow" / "artifacts").rename(place)
    return place


@pytest.mark.parametrize("within", [False, True])
def test_packages_come_back_to_the_folder_that_the_labs_file_names(
    state, packages, tmp_path, within
):
    if within:
        packages = packages.rename(state / "packages")
    before, stated = tree(packages), Stated(packages=packages)
    assert before
    backup.make(tmp_path / "monday", stated=stated)
    shutil.rmtree(packages)
    shutil.rmtree(state)
    done = restore.put_back(tmp_path / "monday", state, stated=stated)
    assert tree(packages) == before and done.packages_aside is None
    assert not (state / "mlflow" / "artifacts").exists()
    assert backup.counts(state) == manifests.read(tmp_path / "monday").counts
    assert not [path for path in (state.parent, packages.parent) if list(path.glob(".*"))]


def test_servers_that_start_meanwhile_are_asked_about_with_the_lock(state, tmp_path):
    """They write that they start, then look at the lock."""
    backup.make(tmp_path / "monday")
    before = tree(state)

    def refuse():
        with pytest.raises(locks.BusyError), locks.hold(exchange.lock_of(state)):
            pytest.fail("not held")
        raise BadInput(str(state), "servers that run", "none")

    with pytest.raises(BadInput, match="servers that run"):
        restore.put_back(tmp_path / "monday", state, replace=True, refuse=refuse)
    assert tree(state) == before


def test_a_backup_without_the_folder_of_packages_is_refused(state, packages, tmp_path):
    packages.rename(tmp_path / "away")
    with pytest.raises(BadInput, match="artifact_store"):
        backup.make(tmp_path / "monday", stated=Stated(packages=packages))
    assert not (tmp_path / "monday").exists()


def test_what_is_in_the_folder_stays_or_is_moved_aside(state, packages, tmp_path):
    stated = Stated(packages=packages)
    backup.make(tmp_path / "monday", stated=stated)
    before = tree(packages)
    shutil.rmtree(state)
    (packages / "later").write_text("later")
    with pytest.raises(BadInput, match=r"packages: found .*--replace"):
        restore.put_back(tmp_path / "monday", state, stated=stated)
    assert (packages / "later").exists() and not state.exists()
    done = restore.put_back(tmp_path / "monday", state, stated=stated, replace=True)
    assert tree(packages) == before and (done.packages_aside / "later").read_text() == "later"


def test_where_the_state_cannot_be_put_back_neither_are_packages(
    state, packages, tmp_path, monkeypatch
):
    stated, put = Stated(packages=packages), exchange._put
    backup.make(tmp_path / "monday", stated=stated)
    before = tree(packages), tree(state)

    def failing(move):
        if move.place == state:
            raise OSError("the disk is gone")
        put(move)

    monkeypatch.setattr(exchange, "_put", failing)
    with pytest.raises(BadInput, match="gone"):
        restore.put_back(tmp_path / "monday", state, stated=stated, replace=True)
    assert (tree(packages), tree(state)) == before
    assert [path.name for path in packages.parent.iterdir()] == ["packages"]


def test_what_was_written_among_packages_after_a_kill_is_kept_and_named(
    state, packages, tmp_path, monkeypatch
):
    stated, put = Stated(packages=packages), exchange._put
    backup.make(tmp_path / "monday", stated=stated)
    before = tree(packages)
    with monkeypatch.context() as patched:
        patched.setattr(exchange, "_put", lambda move: (put(move), kill.now()))
        kill.forked(
            lambda: restore.put_back(tmp_path / "monday", state, stated=stated, replace=True)
        )
    (packages / "later").write_text("later")
    done = restore.put_back(tmp_path / "monday", state, stated=stated, replace=True)
    (kept,) = done.undone
    assert (kept / "later").read_text() == "later" and tree(packages) == before
    assert tree(done.packages_aside) == before
    assert len(list(packages.parent.iterdir())) == 3


def test_a_database_of_sqlite_is_not_lost_where_a_lab_s_file_names_another(state, tmp_path):
    """It was said to be restored, and nothing reads it there."""
    backup.make(tmp_path / "monday")
    stated = Stated({contents.MLFLOW: Server("postgresql://localhost/mlflow")})
    before = tree(state)
    with pytest.raises(BadInput, match=r"mlflow.db: found a database of SQLite, expected a lab's"):
        restore.put_back(tmp_path / "monday", state, replace=True, stated=stated)
    assert tree(state) == before
