"""What a backup holds comes back, here or elsewhere, after the originals are gone; or nothing."""

import json
import os
import shutil
import sqlite3
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import backup, contents, databases, manifests, restore
from ricochet.tasks.backups.contents import Stated
from ricochet.tasks.registry import promotion_log, runs, versions
from ricochet.tasks.registry.aliases import CHAMPION
from ricochet.tasks.registry.promotion_log import AliasPair, Entry
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.storage import exchange
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests.checkouts import ROOT
from tests.crash import kill
from tests.tasks.backups.states import NAME, tree


def found():
    """Return what the registry, its packages and the log say."""
    tracker = runs.connect()
    model = tracker.client.get_registered_model(NAME)
    kept = {
        number: versions.load(tracker, Registered(NAME, number), kind=POSTERIOR).checks
        for number in ("1", "2")
    }
    return model.aliases, kept, promotion_log.read()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_all_comes_back_after_the_originals_are_destroyed(state, tmp_path, monkeypatch, elsewhere):
    before, counted = found(), backup.counts(state)
    assert counted == {"runs": 2, "versions": 2, "aliases": 2, "flow runs": 3, "promotions": 2}
    made = backup.make(tmp_path / "kept" / "monday")
    assert made.counts == counted
    shutil.rmtree(state)
    shutil.rmtree(tmp_path / "remote")
    place = tmp_path / "other machine" / "outputs" if elsewhere else state
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(place))
    done = restore.put_back(tmp_path / "kept" / "monday", place)
    assert done.counts == counted and done.aside is None
    assert found() == before
    assert (place / "published" / "files" / "ab" / "cd").read_bytes() == b"a recording" * 100
    assert (place / "nightly" / "capture" / "tonight" / "session.json").read_text() == "{}"
    hidden = [path.name for path in (*place.parent.iterdir(), *(tmp_path / "kept").iterdir())]
    assert not [name for name in hidden if name.startswith(".")]


def test_backups_and_what_is_restored_are_their_owners_alone(state, tmp_path):
    before = os.umask(0o022)
    try:
        backup.make(tmp_path / "monday")
        restore.put_back(tmp_path / "monday", tmp_path / "new")
    finally:
        assert os.umask(before) == 0o022
    for folder in (tmp_path / "monday", tmp_path / "new"):
        assert not [path for path in (folder, *folder.rglob("*")) if path.stat().st_mode & 0o077]


def test_a_database_is_copied_as_of_one_instant_while_it_is_written(tmp_path):
    source, target = tmp_path / "a.db", tmp_path / "b.db"
    writer = sqlite3.connect(source)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("CREATE TABLE flow_run (id)")
    writer.execute("INSERT INTO flow_run VALUES (1)")
    writer.commit()
    writer.execute("INSERT INTO flow_run VALUES (2)")  # in the middle of a transaction
    databases.copy(source, target)
    writer.rollback()
    writer.close()
    assert databases.count(target, "flow_run") == 1
    assert sorted(path.name for path in tmp_path.glob("b.db*")) == ["b.db"]


def test_a_backup_says_when_it_was_begun(state, tmp_path, monkeypatch):
    """It said when all was copied."""
    begun = datetime(2026, 11, 26, 3, tzinfo=UTC)
    times = [begun]
    monkeypatch.setattr(backup, "datetime", Mock(now=lambda _: times[-1]))
    later = begun + timedelta(minutes=1)
    made = backup.make(tmp_path / "monday", progress=lambda *_: times.append(later))
    assert times[-1] == later and made.when == "2026-11-26T03:00:00+00:00"


def test_a_later_backup_links_what_has_not_changed_and_is_as_whole(state, tmp_path):
    first = backup.make(tmp_path / "monday")
    promotion_log.append(
        Entry("rollback", NAME, AliasPair("2", None), AliasPair("1", None), "", "")
    )
    second = backup.make(tmp_path / "tuesday", since=tmp_path / "monday")
    file = "published/files/ab/cd"
    assert (tmp_path / "monday" / file).samefile(tmp_path / "tuesday" / file)
    log = "registry/promotions.jsonl"
    assert first.files[log] != second.files[log]
    assert manifests.read(tmp_path / "tuesday") == second


