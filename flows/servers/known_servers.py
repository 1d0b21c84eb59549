"""The servers of this user that run, and where they keep their state.

A lab's state may lie anywhere, and what asks its servers by their address must find it, for it has
to hold their ports (`held_ports`): else another user who takes them is sent its login. Whoever asks
by https may reach them through a proxy on this machine.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
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


def hold_ports(*addresses: str) -> None:
    """Keep the ports of `up` from others while this process lives, if a server of it is asked.

    Raises:
        BadInput: They are not handed over.
    """
    for state in dict.fromkeys((artifacts().resolve(), *states())):
        running = find_running(state)
        servers = (running["mlflow"], running["prefect"]) if running else ()
        if any(_may_reach(address, servers) for address in addresses):
            held_ports.hold(state, [urlsplit(each).port or 0 for each in servers])


def _may_reach(address: str, servers: Sequence[str]) -> bool:
    """Tell whether servers on loopback are asked, by any of its names or through a proxy."""
    try:
        asked = urlsplit(address)
        named = asked.hostname in login_transport.LOOPBACK
        return any(
            asked.scheme == "https" or (named and asked.port == urlsplit(each).port)
            for each in servers
        )
    except ValueError:  # which nobody asks
        return False


@contextlib.contextmanager
def noted(state: Path, port: int) -> Iterator[None]:
    """Say in a folder of this user's, while the block lasts, where servers have their state.

    Args:
        port: That of one of them, by which the note is named.
    """
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


def states() -> list[Path]:
    """Return the folders of state of this user's servers, of killed ones too."""
    folder = _folder()
    if folder is None or not folder.exists():
        return []
    secret_files.own_folder(folder)
    return [state for file in sorted(folder.iterdir()) if (state := _state_in(file)) is not None]


def _state_in(file: Path) -> Path | None:
    """Return what a note says; None where its servers have just ended."""
    if not file.name.isdecimal() or not file.exists():
        return None
    expected = "the folder of state of servers"
    return Path(os.fsdecode(read_regular(file, expected, largest=limits.LONGEST)))


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
        state = _state_in(file)
        if state is not None and children.ledger(state) is None:
            file.unlink(missing_ok=True)
