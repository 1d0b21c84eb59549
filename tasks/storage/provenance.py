"""What made a result: the commit, the state of the science code, and where outputs live."""

import functools
import hashlib
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The repository, or the folder that holds the packages where there is none."""

ARTIFACTS = "RICOCHET_ARTIFACTS"
"""Variable of the environment that names another folder of outputs than `artifacts/`."""

MADE_OF = ("models", "tasks", "hardware")
"""The packages whose code decides what a result says."""


def artifacts() -> Path:
    """Return the folder of databases, trained densities and logs.

    Returns:
        What `RICOCHET_ARTIFACTS` names, else `artifacts/` of the repository.
    """
    return Path(os.environ.get(ARTIFACTS) or ROOT / "artifacts").resolve()


def git_commit() -> str:
    """Name the commit of the program.

    Returns:
        The hash, with `-dirty` when tracked files differ from it, or `unknown` outside of Git.
    """
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return "unknown"
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return f"{commit}-dirty" if changed else commit


@functools.cache
def code_digest(packages: tuple[str, ...] = MADE_OF) -> str:
    """Digest the source files that decide what a result says, once in a process.

    A commit alone would call a result new after a change of the documentation, and old after an
    edit that is not committed.

    Args:
        packages: The packages that count, or single files.

    Returns:
        SHA-256 in hexadecimal.
    """
    digest = hashlib.sha256()
    for package in packages:
        place = ROOT / package
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _git(*arguments: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None
