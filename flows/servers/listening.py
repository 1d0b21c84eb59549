"""Sockets that listen before the servers that answer on them are started, and which these inherit.

A server that binds its port itself, seconds after its arguments show it, loses it to any user of
the machine who watches them; whoever has the port is sent the logins, and is believed. A port that
is listened on can be bound by no other user, on no address that leads to it; nor can one that is
bound still (`flows.servers.held_ports`), which its own user may listen on anew.
"""

import contextlib
import errno
import os
import socket
from collections.abc import Iterator, Sequence

from ricochet.models.core.bad_input import BadInput

LOOPBACK, SECOND = "127.0.0.1", "::1"
"""What `localhost` is, the second of them first, where a machine has both."""
EVERYWHERE = "0.0.0.0"
BACKLOG = 2048
"""Connections that wait, as at uvicorn."""

SENT = 2**17
"""Bytes that a connection keeps to send, of which the kernel makes twice as many. Of the 4 MB that
it would keep it waits for a third to go before it takes more: longer than ten seconds, in which an
answer that nobody takes is given up, at 100 kB/s."""


def listen(host: str, port: int) -> list[socket.socket]:
    """Listen on an address, and on loopback too, where the clients of this machine ask.

    Args:
        port: 0 takes a free one.

    Raises:
        BadInput: The port is taken, or the address is not of this machine.
    """
    found = [_listener(host, port)]
    number, port = found[0].getsockname()[:2]
    if number not in (LOOPBACK, EVERYWHERE):
        try:
            found.append(_listener(LOOPBACK, port))
        except BadInput:
            found[0].close()
            raise
    return found


@contextlib.contextmanager
def held(host: str, ports: Sequence[int]) -> Iterator[list[list[socket.socket]]]:
    """Listen on several ports while the block lasts, and until all that it started has ended.

    On each by all that `localhost` may be, for else another user could listen on the rest.
    """
    with contextlib.ExitStack() as stack:
        found = []
        for port in ports:
            found.append([stack.enter_context(each) for each in listen(host, port)])
            number = found[-1][0].getsockname()[1]
            if host != SECOND and _has_second():
                found[-1].append(stack.enter_context(_listener(SECOND, number)))
        yield found


def address(listeners: Sequence[socket.socket]) -> str:
    """Return where the clients of this machine find a server: on loopback, by its number.

    `localhost` may be another address too, on which anybody may listen.
    """
    return f"http://{LOOPBACK}:{listeners[0].getsockname()[1]}"


def _listener(host: str, port: int) -> socket.socket:
    found = socket.socket(_family(host))
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # for this user alone
    found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SENT)  # of its connections too
    try:
        found.bind((host, port))
        if port == 0:  # only a port that was asked for by its number outlives its listening
            with found:
                return _listener(host, found.getsockname()[1])
        if _is_answered(LOOPBACK if host == EVERYWHERE else host, port):
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        found.listen(BACKLOG)
    except OSError as error:
        found.close()
        said = (error.strerror or str(error)).lower()
        raise BadInput(f"{host}:{port}", said, "a free port, or another by option") from error
    return found


def _is_answered(host: str, port: int) -> bool:
    """Tell whether this user has another server there: with it, a port would be shared."""
    with socket.socket(_family(host)) as asking:
        asking.settimeout(1.0)
        return asking.connect_ex((host, port)) != errno.ECONNREFUSED


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _has_second() -> bool:
    """Tell whether this machine has the second loopback: IPv6 may be off."""
    try:
        with socket.socket(socket.AF_INET6) as asking:
            asking.bind((SECOND, 0))
    except OSError:
        return False
    return True
