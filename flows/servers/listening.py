"""Sockets that listen before the servers that answer on them are started, and which these inherit.

A server that binds its port itself, seconds after its arguments show it, loses it to any user of
the machine who watches them; whoever has the port is sent the logins, and is believed. A port that
is listened on can be bound by nobody else, on no address that leads to it.
"""

import contextlib
import socket
from collections.abc import Iterator, Sequence

from ricochet.models.core.bad_input import BadInput

LOOPBACK = "127.0.0.1"
EVERYWHERE = "0.0.0.0"
BACKLOG = 2048
"""Connections that wait, as at uvicorn."""


def listen(host: str, port: int) -> list[socket.socket]:
    """Listen on an address, and on loopback too, where the clients of this machine ask.

    Args:
        port: 0 takes a free one.

    Raises:
        BadInput: The port is taken, or the address is not of this machine.
    """
    found = [_listener(host, port)]
    number, port = found[0].getsockname()
    if number not in (LOOPBACK, EVERYWHERE):
        try:
            found.append(_listener(LOOPBACK, port))
        except BadInput:
            found[0].close()
            raise
    return found


@contextlib.contextmanager
def held(host: str, ports: Sequence[int]) -> Iterator[list[list[socket.socket]]]:
    """Listen on several ports while the block lasts, and until all that it started has ended."""
    with contextlib.ExitStack() as stack:
        found = []
        for port in ports:
            found.append(listen(host, port))
            for listener in found[-1]:
                stack.enter_context(listener)
        yield found


def address(listeners: Sequence[socket.socket]) -> str:
    """Return where the clients of this machine find a server: on loopback, by its number.

    `localhost` may be another address too, on which anybody may listen.
    """
    return f"http://{LOOPBACK}:{listeners[0].getsockname()[1]}"


def _listener(host: str, port: int) -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # after a server that just ended
    try:
        found.bind((host, port))
        found.listen(BACKLOG)
    except OSError as error:
        found.close()
        said = (error.strerror or str(error)).lower()
        raise BadInput(f"{host}:{port}", said, "a free port, or another by option") from error
    return found
