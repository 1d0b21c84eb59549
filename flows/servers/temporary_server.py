"""Prefect's server for one verb where none is up: started by the first call, ended with the verb.

Prefect would start one by itself and name its port to everybody before it listens: who took the
port would then decide what a flow's results are, and results may be code. So this process listens
from the beginning, and what listens is handed to the server once somebody calls. A verb that makes
no flow run pays nothing. The port stays taken until the verb ends, also where the server does not.
"""

import atexit
import contextlib
import os
import secrets
import select
import socket
import subprocess
import threading

from ricochet.flows.servers import environments, listening, serving
from ricochet.tasks.console.progress import announce

TIMEOUT, OWN = "PREFECT_API_REQUEST_TIMEOUT", "PREFECT_SERVER_EPHEMERAL_ENABLED"
_offered: list[str] = []


def offer() -> dict[str, str]:
    """Listen for the first call, which starts the server; return what its clients must know.

    The password is new. The process must be guarded (`flows.servers.kill_guard`).
    """
    listeners = listening.listen(listening.LOOPBACK, 0)
    login = f"{environments.USER}:{secrets.token_hex(24)}"
    server = _Server(listeners[0], login)
    atexit.register(server.end)
    threading.Thread(target=server.run, name="temporary server", daemon=True).start()
    _offered[:] = [f"{listening.address(listeners)}/api"]
    return {
        "PREFECT_API_URL": _offered[0],
        environments.CLIENT_LOGIN: login,
        OWN: "false",  # Prefect never starts another one
        TIMEOUT: os.environ.get(TIMEOUT, "120"),  # s; the first call waits for the server's start
    }


def is_offered(address: str) -> bool:
    """Tell whether an address is that of this process's own server, which may not run yet."""
    return address in _offered


class _Server:
    """The server, and what listens for it."""

    def __init__(self, listener: socket.socket, login: str) -> None:
        self.listener, self.login = listener, login
        self.lock, self.ended = threading.Lock(), False
        self.child: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Wait for the first call, serve, and refuse calls once the server is gone."""
        select.select([self.listener], [], [])
        with self.lock:
            if not self.ended:
                self.child = self._start()
        if self.child is None:
            return
        status = self.child.wait()
        if not self.ended:
            announce(f"Prefect's temporary server ended by itself, with status {status}")
        with contextlib.suppress(OSError):  # where this process ends
            while True:
                self.listener.accept()[0].close()

    def end(self, patience: float = 5.0) -> None:
        """Ask the server to stop, then, after some patience (s), make it."""
        with self.lock:
            self.ended = True
        if self.child is not None:
            self.child.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.child.wait(patience)
            self.child.kill()
            self.child.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            serving.command(serving.TEMPORARY, [self.listener]),
            env={**os.environ, environments.SERVER_LOGIN: self.login},
            pass_fds=[self.listener.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the verb's own is the answer; errors are on the other
            start_new_session=True,  # Ctrl-C is for the verb, which still says how its run ended
        )
