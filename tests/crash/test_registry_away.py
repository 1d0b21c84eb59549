"""A controller survives the registry's absence: the server killed, the controller killed."""

import os
import signal
import subprocess
import sys
import time

import pytest

from ricochet.tasks.registry import packages
from ricochet.tasks.registry.champion import DAY, Champion
from ricochet.tasks.registry.sources import Folder, Server
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests import grid_packages
from tests.checkouts import python_path
from tests.crash import kill

NAME = "ping-pong-table"
SERVER = """
import sys, threading, time
from pathlib import Path
from tests.tasks.registry.registry_server import Registry, serving
with serving(Registry(("1", Path(sys.argv[1])), registered=time.time())) as address:
    print(address, flush=True)
    threading.Event().wait(300.0)
"""


@pytest.fixture
def shelf(tmp_path):
    """A folder with two packages that take turns as the champion."""
    packages.write_package(tmp_path / "one" / NAME, grid_packages.made(NAME), reader=GRID)
    other = grid_packages.narrow(NAME)
    packages.write_package(tmp_path / "two" / NAME, other, reader=GRID)
    return tmp_path


def test_a_killed_server_leaves_the_last_good_package_in_use_and_is_said_aloud(shelf):
    environment = os.environ | {"PYTHONPATH": python_path()}
    command = [sys.executable, "-c", SERVER, str(shelf / "one" / NAME)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    said = []
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        source = Server(address, patience=2.0)
        held = Champion(
            NAME, source, shelf / "kept", kind=POSTERIOR, oldest=DAY, report_line=said.append
        )
        assert held.refresh() and said == []
        before = held.current()
        server.send_signal(signal.SIGKILL)
        server.wait()
        assert not held.refresh() and held.current() is before
        again = Champion(
            NAME, source, shelf / "kept", kind=POSTERIOR, oldest=DAY, report_line=said.append
        )
        assert not again.refresh() and again.current().digest == before.digest
    finally:
        server.kill()
        server.communicate()
    assert len(said) == 2
    assert all("no answer" in line and "last good version 1" in line for line in said)
    assert all("\n" not in line for line in said)


@pytest.mark.slow
def test_a_controller_killed_at_any_step_of_a_swap_finds_a_whole_package_again(shelf):
    kept = shelf / "kept"
    first = Champion(NAME, Folder(shelf / "one"), kept, kind=POSTERIOR, oldest=DAY)
    first.refresh()
    digests = {first.current().digest}

    def swap(_step):
        Champion(NAME, Folder(shelf / "two"), kept, kind=POSTERIOR, oldest=DAY).refresh()

    for _ in kill.at_every_step(kept, swap):
        said = []
        found = Champion(
            NAME,
            Folder(shelf / "absent"),
            kept,
            kind=POSTERIOR,
            oldest=DAY,
            report_line=said.append,
        )
        digests.add(found.current().digest)
        assert said == [] and len(digests) <= 2
        assert found.current(now=time.time()).package.kind == "grid"
        Champion(NAME, Folder(shelf / "one"), kept, kind=POSTERIOR, oldest=DAY).refresh()
    assert len(digests) == 2
