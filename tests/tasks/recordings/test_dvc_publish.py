"""Publishing: into one data.dvc, to a remote that is checked by a fresh fetch, idempotently."""

import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import dvc_commands, dvc_publish
from ricochet.tasks.recordings import sessions as recordings
from ricochet.tasks.recordings.dvc_commands import Dvc
from tests.tasks.recordings import small_sessions

ROOT = Path(__file__).resolve().parents[3]
CONFIG = """[core]
    analytics = false
    remote = sample
['remote "sample"']
    url = ../recordings
['remote "published"']
    url = ../artifacts/published
"""


def dvc(folder, *arguments):
    environment = os.environ | dvc_commands.QUIET
    command = [sys.executable, "-m", "dvc", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


def make(folder, seed):
    plan = small_sessions.plan(folder)
    return small_sessions.write_session(plan, [small_sessions.noise(seed)]).folder


def test_a_folder_without_dvc_is_refused_with_what_makes_one(tmp_path):
    with pytest.raises(BadInput, match=r"no DVC repository.*git init && dvc init"):
        dvc_publish.publish(make(tmp_path / "sealed" / "a", 1), remote="published", root=tmp_path)


STRANGE = {
    "a link": lambda path: path.symlink_to("/etc/passwd"),
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "a file": lambda path: path.write_text("private"),
    "a folder": os.mkdir,
    "a pipe": os.mkfifo,
    "a take that is a link": lambda path: displaced(path.with_name("take-0000.flac")),
    "a manifest that is a link": lambda path: displaced(path.with_name("session.json")),
}


@pytest.mark.parametrize("name", [".dvcignore", "dvc.yaml", ".hidden.csv", "a.dvc", ".git"])
def test_a_take_named_as_what_dvc_reads_is_refused(tmp_path, name):
    session = make(tmp_path / "a", 1)
    stated = json.loads((session / "session.json").read_text())
    (session / stated["takes"][0]["file"]).rename(session / name)
    stated["takes"][0]["file"] = name
    (session / "session.json").write_text(json.dumps(stated))
    with pytest.raises(BadInput, match=r"expected one of \.json, \.csv"):
        dvc_publish.files(session)


def displaced(path):
    path.rename(path.parent.parent / path.name)
    path.symlink_to(path.parent.parent / path.name)


@pytest.mark.parametrize("what", STRANGE)
def test_a_session_that_holds_anything_else_is_refused(tmp_path, monkeypatch, what):
    """DVC copied to the remote what a link led to."""
    found = {"published": {"url": "somewhere"}}
    monkeypatch.setattr(dvc_publish, "_remotes", lambda _: found)
    monkeypatch.setattr(Dvc, "run", lambda *words, **_: pytest.fail("went on"))
    (tmp_path / ".dvc").mkdir()
    session = make(tmp_path / "sealed" / "a", 1)
    STRANGE[what](session / "notes.txt")
    with pytest.raises(BadInput, match=r"expected (regular files alone|only what session\.json)"):
        dvc_publish.publish(session, remote="published", root=tmp_path)
    assert not (tmp_path / "data").exists()


def test_the_files_of_a_session_are_those_of_its_takes_and_of_how_it_was_made(tmp_path):
    session = make(tmp_path / "a", 1)
    stated = json.loads((session / "session.json").read_text())
    stated["takes"][0] |= {"vision": "vision-0000.csv", "motion": "motion-0000.csv"}
    (session / "session.json").write_text(json.dumps(stated))
    for name in ("vision-0000.csv", "motion-0000.csv", "import.json"):
        (session / name).write_text("")
    assert [path.name for path in dvc_publish.files(session)] == files(session)


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """A repository whose sample of one session lies in the remote that travels with it."""
    root = tmp_path_factory.mktemp("shipped")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    dvc(root, "init", "-q")
    (root / ".dvc" / "config").write_text(CONFIG)
    make(root / "data" / "first", 1)
    dvc(root, "add", "-q", "data")
    dvc(root, "push", "-q")
    return root


@pytest.fixture
def clone(shipped, tmp_path):
    """What git would carry: no recordings and no cache."""
    root = tmp_path / "clone"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".dvc").mkdir()
    for name in (".dvc/config", "data.dvc"):
        shutil.copy(shipped / name, root / name)
    shutil.copytree(shipped / "recordings", root / "recordings")
    return root


def test_a_session_whose_id_dvc_takes_for_a_file_of_its_own_is_refused(tmp_path, monkeypatch):
    """It was copied under data/ each night, and never published."""
    monkeypatch.setattr(Dvc, "run", lambda *_, **__: "remote.published.url=/r\n")
    (tmp_path / ".dvc").mkdir()
    session = make(tmp_path / "a.dvc", 2)
    with pytest.raises(BadInput, match=r"id: found a\.dvc, expected one that DVC"):
        dvc_publish.publish(session, remote="published", root=tmp_path)
    assert not (tmp_path / "data").exists()


def test_data_dvc_awaits_a_commit_only_while_git_holds_another(tmp_path):
    def git(*words):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True)

    named = tmp_path / "data.dvc"
    named.write_text("one")
    git("init", "-q")
    assert dvc_publish.awaits_commit(tmp_path)
    git("add", "data.dvc")
    git("commit", "-q", "-m", "One")
    assert not dvc_publish.awaits_commit(tmp_path)
    (tmp_path / "other").write_text("not of the recordings")
    assert not dvc_publish.awaits_commit(tmp_path)
    named.write_text("two")
    assert dvc_publish.awaits_commit(tmp_path)
    git("add", "data.dvc")
    assert dvc_publish.awaits_commit(tmp_path)
    named.write_text("one")
    git("add", "data.dvc")
    assert not dvc_publish.awaits_commit(tmp_path)


