"""What a worker of a cluster does with a job, if it runs the very program that sent it.

Two programs would give two results, so a job carries the description of the one that it is from:
the digest of all its code, and the versions of what computes. Work and job come as bytes and are
read only where it is the same. Each job computes on one thread, and finds its work as it was sent,
whatever the jobs before did to theirs.
"""

import functools
import hashlib
import pickle
import platform
from importlib import metadata
from typing import Any

from ricochet.tasks.cluster import handshakes
from ricochet.tasks.console.jobs import in_this_process, running_on
from ricochet.tasks.console.threads import use_one_thread
from ricochet.tasks.storage.provenance import ROOT

LAYERS = ("models", "hardware", "tasks", "flows")
COMPUTING = ("numpy", "scipy", "torch", "mujoco", "numba", "distributed")


class OtherProgramError(RuntimeError):
    """A worker runs another program than the one that sent it a job."""


@functools.cache
def program() -> str:
    """Describe this program in a line: its code's digest, Python, and packages that compute."""
    digest = hashlib.sha256()
    for path in sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    versions = ", ".join(f"{name} {_version(name)}" for name in COMPUTING)
    return f"code {digest.hexdigest()[:12]}, Python {platform.python_version()}, {versions}"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def given(content: bytes) -> bytes:
    """Return what all jobs of a run share: a task, so that it is made anew where it was lost."""
    return content


def do(expected: str, work: bytes, job: bytes) -> Any:
    """Do a job; OtherProgramError where the program is not the expected one."""
    if program() != expected:
        raise OtherProgramError(program())
    use_one_thread()
    with running_on(in_this_process):
        try:
            return pickle.loads(work)(pickle.loads(job))
        except Exception as error:
            _refuse_unshown(error)
            raise


def _refuse_unshown(error: Exception) -> None:
    """Raise another error where one cannot be written: Dask would wait for ever."""
    try:
        str(error), repr(error)
    except Exception:
        raise RuntimeError(f"{type(error).__name__}, which cannot be shown") from None


async def dask_setup(worker: object) -> None:
    """Describe the program as a worker starts, before its files may change; Dask calls this."""
    use_one_thread()
    handshakes.bound()
    await handshakes.close_pages(worker)
    program()
