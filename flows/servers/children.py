"""Processes started together and ended together, none of which outlives a parent that is killed.

Two safeguards against a kill -9 of the parent, since neither is enough alone:

- A guard, a shell that sleeps on a pipe whose other end only the parent holds. When the parent is
  gone, however it went, the pipe ends, and the guard ends every group of processes it was told of.
- A ledger, `servers.json`, that names the parent and the children by number and time of start
  (`tasks.storage.process_ids`). Whoever starts the next ones ends what is left of the last, and
  only that.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ricochet.tasks.storage import process_ids as processes
from ricochet.tasks.storage.files import write_json
from ricochet.tasks.storage.provenance import ROOT

LEDGER = "servers.json"
GUARD = """
trap '' HUP INT TERM
finish() {
    kill -s TERM -- "-$1" || return
    for second in 1 2 3 4 5 6 7 8 9 10; do sleep 1; kill -s 0 -- "-$1" || return; done
    kill -s KILL -- "-$1"
}
while read -r line; do groups=$line; done
for group in $groups; do finish "$group" & done
wait
"""
"""Each line holds the numbers of all groups that run now; the last line counts."""


@dataclass
class Children:
    """Processes started here, ended in the reverse order of their start.

    Attributes:
        state: Folder of the ledger.
        logs: Folder of what the processes say.
        environment: That of the processes.
        processes: Those that run.
    """

    state: Path
    logs: Path
    environment: Mapping[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _guard: subprocess.Popen[bytes] | None = None

    def start(self, name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a process in a group of its own, its output in a log.

        Args:
            name: Name of the log.
            command: What to run.

        Returns:
            The process.
        """
        self._guard = self._guard or _start_guard()
        with (self.logs / f"{name}.log").open("wb") as log:
            child = subprocess.Popen(
                command,
                cwd=ROOT,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.processes.append(child)
        _tell(self._guard, " ".join(str(process.pid) for process in self.processes))
        self.write_down()
        return child

    def write_down(self, facts: Mapping[str, str] | None = None) -> None:
        """Write the ledger.

        Args:
            facts: What others shall find in it besides the processes, such as addresses.
        """
        started = [processes.name_of(child.pid) for child in self.processes]
        own = {"process": processes.name_of(os.getpid()), "children": started}
        write_json(self.state / LEDGER, {**(facts or {}), **own})

    def end(self, *, patience: float = 15.0) -> None:
        """Ask each to stop, then make it.

        Args:
            patience: How long each may take to stop, s.
        """
        (self.state / LEDGER).unlink(missing_ok=True)
        for child in reversed(self.processes):
            _signal_group(child.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(patience)
            _signal_group(child.pid, signal.SIGKILL)
            child.wait()
        self.processes.clear()
        if self._guard is not None:
            _tell(self._guard, "")
            self._guard.communicate()
            self._guard = None


def owner(state: Path) -> dict[str, Any] | None:
    """Read who started what.

    Args:
        state: Folder of the ledger.

    Returns:
        Its content, if the process that wrote it is alive; else None.
    """
    found = _read(state)
    return found if found is not None and processes.is_alive(found["process"]) else None


def end_orphans(state: Path, *, patience: float = 15.0) -> int:
    """End what a parent that is gone has left running.

    Args:
        state: Folder of the ledger.
        patience: How long each may take to stop, s.

    Returns:
        How many were ended; 0 while the parent lives.
    """
    found = _read(state)
    if found is None or processes.is_alive(found["process"]):
        return 0
    left = [name for name in reversed(found["children"]) if processes.is_alive(name)]
    for name in left:
        group, latest = processes.number_of(name), time.monotonic() + patience
        _signal_group(group, signal.SIGTERM)
        while processes.is_alive(name) and time.monotonic() < latest:
            time.sleep(0.05)
        _signal_group(group, signal.SIGKILL)
    (state / LEDGER).unlink(missing_ok=True)
    return len(left)


def _read(state: Path) -> dict[str, Any] | None:
    """Read the ledger; what is missing, broken or of another form holds nothing."""
    try:
        found = json.loads((state / LEDGER).read_text())
        named = [found["process"], *found["children"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(found) if all(isinstance(name, str) for name in named) else None


def _start_guard() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sh", "-c", GUARD],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _tell(guard: subprocess.Popen[bytes], groups: str) -> None:
    """Tell the guard which groups run; where it was killed, the ledger is what remains."""
    assert guard.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        guard.stdin.write(f"{groups}\n".encode())
        guard.stdin.flush()


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
