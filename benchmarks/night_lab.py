"""The lab of the nights: a checkout with `ricochet up`, whose power may fail, and what is counted.

Takes, the density's training and the coverage check are small, nothing is validated, no policy is
trained. The process beside `up` that looks for dead runs does so every `SEARCH` s.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import yaml

from benchmarks.night_series import Night
from tests.checkouts import ROOT, copy_program, python_path

SMALL = [
    "capture.drops=2",
    "nightly.drops=2",
    "density.simulations=1500",
    "density.epochs=3",
    "density.hidden=16",
    "calibrate.check_sessions=1",
    "calibrate.fewest_takes=2",
    "calibrate.whole_takes=0",
    "nightly.validate=false",
    "nightly.shooting=false",
]
REMOTE = """[core]
    analytics = false
    remote = published
['remote "published"']
    url = ../artifacts/published
"""
SEARCH = 5.0
UP = f"""
import sys
from ricochet.flows import cli
from ricochet.flows.servers import upkeep
upkeep.INTERVAL = {SEARCH}
sys.exit(cli.main(["up", *sys.argv[1:]]))
"""
PATIENCE = 900.0
"""Longest wait for the servers, or for a night, s."""


def prepare(root: Path) -> None:
    """Make a checkout with DVC, one recorded session and the deployment of the night."""
    copy_program(root)
    (root / ".gitignore").write_text("/artifacts/\n/data\n__pycache__/\n")
    (root / ".dvc").mkdir()
    (root / ".dvc" / "config").write_text(REMOTE)
    found = yaml.safe_load((ROOT / "prefect.yaml").read_text())
    found["deployments"] = [each for each in found["deployments"] if each["name"] == "nightly"]
    found["deployments"][0].pop("schedules")
    (root / "prefect.yaml").write_text(yaml.safe_dump(found))
    run(root, "git", "init", "-q")
    words = [word for each in SMALL for word in ("--set", each)]
    capture = ["capture", "--session", "sample", "--no-publish", "--out", "data", *words]
    run(root, sys.executable, "-m", "ricochet.flows.cli", *capture)
    (root / "data" / "result.json").unlink(missing_ok=True)
    run(root, sys.executable, "-m", "dvc", "add", "-q", "data")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    run(root, "git", "add", ".")
    run(root, "git", *who, "commit", "-q", "-m", "Data")


def run(root: Path, *command: str) -> None:
    """Run a command in the checkout."""
    subprocess.run(command, cwd=root, env=environment(root), check=True, stdout=subprocess.DEVNULL)


def environment(root: Path) -> dict[str, str]:
    """Return what every process of the checkout sees."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "MLFLOW_"))}
    return {
        **inherited,
        "RICOCHET_ARTIFACTS": str(root / "artifacts"),
        "PYTHONPATH": python_path(root),
        "OMP_NUM_THREADS": "1",
        "PREFECT_WORKER_QUERY_SECONDS": "2",  # between a worker's looks for runs
    }


@dataclass
class Lab:
    """A checkout with `ricochet up`, which a loss of power may end at any time."""

    root: Path
    start: int = -1
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def switch_on(self) -> None:
        """Start `ricochet up` and wait until it is up."""
        self.start += 1
        ports = ["--mlflow-port", "0", "--prefect-port", "0"]
        file = ["--deployments", str(self.root / "prefect.yaml"), "--out", str(self.root / "up")]
        shutil.rmtree(self.root / "up", ignore_errors=True)
        with (self.root / "up.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", UP, *ports, *file],
                cwd=self.root,
                env=environment(self.root),
                stdout=log,
                stderr=log,
            )
        wait(lambda: (self.root / "artifacts" / "servers.json").exists() and self.address())
        wait(lambda: (self.root / "up" / "result.json").exists())

    def address(self) -> str:
        """Return the address of Prefect's server, empty while there is none."""
        with contextlib.suppress(OSError, ValueError):
            ledger = json.loads((self.root / "artifacts" / "servers.json").read_text())
            return str(ledger.get("prefect", ""))
        return ""

    def login(self) -> tuple[str, str]:
        """Return the name and the password that Prefect's server asks for."""
        text = (self.root / "artifacts" / "secrets" / "prefect").read_text().strip()
        name, _, password = text.partition(":")
        return name, password

    def family(self) -> list[psutil.Process]:
        """Return `up` and all that it started."""
        if self.process is None:
            return []
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]

    def lose_power(self) -> None:
        """Kill everything at once."""
        for process in self.family():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        if self.process is not None:
            self.process.wait()

    def switch_off(self) -> None:
        """End `up` as Ctrl-C does."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(120)

    def count(self, night: int, state: str, kill: str, seconds: float) -> Night:
        """Look at the processes and at the disk."""
        family, kept = self.family(), self.root / "artifacts"
        facts = [fact for fact in map(looked_at, family) if fact]
        sealed = [kept / "nightly" / "capture", self.root / "data", self.root / ".dvc"]
        recordings = sum(map(size, [*sealed, kept / "published"]))
        databases = sum(path.stat().st_size for path in kept.glob("*/*.db*"))
        logs = size(kept / "servers")
        return Night(
            number=night, start=self.start, state=state, kill=kill, seconds=seconds,
            processes=len(facts),
            descriptors=sum(fact["num_fds"] or 0 for fact in facts),
            memory=sum(map(resident, facts)),
            up=resident(facts[0]) if facts else 0,
            recordings=recordings, databases=databases, logs=logs,
            results=size(kept) - size(kept / "nightly" / "capture") - size(kept / "published")
            - databases - logs,
        )  # fmt: skip


def looked_at(process: psutil.Process) -> dict[str, Any]:
    """Return open files and memory of a process; nothing where it has ended meanwhile."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return dict(process.as_dict(["num_fds", "memory_info"]))
    return {}


def resident(facts: dict[str, Any]) -> int:
    """Return the resident memory of a process, bytes; 0 where it could not be read."""
    return int(facts["memory_info"].rss) if facts["memory_info"] else 0


def size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    found = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            found += path.lstat().st_size if path.is_file() else 0
    return found


def wait(condition, *, seconds: float = PATIENCE) -> None:  # type: ignore[no-untyped-def]
    """Wait until something holds.

    Raises:
        TimeoutError: It does not come to hold.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:.0f} s")
        time.sleep(0.25)
