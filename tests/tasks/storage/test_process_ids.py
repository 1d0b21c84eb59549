"""A process is known by its number and its start: a number used again is another process."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest

from ricochet.tasks.storage import process_ids


@pytest.fixture
def sleeper():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield child
    child.kill()
    child.communicate()


def test_a_process_lives_until_it_ends_and_not_until_it_is_collected(sleeper):
    name = process_ids.name_of(sleeper.pid)
    assert process_ids.is_alive(name) and not process_ids.is_gone(name)
    os.kill(sleeper.pid, signal.SIGKILL)
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)  # ended, and still in the table
    assert process_ids.is_gone(name) and not process_ids.is_alive(name)
    late = process_ids.name_of(sleeper.pid)
    assert not process_ids.is_alive(late)
    sleeper.wait()
    assert process_ids.is_gone(name) and not process_ids.is_alive(name)


def test_another_start_of_the_same_number_is_another_process():
    host, process, started = process_ids.name_of(os.getpid()).split()
    assert process_ids.number_of(process_ids.name_of(os.getpid())) == os.getpid()
    assert process_ids.number_of(f"{host} 12 {started}") == 12
    for number in (process, process.partition("@")[0]):  # older names say no more
        other = f"{host} {number} {int(started) - 1}"
        assert process_ids.is_alive(f"{host} {number} {started}")
        assert process_ids.is_gone(other) and not process_ids.is_alive(other)


def test_of_two_processes_each_has_its_own_name(sleeper):
    assert process_ids.name_of(sleeper.pid) != process_ids.name_of(os.getpid())
    assert process_ids.name_of(sleeper.pid) == process_ids.name_of(sleeper.pid)


@pytest.mark.parametrize("error", [psutil.NoSuchProcess(1), psutil.AccessDenied(1)])
def test_a_process_that_a_user_may_not_see_is_not_gone(sleeper, monkeypatch, error):
    """As another user under `hidepid` of /proc: a run was closed while it worked."""
    name = process_ids.name_of(sleeper.pid)
    monkeypatch.setattr(process_ids.psutil, "Process", Mock(side_effect=error))
    kill = Mock(side_effect=[PermissionError, ProcessLookupError])
    monkeypatch.setattr(process_ids.os, "kill", kill)
    assert not process_ids.is_known(name)
    assert process_ids.is_gone(name)
    kill.assert_called_with(sleeper.pid, 0)


FIRST = process_ids.FIRST
HOST, WSL = ["boot", FIRST, "m1"], ["boot", "7", "m1"]
NEW, OLD = ["boot", "7", "c1"], ["boot", "8", "c1"]
PLACES = {
    "here": (HOST, HOST, True),
    "on this machine, before its boot": (["before", FIRST, "m1"], HOST, False),
    "on another machine": (["other", FIRST, "m2"], HOST, None),
    "on one of no id": (["other", FIRST, "unknown"], ["boot", FIRST, "unknown"], None),
    "in a container of this host name": (NEW, HOST, None),
    "outside of this container": (HOST, NEW, None),
    "in this container": (NEW, NEW, True),
    "in this container, before it was started anew": (OLD, NEW, False),
    "in this container, before its machine was": (["before", "8", "c1"], NEW, False),
    "in another container": (["boot", "8", "c2"], NEW, None),
    "in one that nobody knows": (["boot", "8", "unknown"], ["boot", "7", "unknown"], None),
    "on this WSL, before it was started anew": (["before", "8", "m1"], WSL, False),
    "in a sandbox of this machine": (["boot", "8", "m1"], WSL, None),
    "on a Linux of this name": (HOST, [], None),
    "odd": (["boot"], HOST, None),
}


@pytest.mark.parametrize(("there", "here", "lives"), PLACES.values(), ids=PLACES)
def test_numbers_mean_something_in_their_boot_and_namespace(monkeypatch, there, here, lives):
    """Whoever has the same host name closed the runs of the others."""
    monkeypatch.setattr(process_ids, "_place", lambda: there)
    name = process_ids.name_of(os.getpid())
    monkeypatch.setattr(process_ids, "_place", lambda: here)
    assert process_ids.is_alive(name) == (lives is True)
    assert process_ids.is_gone(name) == (lives is False)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says where numbers are from")
def test_a_name_says_the_boot_and_the_namespace(monkeypatch):
    place = process_ids.name_of(os.getpid()).split()[1].partition("@")[2]
    boot, namespace, machine = place.split(",")
    assert boot == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert f"pid:[{namespace}]" == os.readlink("/proc/self/ns/pid")
    kept = Path("/etc/machine-id")
    assert not kept.exists() or machine not in kept.read_text()


HEX = "0123456789abcdef" * 4
MOUNTS = """22 1 0:21 / /proc rw - proc proc rw
23 1 0:44 / / rw,relatime - overlay overlay rw,lowerdir=/l/A:/l/B,upperdir=/{place},workdir=/w
24 23 0:45 / /data rw - overlay overlay rw,lowerdir=/c,upperdir=/other/diff,workdir=/x
"""


@pytest.mark.parametrize("place", [f"overlay2/{HEX}/diff", "snapshots/12/fs"])
def test_a_container_is_known_by_its_own_files(place):
    """A random place means it in any boot; a number that a machine gives, in this one alone."""

    def container(boot, place):
        found = process_ids.LAYER.search(MOUNTS.format(place=place))
        return process_ids._container(found[1], boot)

    here = container("boot", place)
    assert here == container("boot", place) != container("boot", f"overlay2/{HEX[::-1]}/diff")
    assert (here == container("other", place)) == (HEX in place)
    assert process_ids.LAYER.search(MOUNTS.splitlines()[0]) is None


def test_a_mount_of_any_name_stops_nothing(monkeypatch, tmp_path):
    (tmp_path / "mounts").write_bytes(b"25 1 0:46 / /data/\xfc rw - ext4 /dev/vda rw\n")
    read = {"/proc/self/mountinfo": tmp_path / "mounts"}
    monkeypatch.setattr(process_ids, "Path", lambda name: read.get(name, Path(name)))
    assert process_ids.is_alive(process_ids.name_of(os.getpid()))


@pytest.mark.parametrize(
    "name",
    [
        "",
        "elsewhere 1 2",
        "{host}",
        "{host} one 2",
        "{host}  ",
        "{host} " + "9" * 5000 + " 1",
        "{host} ٣ 1",
    ],
)
def test_of_another_machine_or_an_odd_name_nothing_is_known(name):
    host = process_ids.name_of(1).split()[0]
    name = name.format(host=host)
    assert not process_ids.is_alive(name) and not process_ids.is_gone(name)
