"""What the guard of every test finds, and what it lets pass."""

import random
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch

from tests import traces


@pytest.fixture(autouse=True)
def short_grace(monkeypatch):
    monkeypatch.setattr(traces, "GRACE", 0.05)


@pytest.fixture
def before(tmp_path):
    return traces.now(tmp_path)


def test_nothing_is_found_where_nothing_was_done(before, tmp_path):
    assert traces.left(before, tmp_path) == []


def test_a_thread_is_found_until_it_ends(before, tmp_path):
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="forgotten")
    thread.start()
    assert traces.left(before, tmp_path) == ["thread left: forgotten"]
    end.set()
    thread.join()
    assert traces.left(before, tmp_path) == []


def test_a_child_process_is_found_until_it_is_reaped(before, tmp_path):
    with subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=-1) as child:
        assert traces.left(before, tmp_path) == [f"process left: {child.pid}"]
        child.communicate(b"\n")
    assert traces.left(before, tmp_path) == []


def test_a_file_is_found(before, tmp_path):
    (tmp_path / "forgotten").touch()
    assert traces.left(before, tmp_path) == [f"file left: {tmp_path / 'forgotten'}"]


def changed_dtype():
    torch.set_default_dtype(torch.float64)
    return lambda: torch.set_default_dtype(torch.float32)


def drawn(draw, get, put):
    state = get()
    draw()
    return lambda: put(state)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("torch's default dtype", changed_dtype),
        (
            "state of torch's generator",
            lambda: drawn(lambda: torch.rand(1), torch.get_rng_state, torch.set_rng_state),
        ),
        (
            "state of numpy.random",
            lambda: drawn(np.random.rand, np.random.get_state, np.random.set_state),
        ),
        ("state of random", lambda: drawn(random.random, random.getstate, random.setstate)),
    ],
)
def test_a_changed_global_state_is_found(before, tmp_path, name, change):
    undo = change()
    try:
        assert traces.left(before, tmp_path) == [f"changed: {name}"]
    finally:
        undo()
    assert traces.left(before, tmp_path) == []


def test_a_file_of_the_repository_is_found_but_no_cache(tmp_path, tmp_path_factory):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert traces.repository(tmp_path) == frozenset()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "module.pyc").touch()
    (tmp_path / "forgotten").touch()
    assert traces.repository(tmp_path) == {"?? forgotten"}
    assert traces.repository(tmp_path_factory.mktemp("elsewhere")) is None
