"""A verb that is killed leaves nothing that it started; one that ends leaves what it means to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.harness import wait_for

VERB = """
import subprocess, sys, time
from ricochet.flows.servers import kill_guard
kill_guard.leave_nothing()
kill_guard.leave_nothing()
child = subprocess.Popen(["sh", "-c", "sleep 61 & wait"], start_new_session=True)
print(child.pid, flush=True)
if sys.argv[1] == "killed":
    time.sleep(60)
"""
PROC = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="without /proc")


def start(how: str) -> tuple[subprocess.Popen, int]:
    command = [sys.executable, "-c", VERB, how]
    verb = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return verb, int(verb.stdout.readline())


def group(number: int) -> list[int]:
    """Return the processes of a group that live."""
    rows = subprocess.run(["ps", "-eo", "pid,pgid,stat"], capture_output=True, text=True).stdout
    cells = [row.split() for row in rows.splitlines()[1:]]
    return [int(pid) for pid, group, stat in cells if int(group) == number and stat[0] != "Z"]


@PROC
def test_what_a_killed_verb_started_ends_with_it_and_nothing_else() -> None:
    bystander = subprocess.Popen(["sleep", "62"])
    verb, child = start("killed")
    assert len(group(child)) == 2  # it and its own child
    verb.kill()
    verb.wait()
    wait_for(lambda: not group(child), seconds=20)
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


@PROC
def test_a_verb_that_ends_by_itself_ends_nothing() -> None:
    verb, child = start("ends")
    assert verb.wait(20) == 0
    assert len(group(child)) == 2
    os.killpg(child, 9)


def test_a_second_call_in_a_process_starts_no_second_guard(monkeypatch) -> None:
    from ricochet.flows.servers import kill_guard
    from ricochet.tasks.storage import process_ids

    monkeypatch.setenv(kill_guard.MARK, process_ids.name_of(os.getpid()))
    started: list[object] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **how: started.append(words))
    kill_guard.leave_nothing()
    assert started == []
