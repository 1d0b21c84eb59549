"""What a parent killed by kill -9 leaves: nothing after the guard, and else for the next to end."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from ricochet.flows.servers import children, kill_guard
from ricochet.tasks.storage import process_ids
from tests.flows.harness import guard_of, members, wait_for

PARENT = """
import contextlib, sys, time
from pathlib import Path
from ricochet.flows.servers import children
place = Path(sys.argv[1])
with contextlib.ExitStack() as started:
    children.write_ledger(place, prefect="address")
    for command in sys.argv[3:]:
        child = children.running(
            ["sh", "-c", command], log=place / "log", environment={"PATH": "/usr/bin:/bin"}
        )
        print(started.enter_context(child).pid, flush=True)
    time.sleep(float(sys.argv[2]))
"""
FAMILY = "sleep 60 & wait"
STUBBORN = "trap '' TERM; echo up; sleep 60 & wait; wait; wait"


@dataclass(frozen=True)
class Parent:
    """A process that started children and waits to be killed."""

    process: subprocess.Popen
    groups: tuple[int, ...]

    def kill(self, *, guard):
        """End it by kill -9, and first its guard if so asked."""
        if guard:
            guard_of(self.process.pid).kill()
        self.process.kill()
        self.process.wait()


@pytest.fixture
def parent(tmp_path):
    made = []

    def start(*commands, seconds=60):
        command = [sys.executable, "-c", PARENT, str(tmp_path), str(seconds), *commands]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        made.append(process)
        return Parent(process, tuple(int(process.stdout.readline()) for _ in commands))

    yield start
    for process in made:
        process.kill()
        process.communicate()


def test_children_of_a_parent_that_was_killed_are_ended_by_the_guard(parent, tmp_path):
    family = parent(FAMILY, FAMILY)
    wait_for(lambda: all(len(members(group)) == 2 for group in family.groups), seconds=5)
    family.kill(guard=False)
    wait_for(lambda: not any(members(group) for group in family.groups), seconds=10)
    assert children.ledger(tmp_path) is None
    assert children.end_orphans(tmp_path) == 0


@pytest.mark.slow
def test_the_guard_makes_a_child_end_that_ignores_the_first_request(parent):
    family = parent(FAMILY, STUBBORN)
    wait_for(lambda: all(len(members(group)) == 2 for group in family.groups), seconds=5)
    family.kill(guard=False)
    wait_for(lambda: not members(family.groups[0]), seconds=5)
    assert members(family.groups[1])
    wait_for(lambda: not members(family.groups[1]), seconds=30)


def test_without_the_guard_the_next_ends_what_is_left_and_only_once(parent, tmp_path):
    family = parent(FAMILY, STUBBORN)
    wait_for(lambda: all(len(members(group)) == 2 for group in family.groups), seconds=5)
    assert children.ledger(tmp_path)["prefect"] == "address"
    assert children.end_orphans(tmp_path) == 0  # while the parent lives they are not orphans
    assert all(members(group) for group in family.groups)
    family.kill(guard=True)
    assert all(members(group) for group in family.groups)
    assert children.end_orphans(tmp_path, patience=0.3) == 2
    wait_for(lambda: not any(members(group) for group in family.groups), seconds=5)
    assert not (tmp_path / children.LEDGER).exists()
    assert children.end_orphans(tmp_path) == 0


def test_children_of_a_process_that_only_has_the_number_of_the_parent_are_spared(parent, tmp_path):
    family = parent(FAMILY)
    family.kill(guard=True)
    ledger = tmp_path / children.LEDGER
    host, number, started, *_ = json.loads(ledger.read_text())["process"].split()
    try:
        for other in (f"{host} {number} {int(started) + 1}", f"elsewhere {number} {started}"):
            ledger.write_text(json.dumps({"process": other}))
            assert children.end_orphans(tmp_path) == 0
            assert members(family.groups[0])
    finally:
        os.killpg(family.groups[0], signal.SIGKILL)


def test_an_orderly_end_leaves_no_child_and_no_guard(parent):
    family = parent(FAMILY, seconds=1)
    guard = guard_of(family.process.pid)
    assert members(family.groups[0])
    assert family.process.wait(20) == 0
    assert not members(family.groups[0])
    assert not psutil.pid_exists(guard.pid)


def test_a_child_that_ignores_the_first_request_is_ended_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv(kill_guard.MARK, process_ids.name_of(os.getpid()))  # no guard of the tests
    command, log = ["sh", "-c", STUBBORN], tmp_path / "log"
    with children.running(command, log=log, environment=os.environ, patience=0.2) as child:
        wait_for(lambda: "up" in log.read_text(), seconds=5)
    assert child.returncode == -signal.SIGKILL
    wait_for(lambda: not members(child.pid), seconds=5)


@pytest.mark.parametrize("content", ["", "{half", "[]", '{"process": 1}', '{"process": "x"}'])
def test_a_ledger_that_is_broken_or_of_another_form_holds_nothing(tmp_path: Path, content):
    (tmp_path / children.LEDGER).write_text(content)
    assert children.ledger(tmp_path) is None
    assert children.end_orphans(tmp_path) == 0