def test_a_backup_never_overwrites_and_a_state_that_is_not_empty_stays(state, tmp_path):
    backup.make(tmp_path / "monday")
    before = tree(tmp_path / "monday")
    with pytest.raises(BadInput, match="a name that is not taken"):
        backup.make(tmp_path / "monday")
    with pytest.raises(BadInput, match="--replace"):
        restore.put_back(tmp_path / "monday", state)
    (state / "mine").write_text("mine")
    done = restore.put_back(tmp_path / "monday", state, replace=True)
    assert (done.aside / "mine").read_text() == "mine" and not (state / "mine").exists()
    assert tree(tmp_path / "monday") == before
    assert int(found()[0][CHAMPION]) == 2


@pytest.mark.parametrize("replace", [False, True])
def test_a_folder_without_a_backup_is_named_before_the_state(state, tmp_path, replace):
    (tmp_path / "empty").mkdir()
    for wrong in ("absent", "empty"):
        with pytest.raises(BadInput, match=f"{wrong}/backup.json") as refused:
            restore.put_back(tmp_path / wrong, state, replace=replace)
        assert "--replace" not in str(refused.value)
    assert int(found()[0][CHAMPION]) == 2


def test_restores_within_one_second_each_keep_what_was_there(state, tmp_path, monkeypatch):
    class Stopped(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2026, 11, 26, tzinfo=tz)

    monkeypatch.setattr(exchange, "datetime", Stopped)
    backup.make(tmp_path / "monday")
    place = tmp_path / "lab" / "state"
    for number in range(3):
        place.mkdir(parents=True, exist_ok=True)
        (place / f"mine-{number}").write_text("mine")
        restored = restore.put_back(tmp_path / "monday", place, replace=True)
        assert (restored.aside / f"mine-{number}").exists()
    assert len(list(place.parent.glob("state.before-*"))) == 3


def test_what_a_restore_leaves_in_a_checkout_is_no_file_of_gits():
    """Passwords lie in it."""
    state = ROOT / "artifacts"
    aside = state.with_name("artifacts.before-20261126T000000")
    for left in (aside, aside.with_name(f"{aside.name}-2"), exchange.staged(state)):
        words = ["git", "check-ignore", "-q", left / "secrets" / "prefect"]
        assert subprocess.run(words, cwd=ROOT).returncode == 0


@pytest.mark.parametrize("lay", [os.mkfifo, lambda path: path.symlink_to("made")])
def test_what_a_stranger_laid_in_place_of_a_lock_is_refused(state, tmp_path, lay):
    lay(tmp_path / ".monday.lock")
    with pytest.raises(BadInput, match="a file or a folder of yours"):
        backup.make(tmp_path / "monday")
    backup.make(tmp_path / "tuesday")
    lay(tmp_path / ".new.lock")
    with pytest.raises(BadInput, match="a file or a folder of yours"):
        restore.put_back(tmp_path / "tuesday", tmp_path / "new")
    assert not {"new", "made", "monday"} & {path.name for path in tmp_path.iterdir()}


def test_a_place_that_others_could_move_away_is_refused(state, tmp_path):
    backup.make(tmp_path / "made")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(BadInput, match="a folder where all may rename"):
        restore.put_back(tmp_path / "made", shared / "state")
    assert list(shared.iterdir()) == []
    shared.chmod(0o1777)
    restore.put_back(tmp_path / "made", shared / "state")


@pytest.mark.parametrize("kept", [None, "packages"])
def test_a_mount_point_in_whose_place_nothing_can_be_renamed_is_said_before_anything_is_done(
    state, tmp_path, monkeypatch, kept
):
    """A volume of a container, or a disk of its own, as `state` or as `artifact_store`."""
    backup.make(tmp_path / "made")
    (place := tmp_path / "volume").mkdir()
    stated = Stated(packages=place) if kept else None
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == place)
    monkeypatch.setattr(exchange, "undo_killed", None)
    target = tmp_path / "new" if kept else place
    with pytest.raises(BadInput, match=f"{place}: found a mount point.* a folder in it") as refused:
        restore.put_back(tmp_path / "made", target, replace=True, stated=stated)
    assert ("artifact_store" if kept else "`state`") in str(refused.value)
    assert not {"new", ".volume.restored", ".new.lock"} & {p.name for p in tmp_path.iterdir()}
    assert list(place.iterdir()) == []


