"""Copies of the program, and the path by which a process runs one of them, or this one."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("src", "flows", "tasks", "hardware", "models", "mlflow")


def python_path(root: Path = ROOT) -> str:
    """Return a PYTHONPATH for `ricochet` and `tests` of a checkout."""
    return os.pathsep.join([str(root / "src"), str(root)])


DEPLOYED = """
import json, sys
from prefect.flows import load_flow_from_entrypoint
entrypoint, parameters = sys.argv[1], json.loads(sys.argv[2])
result = load_flow_from_entrypoint(entrypoint)(**parameters)
print(json.dumps(result))
"""
"""Runs a flow as a worker does, by its entry point and the parameters of its deployment."""


def copy_program(root: Path) -> None:
    """Copy what runs the verbs and its bytecode, without recordings and results."""
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, symlinks=True)
    shutil.copy(ROOT / "params.yaml", root)


def tracked() -> list[str]:
    """Return the names of the files that Git tracks and that are there."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]


def copy(names: list[str], target: Path) -> None:
    """Copy files of the checkout to where they lie in another folder, links as links."""
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
