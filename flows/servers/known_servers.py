"""The servers of this user that run, and where they keep their state, by the port of Prefect's.

A lab's state may lie anywhere, and what asks its servers by their address must find it, for it has
to hold their ports (`held_ports`): else another user who takes them is sent its login.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ricochet.flows.servers import children, held_ports
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import announce
from ricochet.tasks.storage import limits, login_transport, secret_files
from ricochet.tasks.storage.files import read_regular, write_bytes
from ricochet.tasks.storage.provenance import artifacts


def find_running(state: Path) -> dict[str, Any] | None:
    """Return the ledger of `ricochet up`, if that process lives and its servers answered."""
    found = children.ledger(state)
    return found if found is not None and "prefect" in found else None


def hold_ports(address: str) -> None:
    """Keep the ports of `up` from others while this process lives, if that is where Prefect is.

    Raises:
        BadInput: They are not handed over.
    """
    try:
        port = urlsplit(address).port
    except ValueError:  # which nobody asks
        return
    for state in (artifacts(), port and state_of(port)):
        running = find_running(state) if state else None
        if state and running is not None and _is_at(address, running["prefect"]):
            servers = (running["mlflow"], running["prefect"])
            held_ports.hold(state, [urlsplit(each).port or 0 for each in servers])
            return


def _is_at(address: str, server: str) -> bool:
    """Tell whether an address is that of a server on loopback, by any of its names."""
    asked = urlsplit(address)
    return asked.port == urlsplit(server).port and asked.hostname in login_transport.LOOPBACK


@contextlib.contextmanager
def noted(state: Path, port: int) -> Iterator[None]:
    """Say in a folder of this user's, while the block lasts, where a port's servers have theirs."""
    try:
        if (folder := _folder()) is None:
            raise BadInput("XDG_CACHE_HOME", "nothing, and no home", "a folder of this user's")
        file = secret_files.taken_folder(folder) / str(port)
        _forget_ended(file.parent)
        write_bytes(file, os.fsencode(state.resolve()))
    except BadInput as error:  # nobody's home, or a full disk
        announce(f"{error}; what asks these servers from another folder of outputs holds no ports")
        yield
        return
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def state_of(port: int) -> Path | None:
    """Return the folder of state of this user's servers on a port; None where there are none."""
    folder = _folder()
    if folder is None or not (folder / str(port)).exists():
        return None
    secret_files.own_folder(folder)
    expected = "the folder of state of servers"
    return Path(os.fsdecode(read_regular(folder / str(port), expected, largest=limits.LONGEST)))


def _folder() -> Path | None:
    """Return the folder; None where this user has no home."""
    kept = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(kept).expanduser() / "ricochet-servers"
    except RuntimeError:
        return None


def _forget_ended(folder: Path) -> None:
    """Remove what servers that were killed left."""
    for file in folder.iterdir():
        state = state_of(int(file.name)) if file.name.isdecimal() else None
        if state is not None and children.ledger(state) is None:
            file.unlink(missing_ok=True)