def test_a_folder_of_a_mount_is_exchanged(state, tmp_path, monkeypatch):
    backup.make(tmp_path / "made")
    (place := tmp_path / "volume" / "lab").mkdir(parents=True)
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == place.parent)
    assert restore.put_back(tmp_path / "made", place).state == place


def test_too_little_space_is_said_before_anything_is_written(state, tmp_path, monkeypatch):
    backup.make(tmp_path / "monday")
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(BadInput, match=r"0\.00 GB free"):
        backup.make(tmp_path / "tuesday")
    assert not (tmp_path / "tuesday").exists()
    with pytest.raises(BadInput, match=r"0\.00 GB free"):
        restore.put_back(tmp_path / "monday", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def change(folder, edit):
    content = json.loads((folder / "backup.json").read_text())
    edit(content)
    (folder / "backup.json").write_text(json.dumps(content))


def rename(folder, name):
    """Let the manifest name a file that lies outside, or name one in another way."""
    change(folder, lambda content: content["files"].update({name: content["files"].popitem()[1]}))


def plant(name):
    """Have a backup hold a file more, and say so."""

    def planted(folder):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("version: 1")
        entry = vars(backup.entry_of(folder / name))
        change(folder, lambda content: content["files"].update({name: entry}))

    return planted


STRANGE = (
    "prefect/logging.yml",
    "prefect/profiles.toml",
    "prefect/session.json",
    "secrets/prefect",
    "secrets/session.json",
    "cluster/key.pem",
    "servers.json",
    "session.json",
    "mlflow/more.db",
    "checkout/setup.py",
    "a/b/c/d/session.json",
    ".a/session.json",
    "nightly/capture/a/take-0000.flac",
)
HOSTILE = {
    **{name: plant(name) for name in STRANGE},
    "a byte changed": lambda f: (f / "registry/promotions.jsonl").write_bytes(
        (f / "registry/promotions.jsonl").read_bytes().replace(b"2", b"3", 1)
    ),
    "a file missing": lambda f: (f / "published/files/ab/cd").unlink(),
    "a file more": lambda f: (f / "published" / "more").write_text(""),
    "a link": lambda f: (f / "more").symlink_to("/etc/passwd"),
    "a linked folder": lambda f: (f / "more").symlink_to("/etc", target_is_directory=True),
    "a pipe": lambda f: os.mkfifo(f / "more"),
    "a path upwards": lambda f: rename(f, "../../evil"),
    "an absolute path": lambda f: rename(f, "/tmp/evil"),
    "a path in disguise": lambda f: rename(f, "registry/./promotions.jsonl"),
    "a size below zero": lambda f: change(
        f, lambda c: c["files"]["registry/promotions.jsonl"].update(size=-1)
    ),
    "another schema": lambda f: change(f, lambda c: c.update(schema="ricochet.backup/9")),
    "an unknown key": lambda f: change(f, lambda c: c.update(more=1)),
    "no manifest": lambda f: (f / "backup.json").unlink(),
    "half a manifest": lambda f: (f / "backup.json").write_text("{"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_backup_that_is_not_what_it_says_changes_nothing(tmp_path, how):
    folder, state = tmp_path / "monday", tmp_path / "state"
    files = {"registry/promotions.jsonl": b'{"to": "2"}\n', "published/files/ab/cd": b"sound"}
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(content)
    listed = {name: vars(backup.entry_of(folder / name)) for name in files}
    facts = {"when": "2026-11-26", "commit": "unknown", "state": "/state", "counts": {}}
    (folder / "backup.json").write_text(
        json.dumps({"schema": manifests.SCHEMA, **facts, "files": listed})
    )
    state.mkdir()
    (state / "mine").write_text("mine")
    HOSTILE[how](folder)
    with pytest.raises(BadInput):
        restore.put_back(folder, state, replace=True)
    assert tree(state) == {"mine": b"mine"}
    assert not (tmp_path / "evil").exists()
    assert sorted(path.name for path in tmp_path.iterdir() if "before" in path.name) == []


def test_a_session_brings_back_its_own_files_alone(state, tmp_path):
    session = state / "nightly" / "capture" / "tonight"
    for name in ("take-0000.flac", "motion-0000.csv", "capture.json", "logging.yml", "key.pem"):
        (session / name).write_text(name)
    (session / "deep").mkdir()
    (session / "deep" / "more.json").write_text("{}")
    (session / "linked.json").symlink_to(session / "key.pem")
    made = backup.make(tmp_path / "monday")
    own = {"session.json", "take-0000.flac", "motion-0000.csv", "capture.json"}
    place = "nightly/capture/tonight"
    assert {name for name in made.files if "tonight" in name} == {f"{place}/{x}" for x in own}
    restore.put_back(tmp_path / "monday", tmp_path / "new")
    assert {path.name for path in (tmp_path / "new" / place).iterdir()} == own
    plant(f"{place}/pgpass")(tmp_path / "monday")
    with pytest.raises(BadInput, match="pgpass: found a file that no backup has"):
        restore.put_back(tmp_path / "monday", tmp_path / "newer")


def test_a_database_that_is_none_is_refused_before_anything_is_touched(state, tmp_path):
    backup.make(tmp_path / "monday")
    (tmp_path / "monday" / contents.MLFLOW).write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    entry = vars(backup.entry_of(tmp_path / "monday" / contents.MLFLOW))
    change(tmp_path / "monday", lambda content: content["files"].update({contents.MLFLOW: entry}))
    before = tree(state)
    with pytest.raises(BadInput, match="database"):
        restore.put_back(tmp_path / "monday", state, replace=True)
    assert tree(state) == before


@pytest.mark.proof
def test_a_backup_that_is_killed_at_any_step_is_absent_and_the_next_is_whole(state, tmp_path):
    target = tmp_path / "kept" / "monday"
    target.parent.mkdir()
    expected = backup.counts(state)
    for _ in kill.at_every_step(target.parent, lambda _: backup.make(target)):
        if target.exists():  # it had its name already
            assert manifests.read(target).counts == expected
            shutil.rmtree(target)
    assert manifests.read(target).counts == expected
    assert sorted(path.name for path in target.parent.iterdir()) == ["monday"]


@pytest.mark.proof
def test_a_restore_that_is_killed_at_any_step_can_be_done_again(state, tmp_path):
    kept, place = tmp_path / "monday", tmp_path / "lab" / "state"
    backup.make(kept)
    expected = manifests.read(kept).counts
    place.mkdir(parents=True)
    (place / "mine").write_text("mine")
    again = {"replace": True}
    for _ in kill.at_every_step(place.parent, lambda _: restore.put_back(kept, place, **again)):
        olds = [place, *place.parent.glob("state.before-*")]
        assert any((old / "mine").exists() for old in olds), "what was there is lost"
        if place.exists() and not (place / "mine").exists():  # it was done already
            assert backup.counts(place) == expected
        elif not place.exists():
            with pytest.raises(BadInput, match="killed before its end"):
                contents.refuse_unfinished(place)
    assert backup.counts(place) == expected


def test_a_file_that_grows_after_the_check_is_not_copied_to_its_end(state, tmp_path, monkeypatch):
    backup.make(tmp_path / "monday")
    log, read = tmp_path / "monday" / "registry" / "promotions.jsonl", manifests.read
    monkeypatch.setattr(backup, "CHUNK", 1000)
    written = []

    def grown(folder):
        found = read(folder)
        with log.open("ab") as file:
            file.write(bytes(10**6))
        return found

    copied = backup.copied
    monkeypatch.setattr(manifests, "read", grown)
    monkeypatch.setattr(
        backup, "copied", lambda *a, **k: written.append(copied(*a, **k)) or written[-1]
    )
    with pytest.raises(BadInput, match="other bytes"):
        restore.put_back(tmp_path / "monday", tmp_path / "new")
    assert written[-1].size <= log.stat().st_size - 10**6 + 1000


@pytest.mark.parametrize("whose", ["another user's", "open to all"])
def test_what_others_may_change_later_is_copied(state, tmp_path, monkeypatch, whose):
    backup.make(tmp_path / "monday")
    file = "published/files/ab/cd"
    if whose == "open to all":
        (tmp_path / "monday" / file).chmod(0o666)
    else:
        monkeypatch.setattr(backup.os, "geteuid", lambda: os.getuid() + 1)
    backup.make(tmp_path / "tuesday", since=tmp_path / "monday")
    assert not (tmp_path / "monday" / file).samefile(tmp_path / "tuesday" / file)


def test_what_was_exchanged_or_damaged_in_an_earlier_backup_is_copied(state, tmp_path, monkeypatch):
    """A folder of another user's becomes a link to private files while a backup is made."""
    backup.make(tmp_path / "monday")
    file, linked = "published/files/ab/cd", backup._linked
    right = (tmp_path / "monday" / file).read_bytes()
    private = tmp_path / "private" / "cd"
    private.parent.mkdir()
    private.write_bytes(bytes(len(right)))

    def exchanged(path, target, entry):
        if path.name == "cd" and not path.parent.is_symlink():
            path.parent.rename(tmp_path / "aside")
            path.parent.symlink_to(private.parent)
        return linked(path, target, entry)

    monkeypatch.setattr(backup, "_linked", exchanged)
    backup.make(tmp_path / "tuesday", since=tmp_path / "monday")
    assert (tmp_path / "tuesday" / file).read_bytes() == right
    assert private.stat().st_nlink == 1
    restore.put_back(tmp_path / "tuesday", tmp_path / "new")


def test_what_cannot_be_linked_is_copied(state, tmp_path, monkeypatch):
    """Another user's file, which the kernel lets nobody link, or one on another disk."""
    backup.make(tmp_path / "monday")

    def refuse(*words, **named):
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as patch:
        patch.setattr(backup.os, "link", refuse)
        made = backup.make(tmp_path / "tuesday", since=tmp_path / "monday")
    assert restore.put_back(tmp_path / "tuesday", tmp_path / "new").counts == made.counts


@pytest.mark.parametrize("since", [False, True])
@pytest.mark.parametrize("becomes", ["nothing", "a folder", "a pipe", "a link", "a file's name"])
def test_a_file_that_is_exchanged_after_it_was_listed_is_left_out(
    state, tmp_path, monkeypatch, becomes, since
):
    """An account may exchange files of its runs all the time; the others are backed up."""
    earlier = tmp_path / "monday" if since else None
    if earlier:
        backup.make(earlier)
    path, listed = tmp_path / "remote" / "files" / "ab" / "cd", backup._copy_all
    (path.parent / "other").write_bytes(b"another's")

    def exchanged(copier, files, progress):
        if path.is_file() and path in files.values():
            path.rename(tmp_path / "aside")
            replace(path, becomes)
        return listed(copier, files, progress)

    monkeypatch.setattr(backup, "_copy_all", exchanged)
    made = backup.make(tmp_path / "tuesday", since=earlier)
    gone = {"published/files/ab/cd"}
    gone |= {"published/files/ab/other"} if becomes == "a file's name" else set()
    assert not gone & made.files.keys()
    assert ("published/files/ab/other" in made.files) == (becomes != "a file's name")
    assert restore.put_back(tmp_path / "tuesday", tmp_path / "new").counts == made.counts


def replace(path, becomes):
    if becomes == "a folder":
        path.mkdir()
    elif becomes == "a pipe":
        os.mkfifo(path)
    elif becomes == "a link":
        path.symlink_to(path.parent / "other")
    elif becomes == "a file's name":
        shutil.rmtree(path.parent)
        path.parent.write_bytes(b"no folder")


def test_what_cannot_be_read_is_named_and_not_the_place_of_the_backup(state, tmp_path, monkeypatch):
    path, opened = tmp_path / "remote" / "files" / "ab" / "cd", os.open

    def refused(place, *words, **named):
        if place == path:
            raise PermissionError(13, "Permission denied", str(place))
        return opened(place, *words, **named)

    monkeypatch.setattr(backup.os, "open", refused)
    with pytest.raises(BadInput, match=r"cd: found permission denied, expected a file that can be"):
        backup.make(tmp_path / "monday")
    assert not (tmp_path / "monday").exists()
