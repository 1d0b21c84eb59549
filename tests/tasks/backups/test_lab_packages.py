"""Packages that a lab keeps in a folder of its own come back there, or nothing is touched."""

import shutil

import pytest

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import backup, contents, manifests, restore
from ricochet.tasks.backups.contents import Stated
from ricochet.tasks.backups.postgres import Server
from ricochet.tasks.registry import lab_places, lab_state
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


def noted(state, stated):
    """Do as `up --config` does when it starts; returns the id of the registry."""
    lab_places.take(state, stated.places(state), database=False)
    return lab_state.read(state).registry


def test_no_backup_is_made_of_other_packages_than_the_lab_s(state, packages, tmp_path):
    """It said how many versions it had, and held the files of none."""
    stated, other = Stated(packages=packages), tmp_path / "other"
    noted(state, stated)
    other.mkdir()
    for named in (Stated(packages=other), Stated(), Stated(bucket="s3://lab/packages")):
        with pytest.raises(BadInput, match=f"{state} was with, expected {packages}; or, to begin"):
            backup.make(tmp_path / "monday", stated=named)
    assert not (tmp_path / "monday").exists()
    made = backup.make(tmp_path / "monday", stated=stated)
    assert f"{contents.PACKAGES}/{lab_places.NOTE}" in made.files


def test_what_is_restored_elsewhere_is_a_lab_of_its_own(state, packages, tmp_path, monkeypatch):
    stated, tried = Stated(packages=packages), tmp_path / "tried"
    original = noted(state, stated)
    backup.make(tmp_path / "monday", stated=stated)
    restore.put_back(tmp_path / "monday", tried)
    with pytest.raises(BadInput, match=f"with another `state` than {tried}"):
        lab_places.refuse_others(tried, stated.places(tried))
    assert noted(tried, Stated()) != original
    assert noted(state, stated) == original
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tried))
    backup.make(tmp_path / "tuesday", stated=Stated())


@pytest.mark.usefixtures("packages")
def test_a_lab_whose_packages_are_in_a_bucket_is_tried_with_it(state, tmp_path):
    stated, tried = Stated(bucket="s3://lab/packages"), tmp_path / "tried"
    noted(state, stated)
    backup.make(tmp_path / "monday", stated=stated)
    restore.put_back(tmp_path / "monday", tried)
    assert noted(tried, stated) != noted(state, stated)


def test_what_is_restored_in_place_is_another_registry_than_what_was_moved_aside(
    state, packages, tmp_path
):
    stated = Stated(packages=packages)
    original = noted(state, stated)
    backup.make(tmp_path / "monday", stated=stated)
    done = restore.put_back(tmp_path / "monday", state, stated=stated, replace=True)
    assert noted(state, stated) != original
    with pytest.raises(BadInput, match=f"with another `state` than {state}"):
        lab_places.refuse_others(state, Stated(packages=done.packages_aside).places(state))
    assert noted(done.aside, Stated(packages=done.packages_aside)) == original


def test_a_copy_of_what_was_restored_and_not_yet_started_is_known_as_such(
    state, packages, tmp_path
):
    """Both were started on the same packages."""
    stated, copy = Stated(packages=packages), tmp_path / "copy"
    noted(state, stated)
    backup.make(tmp_path / "monday", stated=stated)
    restore.put_back(tmp_path / "monday", state, stated=stated, replace=True)
    shutil.copytree(state, copy)
    with pytest.raises(BadInput, match=f"{copy}, a copy of {state}, whose"):
        noted(copy, stated)
    noted(state, stated)
