"""The programs of the tutorials and the notebooks run as printed, in an empty folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ricochet.tasks.registry.packages import write_package
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from tests import grid_packages
from tests.checkouts import ROOT, python_path
from tests.tasks.conftest import package  # noqa: F401

DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.py"))
LONG = ("three_microphones",)
MARKED = [
    pytest.param(path, marks=pytest.mark.proof if path.stem in LONG else pytest.mark.slow)
    for path in NOTEBOOKS
]
SAVED = re.compile(r"[Ss]ave as\s+`(\w+\.py)`[^`]*```python\n(.*?)```", re.DOTALL)
ENVIRONMENT = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": python_path()}


def run(folder: Path, *words: str, status: int = 0) -> str:
    """Run a Python program in a folder and return what it printed."""
    environment = ENVIRONMENT | {"RICOCHET_ARTIFACTS": str(folder / "artifacts")}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def programs(page: str) -> dict[str, str]:
    """Return the programs that a page says to save, by name."""
    return dict(SAVED.findall((DOCS / "tutorials" / page).read_text()))


@pytest.mark.proof
@pytest.mark.parametrize("path", MARKED, ids=lambda path: path.stem)
def test_a_notebook_runs_as_a_program(path: Path, tmp_path: Path) -> None:
    """What it claims it asserts itself."""
    assert run(tmp_path, str(path))


@pytest.mark.proof
def test_the_density_network_is_accepted_and_a_narrow_posterior_refused(tmp_path: Path) -> None:
    found = programs("own_simulator.md")
    assert set(found) == {"simulator.py", "fit.py", "narrow.py"}
    for name, text in found.items():
        (tmp_path / name).write_text(text)
    said = run(tmp_path, "fit.py")
    start, rate = (float(line.split()[1]) for line in said.splitlines())
    # as printed there, to half of its deviations: arithmetic differs a little between machines
    assert abs(start - 81.14) < 0.55 and abs(rate - 2.53) < 0.045
    judge = ("-m", "ricochet.flows.cli", "judge")
    simulator = ("--simulator", "simulator.py")
    assert "accepted" in run(tmp_path, *judge, "samples.npz", *simulator)
    run(tmp_path, "narrow.py")
    assert "FAIL" in run(tmp_path, *judge, "narrow.npz", *simulator, status=1)


def test_the_controller_of_the_tutorial_is_that_of_the_page_of_controllers() -> None:
    page = (DOCS / "controllers.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    tutorial = programs("own_controller.md")["follow.py"]
    assert tutorial == code.replace("ping-pong-table", "golf-wood")


@pytest.mark.slow
def test_a_posterior_in_a_folder_is_looked_at(tmp_path: Path) -> None:
    made = grid_packages.narrow("golf-wood", (0.8, 3.0), (1e-6, 0.1))
    write_package(tmp_path / "packages" / "golf-wood", made, reader=GRID)
    (tmp_path / "look.py").write_text(programs("own_controller.md")["look.py"])
    assert "2 m/s: 0.8000 +- 0.0000" in run(tmp_path, "look.py")


@pytest.mark.slow
def test_the_example_of_judging_is_accepted(tmp_path: Path) -> None:
    page = (DOCS / "judging.md").read_text()
    samples, simulator = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "samples.py").write_text(samples)
    (tmp_path / "simulator.py").write_text(simulator)
    run(tmp_path, "samples.py")
    judge = ("-m", "ricochet.flows.cli", "judge", "samples.npz", "--simulator", "simulator.py")
    assert "accepted: 200 cases of 300 draws" in run(tmp_path, *judge)
