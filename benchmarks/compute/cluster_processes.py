"""A scheduler and workers, each a process of its own, as `ricochet cluster` starts them."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from ricochet.tasks.cluster import certificates

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 600.0
"""Longest wait for a process to begin, s."""


@dataclass(frozen=True)
class Scheduler:
    """A scheduler that answers."""

    address: str
    certificates: Path
    process: subprocess.Popen[bytes]

    @property
    def overrides(self) -> list[str]:
        """The settings of a run that is sent there."""
        return [f"compute.address={self.address}", f"compute.certificates={self.certificates}"]


@contextlib.contextmanager
def scheduler(folder: Path) -> Iterator[Scheduler]:
    """Run a scheduler with certificates of its own, in a folder, while the block lasts."""
    keys = folder / "certificates"
    certificates.make(keys)
    words = ["scheduler", "--certificates", str(keys), "--port", "0"]
    with running(words, folder / "scheduler.log") as process:
        line = said(folder / "scheduler.log", process, "scheduler tls://")
        yield Scheduler(line.split(";")[0].split()[1], keys, process)


@contextlib.contextmanager
def workers(of: Scheduler, folder: Path, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run so many workers, each begun apart, while the block lasts."""
    words = ["worker", of.address, "--certificates", str(of.certificates), "--workers", "1"]
    logs = [folder / f"worker-{number}.log" for number in range(count)]
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(running(words, log)) for log in logs]
        for process, log in zip(found, logs, strict=True):
            said(log, process, "workers of tls://")
        yield found


@contextlib.contextmanager
def running(words: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a verb of `ricochet cluster` while the block lasts, its output in a file."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "ricochet.flows.cli", "cluster", *words]
    with log.open("wb") as file:
        environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(log.parent)}
        process = subprocess.Popen(command, stdout=file, stderr=file, env=environment)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and what it started by SIGKILL, as a machine that loses power would."""
    with contextlib.suppress(psutil.NoSuchProcess):
        own = psutil.Process(process.pid)
        for each in [own, *own.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
    process.wait()


def said(log: Path, process: subprocess.Popen[bytes], begin: str) -> str:
    """Return the line of a log that has some words, once it is there."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        for line in log.read_text().splitlines():
            if begin in line and line.endswith("Ctrl-C ends it"):
                return line
        time.sleep(0.1)
    raise RuntimeError(f"{log.name}: {log.read_text()[-500:]}")