@pytest.mark.slow
def test_a_clone_pulls_the_sample(clone):
    dvc_publish.pull(clone)
    assert recordings.read_session(clone / "data" / "first").rejected == ()


@pytest.mark.proof
def test_a_session_is_published_beside_the_sample_that_is_not_at_hand(clone, tmp_path, caplog):
    sample = files(clone / "recordings")
    before = recordings.data_digest(clone / "data.dvc")
    with caplog.at_level(logging.WARNING):
        digest = dvc_publish.publish(make(tmp_path / "b", 2), remote="published", root=clone)
    assert digest == recordings.data_digest(clone / "data.dvc") != before
    assert "data.dvc names session b now: commit it" in caplog.text
    assert files(clone / "recordings") == sample

    caplog.clear()
    stored = files(clone / "artifacts")
    again = dvc_publish.publish(tmp_path / "b", remote="published", root=clone)
    assert again == digest and caplog.text == "" and files(clone / "artifacts") == stored

    shutil.rmtree(clone / "data")
    shutil.rmtree(clone / ".dvc" / "cache")
    dvc_publish.pull(clone)
    assert sorted(path.name for path in (clone / "data").iterdir()) == ["b", "first"]


FORGOTTEN = """
from dvc.repo import Repo
from dvc_data.hashfile.db import get_index
index = get_index(Repo().cloud.get_remote_odb("published"))
kept = set(index.hashes()) - set(index.dir_hashes())
assert len(kept) > 1
index.clear()
index.update([], kept)
"""


@pytest.mark.proof
def test_a_remote_that_lost_files_is_sent_them_whatever_dvc_remembers(clone, tmp_path):
    """As after a kill of DVC while it forgot a remote: it knew of files, of folders no longer."""
    dvc_publish.publish(make(tmp_path / "b", 2), remote="published", root=clone)
    stored = files(clone / "artifacts")
    dvc(clone, "push", "-q", "-r", "published", "data.dvc")
    shutil.rmtree(clone / "artifacts" / "published")
    subprocess.run([sys.executable, "-c", FORGOTTEN], cwd=clone, check=True)
    dvc_publish.publish(tmp_path / "b", remote="published", root=clone)
    assert files(clone / "artifacts") == stored


@pytest.mark.proof
def test_another_session_of_the_same_name_is_refused(clone, tmp_path):
    dvc_publish.publish(make(tmp_path / "b", 2), remote="published", root=clone)
    other = make(tmp_path / "other" / "b", 3)
    with pytest.raises(BadInput, match="another session of this name"):
        dvc_publish.publish(other, remote="published", root=clone)


@pytest.mark.proof
def test_a_remote_that_spoils_what_it_holds_is_found_out(clone, tmp_path, monkeypatch):
    """DVC itself refuses a file whose content is not its name; that ends in one line."""
    push = dvc_publish._push

    def spoil(root, remote):
        push(root, remote)
        for path in (clone / "artifacts").rglob("*"):
            if path.is_file() and path.suffix != ".dir":
                path.chmod(0o644)
                path.write_bytes(path.read_bytes()[::-1])

    monkeypatch.setattr(dvc_publish, "_push", spoil)
    with pytest.raises(dvc_publish.PublicationError) as caught:
        dvc_publish.publish(make(tmp_path / "b", 2), remote="published", root=clone)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("remote", ["sample", "nowhere"])
def test_nothing_is_published_into_the_sample_or_to_an_unknown_remote(clone, tmp_path, remote):
    with pytest.raises(BadInput, match="expected one of published"):
        dvc_publish.publish(make(tmp_path / "b", 2), remote=remote, root=clone)
    assert not (clone / "data").exists()


@pytest.mark.slow
def test_the_sample_comes_out_of_a_bare_copy_complete_and_small(tmp_path):
    """What a fresh clone holds is enough: four pairs of about 20 drops, at most 12 MB in all."""
    (tmp_path / ".dvc").mkdir()
    for name in (".dvc/config", "data.dvc", ".dvcignore"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "recordings", tmp_path / "recordings")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    dvc_publish.pull(tmp_path)
    found = [recordings.read_session(path) for path in sorted((tmp_path / "data").iterdir())]
    assert {(session.ball, session.surface) for session in found} >= {
        ("ping-pong", "table"),
        ("tennis", "table"),
        ("moon-ball", "table"),
        ("ping-pong", "asphalt"),
    }
    assert all(len(session.takes) == 20 and not session.rejected for session in found)
    assert sum(path.stat().st_size for path in (tmp_path / "data").rglob("*")) < 12e6


@pytest.mark.parametrize("there", ["a pipe", "a device", "deep", "a list"])
def test_what_is_no_note_of_publication_is_none_at_once(tmp_path, there):
    path = tmp_path / dvc_publish.PUBLISHED
    match there:
        case "a pipe":
            os.mkfifo(path)
        case "a device":
            path.symlink_to("/dev/zero")
        case "deep":
            path.write_text("[" * 100_000)
        case _:
            path.write_text("[1, 2]")
    assert dvc_publish._published(tmp_path) == {}
