"""MLflow's server keeps no large body of a stranger's, and takes files of any size."""

import base64
import contextlib
import http.client
import resource
import socket
import urllib.error
import urllib.request

import psutil
import pytest

from ricochet.flows.servers import serving
from ricochet.tasks.registry.server_limits import BODY
from tests.flows.harness import wait_for
from tests.flows.servers import alone

FILE = "/api/2.0/mlflow-artifacts/artifacts/1/run/artifacts/large"


def status(address, method="GET", body=b""):
    """Return what a request is answered, 0 where nothing is."""
    request = urllib.request.Request(address, data=body or None, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60.0) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


@pytest.mark.slow
def test_bodies_are_bounded_but_those_of_files(tmp_path):
    own = {
        "MLFLOW_BACKEND_STORE_URI": f"sqlite:///{tmp_path}/mlflow.db",
        "MLFLOW_ARTIFACTS_DESTINATION": f"{tmp_path}/artifacts",
    }
    with alone.running(serving.MLFLOW, own) as (place, process):
        address = f"http://{place}"
        wait_for(lambda: status(f"{address}/health") == 200, seconds=120.0)
        server = psutil.Process(process.pid)

        def memory():
            return max(
                each.memory_info().rss for each in (server, *server.children(recursive=True))
            )

        before = memory()
        for path in ("/version", "/signup", "/api/2.0/mlflow/runs/search"):
            assert status(address + path, "POST", bytes(BODY + 1)) in (413, 0)  # 0: hung up on
        assert status(f"{address}/version", "POST", bytes(20 * BODY)) in (413, 0)
        assert memory() < before + 2 * BODY
        assert status(address + FILE, "PUT", bytes(2 * BODY)) == 200
        assert (tmp_path / "artifacts" / "1/run/artifacts/large").stat().st_size == 2 * BODY
        assert status(f"{address}/health") == 200


ADMIN = {"Authorization": f"Basic {base64.b64encode(b'admin:of-the-lab-alone').decode()}"}


@pytest.mark.proof
@pytest.mark.parametrize("asked", ["POST /api/2.0/mlflow/runs/search", f"PUT {FILE}"])
def test_bodies_of_strangers_that_never_end_shut_nobody_out(tmp_path, many_files, asked):
    """Of servers that may have 512 files, and strangers who say that they have a login."""
    with (
        alone.running(serving.MLFLOW, alone.with_logins(tmp_path)) as (place, process),
        contextlib.ExitStack() as stack,
    ):
        wait_for(lambda: status(f"http://{place}/health") == 200, seconds=120.0)
        for each in (server := psutil.Process(process.pid), *server.children(recursive=True)):
            resource.prlimit(each.pid, resource.RLIMIT_NOFILE, (512, 512))
        host, _, port = place.partition(":")
        friend = http.client.HTTPConnection(host, int(port), timeout=60.0)
        stack.callback(friend.close)
        head = f"{asked} HTTP/1.1\r\nHost: {place}\r\nAuthorization: Basic YTpi\r\n"
        head += "Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
        for number in range(900):
            if number % 50 == 0:  # before its time is over
                assert experiments(friend) == 200
            found = stack.enter_context(socket.create_connection((host, int(port)), 60.0))
            with contextlib.suppress(ConnectionError):
                found.sendall(head.encode())
        assert status(f"http://{place}/health") == 200
        assert experiments(friend) == 200


def experiments(connection):
    """Ask for experiments by a connection that stays; returns the status."""
    connection.auto_open = connection.sock is None  # never another one
    connection.request("GET", "/api/2.0/mlflow/experiments/search?max_results=1", headers=ADMIN)
    answer = connection.getresponse()
    answer.read()
    return answer.status
