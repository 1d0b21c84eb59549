"""MLflow's server keeps no large body of a stranger's, and takes files of any size."""

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
