"""What a test may leave behind: threads, child processes, files, changed global states."""

import gc
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

GRACE = 5.0  # s that threads and processes have to end after the test
CACHES = ("__pycache__/", ".hypothesis/")
FOREIGN = ("torchinductor_", "runner_storage")  # folders that torch and Prefect keep for themselves


@dataclass(frozen=True)
class Traces:
    """What there is at one instant.

    Attributes:
        threads: Threads of this process, by identity.
        children: Numbers of its child processes.
        files: Names in the folder of temporary files.
        states: Global states by name, comparable.
    """

    threads: frozenset[threading.Thread]
    children: frozenset[int]
    files: frozenset[str]
    states: dict[str, Any]


def now(temporary: Path, *, typed: bool = False) -> Traces:
    """Look at this process and at its folder of temporary files."""
    return Traces(
        frozenset(threading.enumerate()),
        frozenset(children()),
        frozenset(name for name in os.listdir(temporary) if not name.startswith(FOREIGN)),
        global_states(typed=typed),
    )


def left(before: Traces, temporary: Path, *, typed: bool = False) -> list[str]:
    """Return one line for each trace that was not there before; waits for what is ending."""
    after = now(temporary, typed=typed)
    if _alive(before, after):
        gc.collect()  # pools of threads end with whoever holds them; too slow for every test
    deadline = time.monotonic() + GRACE
    while _alive(before, after) and time.monotonic() < deadline:
        time.sleep(0.01)
        after = now(temporary, typed=typed)
    lines = _alive(before, after)
    lines += [f"file left: {temporary / name}" for name in sorted(after.files - before.files)]
    same = before.states.keys() & after.states.keys()  # numpy and torch may be imported in between
    lines += [f"changed: {name}" for name in same if before.states[name] != after.states[name]]
    return lines


def children() -> set[int]:
    """Return the child processes, but for the one that multiprocessing keeps; Linux alone."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return set()
    found: set[int] = set()
    for task in os.listdir(tasks):
        try:
            found |= {int(number) for number in (tasks / task / "children").read_text().split()}
        except OSError:
            continue  # the thread has ended
    return found - {resource_tracker._resource_tracker._pid or -1}


def global_states(*, typed: bool = False) -> dict[str, Any]:
    """Return the state of each global generator, and torch's precision and threads.

    Args:
        typed: Whether beartype checks the annotations: it draws from `random` itself.
    """
    states: dict[str, Any] = {}
    if not typed:
        states["state of random"] = random.getstate()
    if numpy := sys.modules.get("numpy"):
        name, keys, *rest = numpy.random.get_state()
        states["state of numpy.random"] = (name, keys.tobytes(), rest)
    if torch := sys.modules.get("torch"):
        states["state of torch's generator"] = torch.random.get_rng_state().numpy().tobytes()
        states["torch's default dtype"] = torch.get_default_dtype()
        states["torch's number of threads"] = torch.get_num_threads()
    return states


def repository(root: Path) -> frozenset[str] | None:
    """Return git's status of each file that is not as committed; None where git does not know."""
    command = ["git", "status", "--porcelain", "--ignored"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    except FileNotFoundError:  # there is no git
        return None
    if done.returncode:
        return None
    return frozenset(line for line in done.stdout.splitlines() if not line.endswith(CACHES))


def _alive(before: Traces, after: Traces) -> list[str]:
    threads = [each for each in after.threads - before.threads if each.is_alive()]
    lines = [f"thread left: {name}" for name in _sorted(each.name for each in threads)]
    return lines + [f"process left: {name}" for name in _sorted(after.children - before.children)]


def _sorted(names: Iterable[object]) -> list[str]:
    return sorted(str(name) for name in names)
