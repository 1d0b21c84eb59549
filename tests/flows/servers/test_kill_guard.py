"""A verb that is killed leaves nothing that it started; one that ends leaves what it means to."""

import os
import subprocess
import sys

import pytest

from tests.flows.harness import members, wait_for

VERB = """
import subprocess, sys, time
from ricochet.flows.servers import kill_guard
kill_guard.guard_children()
if sys.argv[1] == "guard killed":
    kill_guard._guards[-1].kill()
    kill_guard._guards[-1].wait()
kill_guard.guard_children()
child = subprocess.Popen(["sh", "-c", "sleep 61 & wait"], start_new_session=True)
print(child.pid, flush=True)
if "killed" in sys.argv[1]:
    time.sleep(60)
"""


def start(how: str) -> tuple[subprocess.Popen, int]:
    command = [sys.executable, "-c", VERB, how]
    verb = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with verb.stdout as said:
        return verb, int(said.readline())


@pytest.mark.parametrize("how", ["killed", "guard killed"])
def test_what_a_killed_verb_started_ends_with_it_and_nothing_else(how) -> None:
    bystander = subprocess.Popen(["sleep", "62"])
    verb, child = start(how)
    wait_for(lambda: len(members(child)) == 2, seconds=5)  # it and its own child
    verb.kill()
    verb.wait()
    wait_for(lambda: not members(child), seconds=20)
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def test_a_verb_that_ends_by_itself_ends_nothing() -> None:
    verb, child = start("ends")
    assert verb.wait(20) == 0
    wait_for(lambda: len(members(child)) == 2, seconds=5)
    os.killpg(child, 9)


def test_a_second_call_in_a_process_starts_no_second_guard(monkeypatch) -> None:
    from ricochet.flows.servers import kill_guard
    from ricochet.tasks.storage import process_ids

    monkeypatch.setenv(kill_guard.MARK, process_ids.name_of(os.getpid()))
    started: list[object] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **how: started.append(words))
    kill_guard.guard_children()
    assert started == []
