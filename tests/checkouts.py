"""Copies of the program, and the path by which a process runs one of them, or this one."""

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("src", "flows", "tasks", "hardware", "models", "mlflow")


def python_path(root: Path = ROOT) -> str:
    """Return a PYTHONPATH for `ricochet` and `tests` of a checkout."""
    return os.pathsep.join([str(root / "src"), str(root)])


def copy_program(root: Path) -> None:
    """Copy what runs the verbs and its bytecode, without recordings and results."""
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, symlinks=True)
    shutil.copy(ROOT / "params.yaml", root)
