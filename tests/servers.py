"""Servers of tests, and the Prefect server that verbs of many tests share.

A server of its own costs every verb seconds of both cores.
"""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests import stores


def free_port():
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="session")
def prefect_api(tmp_path_factory):
    """The address of a server that lasts as long as the tests of a worker."""
    folder, port = tmp_path_factory.mktemp("prefect"), free_port()
    stores.with_prefect(folder)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    environment |= {"PREFECT_HOME": str(folder), "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--no-services"]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        wait_until_it_answers(f"http://127.0.0.1:{port}/api/health", process)
        yield f"http://127.0.0.1:{port}/api"
    finally:
        process.terminate()
        process.wait(30)


def wait_until_it_answers(address, process, *, seconds=300.0):
    """Return once an address answers, or fail when its process has ended or time is up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=2.0) as answer:
                return answer.status
        except OSError:
            time.sleep(0.3)
    pytest.fail(f"{address} does not answer")


@contextlib.contextmanager
def listening(command, port, log):
    """Run a server until the block ends, once its port answers."""
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)
    try:
        end = time.monotonic() + 120
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None or time.monotonic() > end:
                pytest.fail(log.read_text())
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(60)
