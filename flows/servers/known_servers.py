"""Where the servers of this user keep their state, by the port of Prefect's.

A lab's state may lie anywhere, and what asks its servers by their address must find it, for it has
to hold their ports (`held_ports`): else another user who takes them is sent its login.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ricochet.flows.servers import children
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import announce
from ricochet.tasks.storage import limits, secret_files
from ricochet.tasks.storage.files import read_regular, write_bytes


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
