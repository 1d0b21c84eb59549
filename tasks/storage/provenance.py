"""What made a result: the commit, the code behind it, and where outputs live.

The code behind a result is the import closure of the module that makes it: the module, what it
imports at its top or within functions, and so on, within `ricochet`. It is read from the source and
nothing is run. What only a type checker imports does not count, and neither does what is imported
by a name that is put together at run time: whatever chooses modules by name (the catalogue of
systems) must not decide a result. A file that lies beside a module and that the module names in a
string (`scene.xml`) counts like an import.
"""

import ast
import functools
import hashlib
import os
import subprocess
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds the layers: the repository, or `ricochet` where a wheel is installed."""

PACKAGE = "ricochet"
ARTIFACTS = "RICOCHET_ARTIFACTS"
"""Variable of the environment that names another folder of outputs than `artifacts/`."""


def workplace() -> Path:
    """Return where recordings and outputs lie: the checkout, or with a wheel the current folder."""
    return ROOT if (ROOT / "src").is_dir() else Path.cwd()


def artifacts() -> Path:
    """Return the folder of outputs: what `RICOCHET_ARTIFACTS` names, else `artifacts/`."""
    return Path(os.environ.get(ARTIFACTS) or workplace() / "artifacts").resolve()


def git_commit() -> str:
    """Return the hash of the program's commit; `unknown` outside of Git, and in a wheel.

    It ends in `-dirty` when tracked files differ from the commit.
    """
    if workplace() != ROOT:
        return "unknown"  # what holds the environment may be a repository of something else
    commit = git("rev-parse", "HEAD")
    if commit is None:
        return "unknown"
    changed = git("status", "--porcelain", "--untracked-files=no")
    return f"{commit}-dirty" if changed else commit


@functools.cache
def code_digest(module: str, root: Path = ROOT) -> str:
    """Return the SHA-256 of a module's import closure, paths included, once in a process.

    A commit alone would call a result new after a change of the documentation, and old after an
    edit that is not committed.

    Args:
        module: Full name of the module that makes the results, usually `__name__`.
        root: The folder that holds the layers.
    """
    digest = hashlib.sha256()
    for path in sorted(import_closure(module, root)):
        digest.update(path.encode() + b"\0" + (root / path).read_bytes() + b"\0")
    return digest.hexdigest()


def import_closure(module: str, root: Path = ROOT) -> frozenset[str]:
    """Return the files, relative to the root, that a module and all its imports consist of.

    Raises:
        LookupError: If there is no such module.
    """
    found: set[str] = set()
    left = set(_files(module, root))
    if not left:
        raise LookupError(f"no module {module} under {root}")
    while left:
        found |= left
        left = {used for path in left for used in _used(path, root)} - found
    return frozenset(found)


def _used(path: str, root: Path) -> set[str]:
    """Return the files that one file imports or names."""
    if not path.endswith(".py"):
        return set()
    source, folder = (root / path).read_bytes(), Path(path).parent
    names = _imported(source, ".".join([PACKAGE, *folder.parts]))
    files = {file for name in names for file in _files(name, root)}
    return files | {file for file in _data(folder, root) if _named(file, source)}


@functools.cache
def _imported(source: bytes, package: str) -> frozenset[str]:
    """Return all that a source imports, in full: modules, or something within one."""
    return frozenset(_imports(ast.parse(source), package))


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    left: list[ast.AST] = list(tree.body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            left += node.orelse
        else:
            for block in ("body", "orelse", "finalbody", "handlers", "cases"):
                left += getattr(node, block, None) or ()


def _files(name: str, root: Path) -> tuple[str, ...]:
    """Return the files that importing a name runs; empty ones, as most `__init__.py`, say nothing.

    The last part may be a module or something within one.
    """
    package, *parts = name.split(".")
    if package != PACKAGE:
        return ()
    places = [Path(*parts[:count]) for count in range(1, len(parts) + 1)]
    files = [file for place in places for file in (f"{place}.py", f"{place}/__init__.py")]
    return tuple(
        file for file in files if os.path.isfile(root / file) and os.path.getsize(root / file)
    )


def _data(folder: Path, root: Path) -> tuple[str, ...]:
    """Return the files of a folder that are no code."""
    files = (path for path in (root / folder).iterdir() if path.is_file())
    return tuple((folder / path.name).as_posix() for path in files if ".py" not in path.suffix)


def _named(path: str, source: bytes) -> bool:
    """Tell whether a source names a file in a string."""
    name = Path(path).name
    return f'"{name}"'.encode() in source or f"'{name}'".encode() in source


def git(*arguments: str, root: Path = ROOT) -> str | None:
    """Return what Git says of a folder; None where it fails or is missing."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None
