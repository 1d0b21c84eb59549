"""What a parent killed by kill -9 leaves: nothing after the guard, and else for the next to end."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ricochet.flows.servers import children
from ricochet.tasks.storage import process_ids
from tests.flows.harness import members, wait_for

PARENT = """
import sys, time
from pathlib import Path
from ricochet.flows.servers.children import Children
place = Path(sys.argv[1])
started = Children(place, place, {"PATH": "/usr/bin:/bin"})
for number, command in enumerate(sys.argv[2:]):
    started.start(str(number), ["sh", "-c", command])
started.write_down({"prefect": "address"})
print(started._guard.pid, flush=True)
time.sleep(60)
"""
FAMILY = "sleep 60 & wait"
STUBBORN = "trap '' TERM; sleep 60 & wait; wait; wait"


@dataclass(frozen=True)
class Parent:
    """A process that started children and waits to be killed."""

    process: subprocess.Popen
    guard: int
    groups: tuple[int, ...]

    def kill(self, *, guard):
        """End it by kill -9, and first its guard if so asked."""
        if guard:
            os.kill(self.guard, signal.SIGKILL)
        self.process.kill()
        self.process.wait()


@pytest.fixture
def parent(tmp_path):
    made = []

    def start(*commands):
        command = [sys.executable, "-c", PARENT, str(tmp_path), *commands]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        made.append(process)
        guard = int(process.stdout.readline())
        ledger = json.loads((tmp_path / children.LEDGER).read_text())
        groups = tuple(process_ids.number_of(name) for name in ledger["children"])
        return Parent(process, guard, groups)

    yield start
    for process in made:
        process.kill()
        process.communicate()


def test_children_of_a_parent_that_was_killed_are_ended_by_the_guard(parent, tmp_path):
    family = parent(FAMILY, FAMILY)
    wait_for(lambda: all(len(members(group)) == 2 for group in family.groups), seconds=5)
    family.kill(guard=False)
    wait_for(lambda: not any(members(group) for group in family.groups), seconds=10)
    assert children.owner(tmp_path) is None
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
    assert children.owner(tmp_path)["prefect"] == "address"
    assert children.end_orphans(tmp_path) == 0  # while the parent lives they are not orphans
    assert all(members(group) for group in family.groups)
    family.kill(guard=True)
    assert all(members(group) for group in family.groups)
    assert children.end_orphans(tmp_path, patience=0.3) == 2
    wait_for(lambda: not any(members(group) for group in family.groups), seconds=5)
    assert not (tmp_path / children.LEDGER).exists()
    assert children.end_orphans(tmp_path) == 0


def test_a_process_that_only_has_the_number_of_a_child_is_spared(parent, tmp_path):
    family = parent(FAMILY)
    family.kill(guard=True)
    ledger = tmp_path / children.LEDGER
    found = json.loads(ledger.read_text())
    host, number, started = found["children"][0].split()
    found["children"] = [f"{host} {number} {int(started) + 1}", f"elsewhere {number} {started}"]
    ledger.write_text(json.dumps(found))
    try:
        assert children.end_orphans(tmp_path) == 0
        assert members(int(number))
    finally:
        os.killpg(int(number), signal.SIGKILL)


def test_an_orderly_end_leaves_no_child_no_guard_and_no_ledger(tmp_path):
    started = children.Children(tmp_path, tmp_path, {"PATH": "/usr/bin:/bin"})
    child = started.start("family", ["sh", "-c", FAMILY])
    guard = started._guard.pid
    assert children.owner(tmp_path)["children"] == [process_ids.name_of(child.pid)]
    started.end()
    wait_for(lambda: not members(child.pid) and not members(guard), seconds=5)
    assert not (tmp_path / children.LEDGER).exists()


def test_a_child_that_ended_before_is_no_longer_on_the_guards_list(tmp_path):
    """Its number may be another's by the time that the parent is killed."""
    started = children.Children(tmp_path, tmp_path, {"PATH": "/usr/bin:/bin"})
    told = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(children, "_tell", lambda guard, groups: told.append(groups))
        short = started.start("short", ["true"])
        short.wait()
        started.processes.remove(short)
        long = started.start("long", ["sleep", "60"])
        started.end()
    assert told == [str(short.pid), str(long.pid), ""]


@pytest.mark.parametrize(
    "content", ["", "{half", "[]", '{"process": 1, "children": [1]}', '{"process": "x"}']
)
def test_a_ledger_that_is_broken_or_of_another_form_holds_nothing(tmp_path: Path, content):
    (tmp_path / children.LEDGER).write_text(content)
    assert children.owner(tmp_path) is None
    assert children.end_orphans(tmp_path) == 0
