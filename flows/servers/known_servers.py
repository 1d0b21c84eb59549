"""The servers of this user that run, and where they keep their state.

A lab's state may lie anywhere, and what asks its servers by their address must find it, for it has
to hold their ports (`held_ports`): else another user who takes them is sent its login. `up` says in
a folder of its user's whose its ports are as soon as it listens, so that what asks while it starts
holds them as well.
"""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ricochet.flows.servers import children, held_ports
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import announce
from ricochet.tasks.storage import checked_json, login_transport, process_ids, secret_files
from ricochet.tasks.storage.files import write_json
from ricochet.tasks.storage.provenance import artifacts

STARTING = 120.0
"""Longest time from the first listening of `up` to its handing over, s."""
SHORTLY = 1.0
"""Longest wait for an `up` that may be none of those that are asked, s."""
TICK = 1.0
"""Between two looks at which servers run, s."""


def find_running(state: Path) -> dict[str, Any] | None:
    """Return the ledger of `ricochet up`, if that process lives and its servers answered."""
    found = children.ledger(state)
    return found if found is not None and "prefect" in found else None


def refuse_starting(state: Path) -> None:
    """Refuse to go on where an `up` lives whose servers do not answer yet.

    What is registered may be in a database of its lab's, which nothing here knows until then: the
    store of MLflow's own would stand for it, empty.

    Raises:
        BadInput: They are being started.
    """
    found = children.ledger(state)
    if found is not None and "prefect" not in found:
        expected = "servers that answer: try again once `ricochet up` says where they are"
        raise BadInput(str(state), "servers that are being started", expected)


def hold_ports(*addresses: str) -> None:
    """Keep the ports of `up` from others while this process lives, if a server of it is asked.

    What asks another port of this machine, or another machine, may reach it through a proxy: that
    holds them where they are handed over.

    Raises:
        BadInput: Those of the very server are not handed over.
    """
    asked = {**_of_outputs(), **noted_states()} if any(addresses) else {}
    very = {port for port in asked if any(_is_at(address, port) for address in addresses)}
    others: dict[Path, list[int]] = {}
    for port in asked.keys() - very:
        others.setdefault(asked[port], []).append(port)
    for state, ports in others.items():
        with contextlib.suppress(BadInput):
            held_ports.hold(state, ports, patience=SHORTLY)
    for port in sorted(very):
        _hold(asked[port], port)


def hold_all_of(state: Path, running: Mapping[str, Any]) -> None:
    """Keep the ports that a ledger names from others; BadInput where they are not handed over."""
    held_ports.hold(state.resolve(), _ports(running))


def keep_holding(*addresses: str) -> None:
    """Hold ports of what is started later as well, in a thread, until this process ends."""

    def hold() -> None:
        while True:
            with contextlib.suppress(BadInput, OSError):
                hold_ports(*addresses)
            time.sleep(TICK)

    threading.Thread(target=hold, name="servers that start", daemon=True).start()


def _of_outputs() -> dict[int, Path]:
    """Return the servers whose state is where this process's outputs go, by port."""
    state = artifacts().resolve()
    return dict.fromkeys(_ports(find_running(state) or {}), state)


def _ports(running: Mapping[str, Any]) -> list[int]:
    found = (urlsplit(running.get(server, "")).port for server in ("mlflow", "prefect"))
    return [port for port in found if port is not None]


def _is_at(address: str, port: int) -> bool:
    """Tell whether a port of loopback is asked, by any of its names."""
    try:
        asked = urlsplit(address)
        return asked.hostname in login_transport.LOOPBACK and (asked.port or 80) == port
    except ValueError:  # which nobody asks
        return False


def _hold(state: Path, port: int) -> None:
    """Hold a port, once `up` hands it over: one that starts takes some seconds."""
    deadline = time.monotonic() + STARTING
    while True:
        try:
            held_ports.hold(state, [port])
            return
        except BadInput:
            starts = port in noted_states() and find_running(state) is None
            if not starts or time.monotonic() > deadline:
                raise
        time.sleep(0.1)


@contextlib.contextmanager
def noted(state: Path, ports: Sequence[int]) -> Iterator[None]:
    """Say in a folder of this user's, while the block lasts, where servers have their state."""
    process = process_ids.name_of(os.getpid())
    with contextlib.ExitStack() as notes:
        try:
            if (folder := _folder()) is None:
                raise BadInput("XDG_CACHE_HOME", "nothing, and no home", "a folder of this user's")
            place = secret_files.taken_folder(folder)
            _forget_ended(place)
            for port in ports:
                notes.callback((place / str(port)).unlink, missing_ok=True)
                write_json(place / str(port), {"state": str(state.resolve()), "process": process})
        except BadInput as error:  # nobody's home, or a full disk
            announce(f"{error}; what asks these servers from elsewhere holds no ports")
        yield


def noted_states() -> dict[int, Path]:
    """Return where this user's servers have their state, by port.

    Raises:
        BadInput: Another user may write there.
    """
    folder = _folder()
    if folder is None or not folder.exists():
        return {}
    secret_files.own_folder(folder)
    return {
        int(file.name): Path(str(said.get("state")))
        for file in sorted(folder.iterdir())
        if (said := _note(file)) and process_ids.is_alive(str(said.get("process")))
    }


def _note(file: Path) -> dict[str, Any] | None:
    """Return what a note says, nothing where it cannot be read; None of what is no note."""
    if not file.name.isdecimal():
        return None
    with contextlib.suppress(BadInput):  # its servers have just ended
        return dict(checked_json.load(file))
    return {}


def _folder() -> Path | None:
    """Return the folder of this machine's; None where this user has no home."""
    kept = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(kept).expanduser() / "ricochet-servers" / socket.gethostname()
    except RuntimeError:
        return None


def _forget_ended(folder: Path) -> None:
    """Remove what servers that were killed left."""
    for file in folder.iterdir():
        said = _note(file)
        if said is not None and not process_ids.is_alive(str(said.get("process"))):
            file.unlink(missing_ok=True)
