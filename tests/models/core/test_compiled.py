"""Compiled functions: plain without numba, and named by the sources that they come from."""

import errno
import importlib.util
import os
import time
from pathlib import Path
from types import ModuleType

import pytest

from ricochet.models.core import compiled
from ricochet.models.core.compiled import available


def double(value: float) -> float:
    return 2.0 * value


def module(folder: Path, name: str, text: str) -> ModuleType:
    """A module of a file that is written now."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(text)
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def kept(function: object) -> str:
    compiled._digest.cache_clear()
    return compiled._code_folder(function).name  # type: ignore[arg-type]


def test_without_numba_the_function_is_returned_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "available", lambda: False)
    assert compiled.compiled(double) is double


def test_the_name_of_machine_code_changes_with_any_source_beside_it(tmp_path: Path) -> None:
    here = module(tmp_path / "here", "one", "def f(x):\n    return x\n")
    first = kept(here.f)
    assert kept(here.f) == first
    (tmp_path / "here" / "two.py").write_text("A = 1\n")
    second = kept(here.f)
    (tmp_path / "here" / "two.py").write_text("A = 2\n")
    assert len({first, second, kept(here.f)}) == 3


def test_it_changes_with_the_sources_of_functions_that_are_called(tmp_path: Path) -> None:
    there = module(tmp_path / "there", "called", "def g(x):\n    return x\n")
    here = module(tmp_path / "here", "calling", "def f(x):\n    return g(x)\n")

    class Machine:
        py_func = there.g

    here.g = Machine
    before = kept(here.f)
    (tmp_path / "there" / "called.py").write_text("def g(x):\n    return x + 1\n")
    assert kept(here.f) != before
    assert compiled._folders(here.f) == {tmp_path / "here", tmp_path / "there"}


def test_settings_of_numba_are_as_before() -> None:
    if not available():
        pytest.skip("numba is not installed")
    import numba

    before = numba.config.CACHE_DIR
    machine = compiled.compiled(double)
    assert before == numba.config.CACHE_DIR
    assert machine.py_func is double  # type: ignore[attr-defined]


def test_machine_code_that_cannot_be_kept_is_used_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk numba raises where a function is first called: as an arm moves."""
    if not available():
        pytest.skip("numba is not installed")
    from numba.core.caching import IndexDataCacheFile

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "_save_data", full)
    here = module(tmp_path / "here", "one", "def f(x):\n    return 2.0 * x\n")
    machine = compiled.compiled(here.f)
    assert machine(3.0) == 6.0 and machine(3) == 6.0
    monkeypatch.undo()
    again = module(tmp_path / "here", "one", "def f(x):\n    return 2.0 * x\n")
    assert compiled.compiled(again.f)(3.0) == 6.0


def test_new_machine_code_removes_old_code_but_the_newest_and_what_is_in_use(
    tmp_path: Path,
) -> None:
    """Twelve folders: those of an hour ago and more are removed but the newest."""
    if not available():
        pytest.skip("numba is not installed")
    home = tmp_path / "here"
    folders = [home / "__pycache__" / f"compiled-{number}" for number in range(12)]
    for number, folder in enumerate(folders):
        (folder / "of_numba").mkdir(parents=True)
        when = time.time() - 3.0 * compiled.RESTING * (12 - number)
        os.utime(folder, (when, when))
    here = module(home, "one", "def f(x):\n    return x\n")
    compiled.compiled(here.f)
    newest = folders[-(compiled.KEPT - 1) :]
    assert set((home / "__pycache__").glob("compiled-*")) == {
        *newest,
        compiled._code_folder(here.f),
    }


def test_machine_code_that_a_process_begins_with_is_the_newest_and_of_late_use_is_kept(
    tmp_path: Path,
) -> None:
    if not available():
        pytest.skip("numba is not installed")
    home = tmp_path / "here"
    here = module(home, "one", "def f(x):\n    return x\n")
    folder, many = compiled._code_folder(here.f), 2 * compiled.KEPT
    old, late = ([home / "__pycache__" / f"compiled-{k}-{n}" for n in range(many)] for k in "ab")
    for each in (folder, *old, *late):
        each.mkdir(parents=True)
    for each in (folder, *old):
        os.utime(each, (1e9, 1e9))
    compiled.compiled(here.f)
    assert folder.stat().st_mtime > time.time() - 60.0 and all(each.exists() for each in old)
    (home / "two.py").write_text("A = 1\n")
    compiled._digest.cache_clear()
    compiled.compiled(here.f)
    assert not any(each.exists() for each in old)
    assert all(each.exists() for each in (folder, *late))
