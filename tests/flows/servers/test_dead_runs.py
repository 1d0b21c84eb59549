"""A run whose machine died does not block the next: what it held is freed when servers are up."""

import contextlib
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from tests.checkouts import ROOT, python_path
from tests.flows.harness import guard_of, started, wait_for

BUSY = '''"""A flow that goes on until a file is there."""

import time
from pathlib import Path

from prefect import flow
from ricochet.flows.prefect_options import FLOW


@flow(name="busy", **FLOW)
def busy(path: str) -> None:
    """Say which process runs, and wait."""
    with Path(path).open("a") as file:
        file.write(f"{__import__('os').getpid()}\\n")
    while not Path(path).with_name("enough").exists():
        time.sleep(0.1)
'''
DEPLOYMENTS = """name: test
pull:
  - prefect.deployments.steps.set_working_directory:
      directory: "{{ $PWD }}"
deployments:
  - name: busy
    entrypoint: %s/busy.py:busy
    work_pool: {name: compute}
    parameters: {path: %s/begun}
    concurrency_limit: {limit: 1, collision_strategy: CANCEL_NEW}
"""
ASK = """
import json, sys
from prefect.client.orchestration import get_client
with get_client(sync_client=True) as client:
    deployment = client.read_deployment_by_name("busy/busy")
    if sys.argv[1] == "start":
        client.create_flow_run_from_deployment(deployment.id, name=sys.argv[2])
    states = {run.name: run.state.type.value for run in client.read_flow_runs()}
    print(json.dumps([states, deployment.global_concurrency_limit.active_slots]))
"""


def ask(running, home, *words):
    """Return the states of all runs by name, and the slots taken; `start NAME` begins one."""
    login = (home.parent / "state" / "secrets" / "prefect").read_text().strip()
    settings = {"PREFECT_API_URL": f"{running.prefect}/api", "PREFECT_HOME": str(home)}
    settings["PREFECT_API_AUTH_STRING"] = login
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ASK), *words],
        cwd=ROOT,
        env=os.environ | settings | {"PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        check=True,
    )
    states, slots = json.loads(done.stdout.splitlines()[-1])
    return states, slots


def begun(folder):
    """Return the numbers of the processes that began a run."""
    path = folder / "begun"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def die(running, process):
    """Kill all of a machine's processes at once, as a loss of power does."""
    family = psutil.Process(running.process.pid).children(recursive=True)
    for each in [guard_of(running.process.pid), running.process, *family, psutil.Process(process)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    running.process.wait()


def deploy(folder: Path) -> None:
    (folder / "busy.py").write_text(BUSY)
    (folder / "deployments.yaml").write_text(DEPLOYMENTS % (folder, folder))


@pytest.mark.proof
def test_a_run_of_a_dead_machine_does_not_cancel_the_next_and_a_living_one_does(
    tmp_path, monkeypatch
):
    home = tmp_path / "home"
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))  # what a killed run leaves there
    with started(tmp_path, deployments=deploy) as running:
        ask(running, home, "start", "dead")
        wait_for(lambda: begun(tmp_path), seconds=300)
        assert ask(running, home, "look") == ({"dead": "RUNNING"}, 1)
        die(running, begun(tmp_path)[0])
    with started(tmp_path, deployments=deploy) as running:
        assert ask(running, home, "look") == ({"dead": "CRASHED"}, 0)
        ask(running, home, "start", "living")
        wait_for(lambda: len(begun(tmp_path)) == 2, seconds=300)
        ask(running, home, "start", "too-soon")
        wait_for(lambda: ask(running, home, "look")[0]["too-soon"] == "CANCELLED", seconds=300)
        states, slots = ask(running, home, "look")
        assert (states["living"], slots) == ("RUNNING", 1)
        (tmp_path / "enough").touch()
        wait_for(lambda: ask(running, home, "look")[1] == 0, seconds=300)
        assert ask(running, home, "look")[0]["living"] == "COMPLETED"
