"""The ports of `ricochet up`, held as well by every program that uses its servers.

A program that outlives `up` goes on asking its ports, sends its logins there, and believes what it
is answered. So `up` hands its listening sockets to each program of its user that asks at a socket
in its folder of state. As long as one of them is open, no other user can bind the port. Once `up`
is gone they listen no more: calls fail at once, and the next `up` of the same user gets the port.
"""

import contextlib
import os
import socket
import socketserver
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ricochet.models.core.bad_input import BadInput

DOOR = "ports.sock"
MOST = 8
"""Sockets that are handed over: of two servers, on up to three addresses each."""
PATIENCE = 10.0
"""Longest wait for what `up` hands over, s."""
LINES = 200
"""Programs that may hold ports at a time; more are sent away."""
TICK = 0.5
"""Between two looks at whether `up` ends, s."""
STARTING = 60.0
"""For how long a server that `up` had begun may listen once more, s."""
_holding = threading.Lock()
_held: dict[Path, list[socket.socket]] = {}
_outlived: list[socket.socket] = []
"""Bound still, and listening no more."""


@contextlib.contextmanager
def offered(state: Path, listeners: Sequence[socket.socket]) -> Iterator[None]:
    """Hand sockets to whoever asks in a folder, its user's alone, while the block lasts."""
    (state / DOOR).unlink(missing_ok=True)
    with _place(state) as place, _Door(place, _Line) as door:
        door.numbers = [each.fileno() for each in listeners]
        thread = threading.Thread(target=door.serve_forever, args=(TICK,), name="held ports")
        thread.start()
        try:
            yield
        finally:
            door.ended.set()
            door.shutdown()
            thread.join()
            (state / DOOR).unlink(missing_ok=True)


def hold(state: Path, ports: Sequence[int], *, patience: float = PATIENCE) -> None:
    """Hold ports of the `up` in a folder of state, until this process ends.

    Args:
        patience: Longest wait for what `up` hands over, s.

    Raises:
        BadInput: They are not handed over.
    """
    with _holding:
        if not {*ports} <= _ports(_held.get(state, ())):
            _ask_and_hold(state, ports, patience)


def _ask_and_hold(state: Path, ports: Sequence[int], patience: float) -> None:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    handed: list[socket.socket] = []
    try:
        handed = _asked(state, line, patience)
        if missing := {*ports} - _ports(handed):
            raise OSError(f"no port {min(missing)}")
    except OSError as error:
        for each in (line, *handed):
            each.close()
        found = f"servers that do not hand over their ports ({error.strerror or error})"
        raise BadInput(str(state), found, "running ones, or none: try again in a moment") from error
    _held[state] = handed
    for old in [each for each in _outlived if each.getsockname()[1] in _ports(handed)]:
        _outlived.remove(old)
        old.close()
    threading.Thread(
        target=_outlive, args=(state, line, handed), name="held ports", daemon=True
    ).start()


def _asked(state: Path, line: socket.socket, patience: float) -> list[socket.socket]:
    line.settimeout(patience)
    with _place(state) as place:
        line.connect(place)
    numbers = socket.recv_fds(line, 1, MOST, socket.MSG_CMSG_CLOEXEC)[1]
    line.settimeout(None)
    return [socket.socket(fileno=number) for number in numbers]


def _outlive(state: Path, line: socket.socket, handed: list[socket.socket]) -> None:
    """Wait for the end of `up`; from then on refuse calls, and keep other users from the ports."""
    with line, contextlib.suppress(OSError):
        line.recv(1)
    if _held.get(state) is handed:
        del _held[state]
    _outlived.extend(handed)
    end = time.monotonic() + STARTING
    while time.monotonic() < end:
        for listener in handed:
            with contextlib.suppress(OSError):  # it listens no more, or is closed
                listener.shutdown(socket.SHUT_RDWR)
        time.sleep(TICK)


class _Door(socketserver.ThreadingUnixStreamServer):
    numbers: Sequence[int] = ()

    def __init__(self, *words: object) -> None:
        self.ended, self.free = threading.Event(), threading.Semaphore(LINES)
        super().__init__(*words)  # type: ignore[arg-type]

    def verify_request(self, *_: object) -> bool:
        """Return whether there is a line left for a program."""
        return self.free.acquire(blocking=False)


class _Line(socketserver.BaseRequestHandler):
    """The connection of one program, open until it or `up` ends."""

    server: _Door

    def finish(self) -> None:
        self.server.free.release()

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            socket.send_fds(self.request, [b"\0"], self.server.numbers)
            self.request.settimeout(TICK)
            while not self.server.ended.is_set():
                with contextlib.suppress(TimeoutError):
                    self.request.recv(1)
                    return


def _ports(listeners: Sequence[socket.socket]) -> set[int]:
    return {each.getsockname()[1] for each in listeners}


@contextlib.contextmanager
def _place(state: Path) -> Iterator[str]:
    """Name the socket in a folder shortly: the system takes some 100 letters."""
    folder = os.open(state, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        short = Path(f"/proc/self/fd/{folder}")
        yield str((short if short.exists() else state) / DOOR)
    finally:
        os.close(folder)
