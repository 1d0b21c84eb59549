"""Running anything twice changes nothing; killed and run again, it ends as if nothing had been.

The night and `calibrate` with their servers are run twice in tests/flows, promotion and rollback in
tests/crash/test_registry_killed.py.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["density.simulations=1500", "density.epochs=3", "density.hidden=16"]
SMALL += ["calibrate.check_sessions=1", "calibrate.fewest_takes=2"]
CAPTURE = ["capture", "--session", "s", "--set", "capture.drops=3", "--set", "capture.duration=1.3"]
SIMULATE = ["simulate", "--set", "simulate.drops=200"]


def start(place, *words):
    kept = {"RICOCHET_ARTIFACTS": str(place / "artifacts"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "flows.cli", *map(str, words), "--no-publish"]
    return subprocess.Popen(
        command, cwd=place, env=os.environ | kept, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def run(place, *words):
    process = start(place, *words)
    said, complained = process.communicate()
    assert process.returncode == 0, complained
    return said.decode()


def tree(folder):
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and path.name != "result.json"
    }


def content(folder):
    """Return all files but for the times and commits written into them."""
    return {name: data for name, (data, _) in tree(folder).items() if name.endswith("npz")}


@pytest.mark.slow
@pytest.mark.parametrize("words", [CAPTURE, SIMULATE], ids=["capture", "simulate"])
def test_a_second_run_writes_the_same(tmp_path, words):
    run(tmp_path, *words, "--out", "out")
    before = {name: data for name, (data, _) in tree(tmp_path / "out").items()}
    result = (tmp_path / "out" / "result.json").read_text()
    run(tmp_path, *words, "--out", "out")
    assert {name: data for name, (data, _) in tree(tmp_path / "out").items()} == before
    again = (tmp_path / "out" / "result.json").read_text()
    assert again == result or (words is CAPTURE and "unchanged" in again)


@pytest.mark.slow
def test_calibrate_twice_touches_no_file_and_killed_and_again_gives_the_same(tmp_path):
    small = [word for setting in SMALL for word in ("--set", setting)]
    run(tmp_path, *CAPTURE, "--out", "new")
    words = ["calibrate", "new/s", *small, "--out"]
    run(tmp_path, *words, "whole")
    before = tree(tmp_path / "whole")
    assert "unchanged, skipped" in run(tmp_path, *words, "whole")
    assert tree(tmp_path / "whole") == before
    for delay in (4.0, 8.0):
        process = start(tmp_path, *words, "cut")
        time.sleep(delay)
        process.kill()
        process.communicate()
        if (tmp_path / "cut" / "result.json").exists():
            break  # it was faster than the kill
    run(tmp_path, *words, "cut")
    assert content(tmp_path / "cut") == content(tmp_path / "whole")
    names = {path.relative_to(tmp_path / "cut") for path in (tmp_path / "cut").rglob("*.*")}
    assert not [name for name in names if name.name.startswith(".")]
