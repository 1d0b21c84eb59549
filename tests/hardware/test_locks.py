"""One rig, one user; what a kill does is in tests/crash."""

import fcntl
import os
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput

NOBODY = 65534
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="abstract sockets are Linux's")


@pytest.fixture
def rig(tmp_path):
    return locks.RigLock("rig", str(tmp_path))


def test_a_second_holder_in_this_process_is_refused(rig):
    with locks.hold(rig), pytest.raises(locks.BusyError, match="in use"), locks.hold(rig):
        pass
    with locks.hold(rig):
        pass


def test_rigs_are_told_apart_by_their_whole_names():
    names = ("rig", "a b", "a_b", "../../etc/x y", "x" * 300, "x" * 301, "ü", "\0")
    found = [locks.RigLock(name).socket for name in names]
    assert len({*found, locks.RigLock("rig", "another scope").socket}) == len(names) + 1
    assert all(len(name) <= 80 and name.isascii() and name.isprintable() for name in found)


@on_linux
def test_the_line_names_who_holds_a_rig(rig):
    with locks.hold(rig), pytest.raises(locks.BusyError) as caught, locks.hold(rig):
        pass
    assert f"({os.getpid()}, of user {os.geteuid()})" in str(caught.value)


@on_linux
def test_a_rig_whose_name_a_stranger_took_is_refused_in_one_line(rig):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as squatter:
        squatter.bind(f"\0{rig.socket}")
        with pytest.raises(locks.BusyError, match="in use by another process, wait"):
            locks.hold(rig).__enter__()


@on_linux
def test_a_rig_is_locked_by_no_file_that_somebody_could_replace(rig, tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "SHARED", tmp_path)
    with locks.hold(rig):
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_process_that_inherits_a_rig_holds_it_until_it_ends(rig, tmp_path, monkeypatch, platform):
    monkeypatch.setattr(locks, "sys", SimpleNamespace(platform=platform))
    monkeypatch.setattr(locks, "SHARED", tmp_path)
    with locks.hold(rig) as held:
        heir = subprocess.Popen(["sleep", "600"], pass_fds=(held,))
    try:
        with pytest.raises(locks.BusyError, match="in use"), locks.hold(rig):
            pass
    finally:
        heir.kill()
        heir.wait()
    with locks.hold(rig):
        pass


def test_a_folder_can_be_locked(tmp_path):
    with locks.hold(tmp_path), pytest.raises(locks.BusyError), locks.hold(tmp_path):
        pass


LAID = {
    "a pipe": os.mkfifo,
    "a dangling link": lambda path: path.symlink_to(path.with_name("made")),
    "a link": lambda path: path.symlink_to(path.parent),
    "a file of somebody else": lambda path: of_nobody(path, path.touch),
    "a folder of somebody else": lambda path: of_nobody(path, path.mkdir),
}


def of_nobody(path, make):
    if os.geteuid() != 0:
        pytest.skip("only root makes files of somebody else")
    make()
    os.chown(path, NOBODY, NOBODY)


@pytest.mark.parametrize("what", LAID)
def test_what_a_stranger_laid_there_is_refused_at_once(tmp_path, what):
    path = tmp_path / "lock"
    LAID[what](path)
    with pytest.raises(BadInput, match="expected a file or a folder of yours"), locks.hold(path):
        pass
    assert not (tmp_path / "made").exists()


def test_a_place_that_is_none_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match="no such file"), locks.hold(tmp_path / "a" / "lock"):
        pass


def test_a_file_that_its_last_holder_removed_meanwhile_is_not_held(tmp_path, monkeypatch):
    path, lock = tmp_path / "lock", fcntl.flock

    def late(handle, how):
        lock(handle, how)
        path.unlink()

    monkeypatch.setattr(locks.fcntl, "flock", late)
    with pytest.raises(locks.BusyError, match="try again"), locks.hold(path):
        pass
