"""`ricochet up` as a person starts it, on free ports, with a schedule that soon fires."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

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
    work_pool: {name: ricochet}
    parameters: {path: %s/ticks}
    schedules:
      - {interval: 5, active: true}
"""


@dataclass(frozen=True)
class Running:
    """A `ricochet up` that has announced itself."""

    process: subprocess.Popen
    mlflow: str
    prefect: str


@contextlib.contextmanager
def started(folder, *, state=None):
    """Run `ricochet up` with a deployment that fires every five seconds, until the block ends."""
    state = state or folder / "state"
    (folder / "tick.py").write_text(TICK)
    (folder / "deployments.yaml").write_text(DEPLOYMENTS % (folder, folder))
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
    command += ["--deployments", str(folder / "deployments.yaml"), "--state", str(state)]
    command += ["--out", str(folder / "out")]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_API")}
    with (folder / "up.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
    try:
        said = wait_for(lambda: announced(folder / "up.log", process), seconds=150)
        yield Running(process, said["MLflow"], said["Prefect"])
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        process.wait(60)


def members(group):
    """Return the numbers of the processes of a group that are no zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


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
