"""A run whose machine died does not block the next: what it held is freed when servers are up."""

import contextlib
from pathlib import Path

import httpx
import psutil
import pytest

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


def ask(running, folder, *, begin=None):
    """Return the states of all runs by name, and the slots taken; begins one of a name before."""
    name, _, password = (folder / "state/secrets/prefect").read_text().strip().partition(":")
    words = {"base_url": f"{running.prefect}/api", "auth": (name, password), "timeout": 60.0}
    with httpx.Client(**words) as client:
        found = answer(client.get("/deployments/name/busy/busy"))
        if begin:
            given = {"name": begin, "state": {"type": "SCHEDULED"}}
            answer(client.post(f"/deployments/{found['id']}/create_flow_run", json=given))
            found = answer(client.get("/deployments/name/busy/busy"))
        runs = answer(client.post("/flow_runs/filter", json={}))
    states = {run["name"]: run["state"]["type"] for run in runs}
    return states, found["global_concurrency_limit"]["active_slots"]


def answer(response):
    return response.raise_for_status().json()


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
@pytest.mark.slow
def test_a_run_of_a_dead_machine_does_not_cancel_the_next_and_a_living_one_does(
    tmp_path, monkeypatch
):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))  # what a killed run leaves there
    with started(tmp_path, deployments=deploy) as running:
        ask(running, tmp_path, begin="dead")
        wait_for(lambda: begun(tmp_path), seconds=300)
        assert ask(running, tmp_path) == ({"dead": "RUNNING"}, 1)
        die(running, begun(tmp_path)[0])
    with started(tmp_path, deployments=deploy) as running:
        assert ask(running, tmp_path) == ({"dead": "CRASHED"}, 0)
        ask(running, tmp_path, begin="living")
        wait_for(lambda: len(begun(tmp_path)) == 2, seconds=300)
        ask(running, tmp_path, begin="too-soon")
        wait_for(lambda: ask(running, tmp_path)[0]["too-soon"] == "CANCELLED", seconds=300)
        states, slots = ask(running, tmp_path)
        assert (states["living"], slots) == ("RUNNING", 1)
        (tmp_path / "enough").touch()
        wait_for(lambda: ask(running, tmp_path)[1] == 0, seconds=300)
        assert ask(running, tmp_path)[0]["living"] == "COMPLETED"
