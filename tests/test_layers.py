"""The science imports an allowed few packages and itself; the contracts forbid the rest by name."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("flows", "tasks", "hardware", "models")
ALLOWED = {"numpy", "scipy", "torch", "mujoco", "numba", "jaxtyping", "ricochet"}
LATE = {"pyroomacoustics": {"models/sound/room_acoustics.py"}}

NOUNS = re.compile(
    r"\b(balls?|drops?|toss(?:es)?|puck|hockey|shots?|shooting|pendulum|batting|drawers?)\b", re.I
)
THE_COMMAND_LINES = {
    "flows/calibrate.py",
    "flows/capture.py",
    "flows/command_line/import_verb.py",
    "flows/command_line/listen_verb.py",
    "flows/command_line/recording_verbs.py",
    "flows/import_recordings.py",
    "flows/simulate.py",
}
FIXED = {"tasks/recordings/sessions.py": {"ball"}}  # a key of ricochet.session/1


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


def test_private_torch_is_used_in_one_file():
    """`torch._name` may change with any release: the optimiser alone argues for one."""
    private = re.compile(r"\btorch(\.[a-z]+)*\._[a-z]")
    users = {
        path.relative_to(ROOT).as_posix()
        for layer in LAYERS
        for path in (ROOT / layer).rglob("*.py")
        if private.search(path.read_text())
    }
    assert users == {"models/inference/adamw.py"}


def nouns(path: Path) -> list[str]:
    """Return the nouns of systems in a file, code and prose, as `grep -w` would."""
    return sorted({word.lower() for word in NOUNS.findall(path.read_text())})


def general_files() -> list[str]:
    """Return the files of tasks and flows that no system owns."""
    files = [
        path.relative_to(ROOT)
        for layer in ("tasks", "flows")
        for path in sorted((ROOT / layer).rglob("*.py"))
    ]
    return [path.as_posix() for path in files if path.parts[:2] != ("tasks", "systems")]


@pytest.mark.parametrize("name", general_files())
def test_no_noun_of_a_system_stands_outside_the_systems(name):
    found = nouns(ROOT / name)
    if name in THE_COMMAND_LINES:
        return
    assert set(found) - FIXED.get(name, set()) == set()


def test_the_lists_of_exceptions_name_files():
    listed = {*THE_COMMAND_LINES, *FIXED}
    assert sorted(name for name in listed if not (ROOT / name).is_file()) == []


@pytest.mark.slow
def test_every_module_imports_and_does_nothing_else(tmp_path):
    """One fresh process imports all: it writes no file, starts no thread and prints nothing."""
    names = [
        ".".join(("ricochet", *path.relative_to(ROOT).with_suffix("").parts))
        for layer in LAYERS
        for path in sorted((ROOT / layer).rglob("*.py"))
        if not path.name.startswith("__")
    ]
    lines = [f"import {name}" for name in ("sys", "threading", *names)]
    code = "\n".join([*lines, "print(threading.active_count(), file=sys.stderr)"])
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir(), temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        cwd=here,
        env=os.environ | {"TMPDIR": str(temporary), "MPLCONFIGDIR": str(tmp_path / "fonts")},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "1\n")
    assert [*here.iterdir(), *temporary.iterdir()] == []
