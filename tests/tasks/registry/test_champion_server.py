"""The champion from a real MLflow server, as `ricochet up` starts it."""

import os
import subprocess

import pytest

from ricochet.flows.servers import environments, listening, serving
from ricochet.tasks.registry import packages, runs, versions
from ricochet.tasks.registry.champion import DAY, Champion
from ricochet.tasks.registry.sources import Server
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests.servers import wait_until_it_answers


@pytest.mark.slow
@pytest.mark.parametrize("through_server", [pytest.param(False, marks=pytest.mark.proof), True])
def test_the_champion_comes_from_a_real_server(tmp_path, package, through_server, monkeypatch):
    """Registered beside the server into the same database, or through it: both are found."""
    monkeypatch.setenv("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    packages.write_package(tmp_path / "package", package, reader=GRID)
    beside = runs.connect(store=tmp_path / "mlflow")
    files = (tmp_path / "mlflow" / "artifacts").as_uri()
    stores = {"MLFLOW_BACKEND_STORE_URI": beside.uri, "MLFLOW_ARTIFACTS_DESTINATION": files}
    environment = {**environments.QUIET, **os.environ, **stores}
    with (tmp_path / "log").open("wb") as log, listening.held("127.0.0.1", [0]) as [listeners]:
        address, command = listening.address(listeners), serving.command("mlflow", listeners)
        numbers = [each.fileno() for each in listeners]
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, pass_fds=numbers
        )
    try:
        wait_until_it_answers(f"{address}/health", process)
        tracker = runs.connect(address) if through_server else beside
        run = runs.open_run(tracker, "calibrate", "key", name="a", tags={})
        made = versions.register(
            tracker, "ball-table", tmp_path / "package", kind=POSTERIOR, run_id=run.run_id, tags={}
        )
        tracker.client.set_registered_model_alias("ball-table", "champion", made.version)
        said = []
        source = Server(address, patience=60.0)
        held = Champion(
            "ball-table",
            source,
            tmp_path / "kept",
            kind=POSTERIOR,
            oldest=DAY,
            report_line=said.append,
        )
        assert held.refresh(), said
        assert held.current().version == "1" and not held.refresh() and said == []
        assert source.resolve("ball-table", POSTERIOR.load_reader()).digest == held.current().digest
        other = Champion(
            "absent", source, tmp_path / "kept", kind=POSTERIOR, oldest=DAY, report_line=said.append
        )
        assert not other.refresh() and "answer 404" in said[0]
    finally:
        process.terminate()
        process.wait(60)
