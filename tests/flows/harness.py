"""`ricochet up` as a user starts it, on free ports, with a schedule that soon fires."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import psutil
import pytest

from ricochet.flows.servers import kill_guard
from tests.stores import with_prefect

TICK = '''"""A flow that leaves a mark."""

from prefect import flow


@flow
def tick(path: str) -> None:
    """Add a line."""
    with open(path, "a") as file:
        file.write("tick ")
'''
DEPLOYMENTS = """name: test
pull:
  - prefect.deployments.steps.set_working_directory:
      directory: "{{ $PWD }}"
deployments:
  - name: tick
    entrypoint: %s/tick.py:tick
    work_pool: {name: compute}
    parameters: {path: %s/ticks}
    schedules:
      - {interval: 15, active: true}
"""


@dataclass(frozen=True)
class Running:
    """A `ricochet up` that has announced itself."""

    process: subprocess.Popen
    mlflow: str
    prefect: str


@contextlib.contextmanager
def started(folder, *, state=None, config=None, deployments=None, migrated=True):
    """Run `ricochet up` until the block ends.

    By default with a deployment that fires every fifteen seconds; `deployments` writes other ones.

    Args:
        migrated: Whether Prefect finds its tables, which it takes seconds to make.
    """
    state = state or folder / "state"
    if migrated and config is None:
        with_prefect(state / "prefect")
    (deployments or deploy_tick)(folder)
    command = [
        sys.executable,
        "-m",
        "ricochet.flows.cli",
        "up",
        "--mlflow-port",
        "0",
        "--prefect-port",
        "0",
    ]
    command += ["--deployments", str(folder / "deployments.yaml"), "--out", str(folder / "out")]
    command += ["--state", str(state)] if config is None else ["--config", str(config)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_API")}
    if config is not None:
        environment["RICOCHET_ARTIFACTS"] = str(state)
    with (folder / "up.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
    try:
        said = wait_for(lambda: announced(folder / "up.log", process), seconds=600)
        yield Running(process, said["MLflow"], said["Prefect"])
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        process.wait(60)


def deploy_tick(folder):
    (folder / "tick.py").write_text(TICK)
    (folder / "deployments.yaml").write_text(DEPLOYMENTS % (folder, folder))


def members(group):
    """Return the numbers of the processes of a group that are no zombies."""
    found = []
    for process in psutil.process_iter(["status"]):
        with contextlib.suppress(ProcessLookupError):
            alive = process.info["status"] != psutil.STATUS_ZOMBIE
            if alive and os.getpgid(process.pid) == group:
                found.append(process.pid)
    return found


def guard_of(parent):
    """Return the process that guards the children of another."""
    (guard,) = (
        child
        for child in psutil.Process(parent).children()
        if kill_guard.__name__ in _words_of(child)
    )
    return guard


def _words_of(process):
    try:
        return process.cmdline()
    except psutil.Error:  # it has just ended
        return []


def announced(log, process):
    assert process.poll() is None, log.read_text()
    said = dict(re.findall(r"^(MLflow|Prefect) +(http://\S+)$", log.read_text(), re.MULTILINE))
    return said if len(said) == 2 else None


def wait_for(condition, *, seconds):
    """Return the first true value of a condition, or fail when time is up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.3)
    pytest.fail(f"not within {seconds} s")


def groups_of(parent):
    """Return the process groups that `up` started, all but its guard, which are no zombies."""
    guard = guard_of(parent).pid
    children = [child.pid for child in psutil.Process(parent).children() if child.pid != guard]
    return [child for child in children if members(child)]
