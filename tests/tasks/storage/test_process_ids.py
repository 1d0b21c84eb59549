"""A process is known by its number and its start: a number used again is another process."""

import os
import signal
import subprocess
import sys

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
    host, number, started = process_ids.name_of(os.getpid()).split()
    other = f"{host} {number} {int(started) - 1}"
    assert process_ids.is_alive(f"{host} {number} {started}")
    assert process_ids.is_gone(other) and not process_ids.is_alive(other)


def test_of_two_processes_each_has_its_own_name(sleeper):
    assert process_ids.name_of(sleeper.pid) != process_ids.name_of(os.getpid())
    assert process_ids.name_of(sleeper.pid) == process_ids.name_of(sleeper.pid)


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
