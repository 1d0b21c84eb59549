"""The science imports an allowed few packages and itself; the contracts forbid the rest by name."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = {"numpy", "scipy", "torch", "mujoco", "jaxtyping", "ricochet"}
LATE = {"pyroomacoustics": {"models/sound/room_acoustics.py"}}


def imported(tree: ast.AST) -> set[str]:
    """Return the top names of all absolute imports under a node."""
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    names |= {
        node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not node.level
    }
    return {name.split(".")[0] for name in names}


def test_models_import_only_the_allowed_packages():
    faults = []
    for path in sorted((ROOT / "models").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        foreign = imported(ast.parse(path.read_text())) - ALLOWED - set(sys.stdlib_module_names)
        faults += [f"{name}: {package}" for package in foreign if name not in LATE.get(package, ())]
    assert faults == []


def test_nothing_heavy_is_imported_at_the_top_of_the_sound_package():
    """pyroomacoustics costs seconds and is needed by the synthesis of rooms alone."""
    for path in (ROOT / "models" / "sound").glob("*.py"):
        top = ast.Module(
            body=[
                node
                for node in ast.parse(path.read_text()).body
                if isinstance(node, ast.Import | ast.ImportFrom)
            ],
            type_ignores=[],
        )
        assert "pyroomacoustics" not in imported(top), path.name


def test_packages_are_marked_by_empty_init_files():
    for package in ("flows", "tasks", "hardware", "models"):
        for path in (ROOT / package).rglob("__init__.py"):
            assert path.read_text() == "", path
