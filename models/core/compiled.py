"""Scalar loops as machine code where numba is installed, as plain Python where it is not."""

import contextlib
import hashlib
import importlib.util
import inspect
import os
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

KEPT = 8  # folders of machine code beside the sources of one folder, at least
RESTING = 3600.0  # s without use after which others are removed


def compiled(function: Function) -> Function:
    """Return a function that numba compiles at its first call, the same function without numba.

    It becomes part of the compiled functions that call it: handing over tuples of arrays costs more
    than most of these functions do.

    Machine code is kept beside the sources and is named by the content of every source in the
    folders of the function and of those that it calls: what an edit touches is compiled again.
    Where there is new code, old code that no process has begun with of late is removed. Code that
    cannot be kept, as on a full disk, is used all the same.

    >>> @compiled
    ... def squares(count: int) -> float:
    ...     return sum([k * k for k in range(count)])
    >>> squares(4)
    14
    """
    if not available():
        return function
    import numba

    settings: Any = numba.config
    plain = inspect.unwrap(function)  # without the check of types that tests put around it
    in_a_file = Path(plain.__code__.co_filename).is_file()  # what is typed in is compiled anew
    before = settings.CACHE_DIR
    if in_a_file:
        folder = _code_folder(plain)
        _use(folder)
        settings.CACHE_DIR = str(folder)
    try:
        how: Any = numba.njit(cache=in_a_file, error_model="numpy", forceinline=True)
        machine_code: Any = how(plain)
        if in_a_file:
            _keep_if_possible(machine_code._cache)
        return machine_code
    finally:
        settings.CACHE_DIR = before


def _keep_if_possible(cached: Any) -> None:
    """Have a function's cache go without what it cannot write: numba itself would raise."""
    save = cached.save_overload

    def save_if_possible(signature: Any, result: Any) -> None:
        with contextlib.suppress(OSError):
            save(signature, result)

    cached.save_overload = save_if_possible


@cache
def available() -> bool:
    """Return whether functions are compiled here.

    >>> isinstance(available(), bool)
    True
    """
    return importlib.util.find_spec("numba") is not None


def _code_folder(function: Callable[..., Any]) -> Path:
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for sources in sorted(_folders(function)):
        digest.update(_digest(sources))
    home = Path(function.__code__.co_filename).parent
    kept = home / "__pycache__"
    if not os.access(kept if kept.exists() else home, os.W_OK):
        caches = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
        kept = caches / "ricochet" / home.name
    return kept / f"compiled-{digest.hexdigest()[:16]}"


@cache
def _use(folder: Path) -> None:
    """Note that a folder of machine code is in use; where it is new, remove old ones beside it.

    Other processes do the same at the same time: what fails is left to the next.
    """
    with contextlib.suppress(OSError):
        if folder.exists():
            os.utime(folder)
            return
        folder.mkdir(parents=True, exist_ok=True)
        used = sorted((each.stat().st_mtime, each) for each in folder.parent.glob("compiled-*"))
        for last, old in used[:-KEPT]:
            if last < time.time() - RESTING:
                shutil.rmtree(old, ignore_errors=True)


def _folders(function: Callable[..., Any]) -> set[Path]:
    """Return the folders of a function and of the compiled functions that it calls."""
    found = {Path(function.__code__.co_filename).parent}
    for name in function.__code__.co_names:
        value: Any = function.__globals__.get(name)
        if hasattr(value, "py_func"):
            found |= _folders(value.py_func)
        elif inspect.ismodule(value) and value.__name__.startswith("ricochet."):
            found.add(Path(str(value.__file__)).parent)
    return found


@cache
def _digest(sources: Path) -> bytes:
    digest = hashlib.sha256()
    for source in sorted(sources.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.digest()
