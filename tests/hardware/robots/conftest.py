"""Arms whose owner is a thread of the test's process, and such whose owner is a process."""

import os
from pathlib import Path

import pytest

from ricochet.hardware.robots import owner_process
from tests.hardware.robots import owner_thread
from tests.hardware.robots.rigs import Rig, closed

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def rig(tmp_path, monkeypatch):
    """Arms whose owner is a thread, for what needs no process to be ended."""
    monkeypatch.setattr(owner_process, "launch", owner_thread.launch)
    yield from closed(Rig(tmp_path))


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Arms whose owner is a process of its own."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))
    yield from closed(Rig(tmp_path))
