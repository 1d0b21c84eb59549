"""Processes that run while a block lasts, and the ledger by which others find them.

None outlives a parent that is killed (`flows.servers.kill_guard`). The ledger, `servers.json`,
names the parent: whoever starts the next ones ends what even the guard has left of the last.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ricochet.flows.servers import kill_guard
from ricochet.tasks.storage import process_ids
from ricochet.tasks.storage.files import write_json
from ricochet.tasks.storage.provenance import workplace

LEDGER = "servers.json"
STDERR = 2


@contextlib.contextmanager
def running(
    command: Sequence[str],
    *,
    log: Path | None,
    environment: Mapping[str, str],
    listeners: Sequence[socket.socket] = (),
    patience: float = 15.0,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process in a group of its own, asked to stop and then made to when the block ends.

    The log is the file to which what it prints is added, or None where it prints among what this
    process says of its work; it may take `patience` seconds to stop.
    It inherits the sockets under their numbers.
    """
    kill_guard.guard_children()
    with contextlib.nullcontext(STDERR) if log is None else log.open("ab") as file:
        child = subprocess.Popen(
            command,
            cwd=workplace(),
            env={**environment, kill_guard.MARK: os.environ[kill_guard.MARK]},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[each.fileno() for each in listeners],
        )
    try:
        yield child
    finally:
        _signal_group(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(patience)
        _signal_group(child.pid, signal.SIGKILL)
        child.wait()


def write_ledger(state: Path, **addresses: str) -> None:
    """Name this process to others, and the addresses of its servers once they answer."""
    write_json(state / LEDGER, {**addresses, "process": process_ids.name_of(os.getpid())})


def ledger(state: Path) -> dict[str, Any] | None:
    """Return the ledger in a folder, if the process that wrote it is alive."""
    found = _read(state)
    return found if found is not None and process_ids.is_alive(found["process"]) else None


def end_orphans(state: Path, *, patience: float = 15.0) -> int:
    """End what a parent that is gone has left running; return how many it had started."""
    found = _read(state)
    if found is None or not process_ids.is_gone(found["process"]):
        return 0
    left = kill_guard.end_children(found["process"], patience=patience)
    (state / LEDGER).unlink(missing_ok=True)
    return left


def _read(state: Path) -> dict[str, Any] | None:
    """Read the ledger; one that is missing, broken or of another form is none."""
    try:
        found = json.loads((state / LEDGER).read_text())
        return dict(found) if isinstance(found["process"], str) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
