"""One server alone, as `ricochet up` runs it."""

import contextlib
import os
import socket
import subprocess

from ricochet.flows.servers import environments, serving


@contextlib.contextmanager
def running(name, own):
    """Run a server with its own variables; yields its address, without scheme, and process."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        subprocess.Popen(
            serving.command(name, [listener]),
            env={**os.environ, **environments.QUIET, **own},
            pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        ) as process,
    ):
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}", process
        finally:
            process.terminate()
