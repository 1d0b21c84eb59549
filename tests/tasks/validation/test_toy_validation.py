"""A third system, made of one folder and one word in the catalogue, is validated and promoted."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkouts import copy_program, python_path

NAME = "coin-fair"
REGISTER = """
import sys
from pathlib import Path
import numpy as np
from ricochet.tasks.registry import packages, runs, versions
from ricochet.tasks.registry.packages import Package, Parameter
from ricochet.tasks.systems.coin.kinds import COIN

folder, name, chance = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
made = Package(
    kind="coin",
    parameters=(Parameter("chance", "1", 0.0, 1.0),),
    arrays={"chance": np.array([chance])},
    inputs={"of": np.array([1.0, 10.0])},
    checks={},
    data_digest=f"{chance:.6f}",
    git_commit="unknown",
)
packages.write_package(folder, made, reader=COIN.load_reader())
tracker = runs.connect()
run = runs.open_run(tracker, "coins", str(chance), name=name, tags={})
version = versions.register(tracker, name, folder, kind=COIN, run_id=run.run_id, tags={})
runs.finish(tracker, run.run_id)
print(version.version)
"""


@pytest.fixture
def checkout(tmp_path):
    """The program with a coin among its systems: one folder, one word."""
    root = tmp_path / "checkout"
    copy_program(root)
    shutil.copytree(Path(__file__).with_name("toy") / "coin", root / "tasks" / "systems" / "coin")
    catalogue = root / "tasks" / "systems" / "catalogue.py"
    before = catalogue.read_text()
    catalogue.write_text(before.replace('SYSTEMS = ("', 'SYSTEMS = ("coin", "'))
    assert catalogue.read_text() != before
    return root


def run(root, *words):
    """Run a program in the checkout, everything that it keeps under its folder."""
    kept = {"PYTHONPATH": python_path(root), "RICOCHET_ARTIFACTS": str(root / "artifacts")}
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "MLFLOW_T"))}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=root, env=plain | kept, capture_output=True, text=True)


def register(root, chance):
    found = run(root, "-c", REGISTER, root / f"package-{chance}", NAME, chance)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def ricochet(root, *words):
    out = root / "out"
    found = run(root, "-m", "ricochet.flows.cli", *words, "--out", out)
    result = out / "result.json"
    return found, json.loads(result.read_text()) if result.exists() else None


@pytest.mark.slow
def test_a_toy_system_is_validated_promoted_and_rolled_back_by_the_command_line(checkout):
    """One story, since every command takes seconds to start."""
    found, _ = ricochet(checkout, "validate", "coin-lost")
    assert found.returncode == 2 and "found a coin that is lost" in found.stderr

    assert register(checkout, 0.75) == "1"
    found, result = ricochet(checkout, "validate", NAME, "--no-publish")
    assert found.returncode == 0, found.stderr
    assert result["gate"]["passed"] and result["run"] is None and not result["promoted"]
    assert "coin-fair: guessed 0.8" in found.stdout and "not recorded" in found.stdout
    found, result = ricochet(checkout, "validate", NAME)
    assert found.returncode == 0, found.stderr
    assert "version 1: promoted to champion" in found.stdout and result["promoted"]
    assert (checkout / "out" / f"{NAME}-1" / "flips.txt").is_file()

    assert register(checkout, 0.25) == "2"
    found, result = ricochet(checkout, "validate", NAME)
    assert found.returncode == 0 and not result["promoted"]
    refused = [check["name"] for check in result["gate"]["checks"] if not check["passed"]]
    assert refused == ["stated chance", "guesses against champion"]

    assert register(checkout, 0.8) == "3"
    found, _ = ricochet(checkout, "promote", NAME, "3")
    assert found.returncode == 2 and "refused: validation: found none" in found.stdout
    assert ricochet(checkout, "validate", NAME)[1]["promoted"]
    found, result = ricochet(checkout, "rollback", NAME)
    assert found.returncode == 0 and result["pair"] == {"champion": "1", "previous": None}
    found, result = ricochet(checkout, "promote", NAME, "3", "--again")
    assert found.returncode == 0 and result["gate"]["passed"] and result["promoted"], found.stderr
