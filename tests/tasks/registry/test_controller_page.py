"""The controller of docs/controllers.md runs as printed, follows the champion and stops without."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ricochet.tasks.registry import packages
from ricochet.tasks.registry.champion import DAY
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from tests import grid_packages
from tests.tasks.registry.registry_server import Registry, serving

ROOT = Path(__file__).resolve().parents[3]
BOUNCES = "0.10 -0.20 0.00\n0.45 -0.05 0.02\n"


@pytest.fixture
def program(tmp_path):
    page = (ROOT / "docs" / "controllers.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    statements = [line for line in code.splitlines() if line and "import" not in line]
    assert len(statements) <= 20
    (tmp_path / "follow.py").write_text(code)
    return tmp_path / "follow.py"


def run(program, address):
    command = [sys.executable, str(program), address, str(program.parent / "kept")]
    return subprocess.run(
        command, input=BOUNCES, capture_output=True, text=True, cwd=program.parent, timeout=120
    )


@pytest.mark.proof
def test_it_meets_the_ball_runs_on_the_last_good_package_and_stops_without_one(program, tmp_path):
    registry = Registry(("1", made(tmp_path / "package", 0.85)), registered=time.time() - DAY)
    with serving(registry) as address:
        first = run(program, address)
    assert first.returncode == 0, first.stderr
    targets = first.stdout.splitlines()
    assert len(targets) == 2 and "first bounce" in targets[0] and "cross" in targets[1]
    again = run(program, address)
    assert again.returncode == 0 and again.stdout.splitlines()[1:] == targets
    assert "last good version 1 stays in use" in again.stdout.splitlines()[0]
    (tmp_path / "kept").rename(tmp_path / "gone")
    alone = run(program, address)
    assert alone.returncode == 1 and "MotionTarget" not in alone.stdout
    assert alone.stderr == "no motion: ping-pong-table: found no posterior, expected a champion\n"


def made(folder, restitution):
    """A package whose draws are all but the same."""
    whole = grid_packages.narrow("ping-pong-table", (restitution, 3.0), (1e-6, 0.1))
    packages.write_package(folder, whole, reader=GRID)
    return folder


def follow(program, address, swap):
    """Give two tosses to the program, with something between them; returns the targets."""
    program.write_text(program.read_text().replace("60.0", "0.05"))
    kept = program.parent / "kept"
    command = [sys.executable, "-u", str(program), address, str(kept)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=program.parent
    ) as process:
        said = []
        for bounces in (BOUNCES, "2.10 -0.20 0.00\n2.45 -0.05 0.02\n"):
            process.stdin.write(bounces)
            process.stdin.flush()
            said += [process.stdout.readline() for _ in range(2)]
            swap(kept)
        process.stdin.close()
    return said


@pytest.mark.slow
def test_it_follows_the_champion_while_it_runs(program, tmp_path):
    """Once swapped, two bounces are met as by a program that knew the new champion alone."""
    first, second = (made(tmp_path / f"{e}", e) for e in (0.85, 0.6))
    registry = Registry(("1", first), registered=time.time() - DAY)

    def swap(kept):
        registry.champion = ("2", second)
        current = kept / "ping-pong-table" / "current.json"
        while json.loads(current.read_text())["version"] != "2":
            time.sleep(0.01)
        time.sleep(0.5)  # the assignment in memory follows the rename

    with serving(registry) as address:
        targets = follow(program, address, swap)
        alone = follow(program, address, lambda kept: None)
    assert "first bounce" in targets[2] and targets[3] == alone[3]
    assert targets[1] != alone[1]  # the champions differ in what they make of a toss
