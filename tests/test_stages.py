"""What a stage of dvc.yaml imports is what it depends on: no result outlives the code behind it."""

import ast
import functools
from pathlib import Path

import pytest
import yaml

from ricochet.tasks.systems.air_hockey.policies import energy, train, training_data

ROOT = Path(__file__).resolve().parents[1]
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
TASKS = {
    "density": "systems/bouncing_ball/calibration/density",
    "calibrate": "systems/bouncing_ball/calibration/run",
    "energy": "systems/air_hockey/policies/train",
}
"""The module under tasks/ that does what a stage's command asks for."""
OTHERWISE = {
    "tasks/registry/kinds.py": "which names packages have",
    "tasks/systems/air_hockey/kinds.py": "which names packages have",
    "tasks/systems/bouncing_ball/kinds.py": "which names packages have",
    "tasks/systems/bouncing_ball/grid_package.py": "how a package is read",
    "tasks/storage/files.py": "how files are written and digested",
    "tasks/storage/checked_json.py": "how JSON is read",
    "tasks/systems/catalogue.py": "which reader a name has",
    "tasks/console/progress.py": "what a person sees meanwhile",
    "tasks/storage/provenance.py": "the commit and the folder of results",
    "tasks/settings.py": "the numbers, which stages name under `params`",
    "tasks/general_settings.py": "the same",
    "tasks/systems/air_hockey/settings.py": "the same",
    "tasks/systems/bouncing_ball/settings.py": "the same",
    "tasks/systems/air_hockey/validation/gate.py": "what a validation makes of a package, later",
}
"""Imported, and no part of what is in a result."""


@functools.cache
def imported(path: str) -> frozenset[str]:
    """Return the files of the repository that a file imports, at its top or later."""
    names = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    files = {f"{name.removeprefix('ricochet.').replace('.', '/')}.py" for name in names}
    return frozenset(file for file in files if (ROOT / file).exists())


def deciding(path: str) -> set[str]:
    """Return the file and all that it leads to."""
    found, left = set(), {path}
    while left:
        found |= left
        left = {each for file in left for each in imported(file)} - found - set(OTHERWISE)
    return found


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_depends_on_every_module_that_decides_its_result(stage: str) -> None:
    deps = STAGES[stage].get("do", STAGES[stage])["deps"]
    files = deciding(f"tasks/{TASKS[stage]}.py")
    missing = {f for f in files if not any(f == dep or f.startswith(f"{dep}/") for dep in deps)}
    assert missing == set()


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_depends_on_no_code_that_it_does_not_use(stage: str) -> None:
    deps = STAGES[stage].get("do", STAGES[stage])["deps"]
    files = deciding(f"tasks/{TASKS[stage]}.py")
    code = [dep for dep in deps if dep.startswith(("models", "tasks", "hardware"))]
    idle = {dep for dep in code if not any(f == dep or f.startswith(f"{dep}/") for f in files)}
    assert idle == set()


def test_a_training_is_repeated_where_any_code_that_decides_a_package_changes() -> None:
    """The stage's files, less those that draw and foretell, ask for trials and write packages."""
    keyed = (*training_data.SCIENCE, *energy.CODE)
    assert [each for each in keyed if not (ROOT / each).exists()] == []
    later = {*train.DRAWING, "tasks/registry/packages.py", "tasks/training/search.py"}
    files = {
        f
        for f in deciding("tasks/systems/air_hockey/policies/train.py")
        if not f.startswith("models/filters/")
    }
    assert {f for f in files if not any(f == k or f.startswith(f"{k}/") for k in keyed)} == later


def test_what_does_not_decide_is_still_there() -> None:
    assert [file for file in OTHERWISE if not (ROOT / file).exists()] == []


def test_an_import_within_a_function_counts() -> None:
    assert "tasks/systems/air_hockey/policies/search.py" in imported(
        "tasks/systems/air_hockey/policies/energy.py"
    )
    assert {
        "tasks/training/search.py",
        "models/systems/air_hockey/shots/energy_network.py",
    } <= deciding("tasks/systems/air_hockey/policies/search.py")
