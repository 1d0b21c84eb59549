"""Many nights at a fast clock, some of them killed: `python -m benchmarks.nights --nights 200`.

In a folder of its own: the program, a Git and a DVC repository with a remote, `ricochet up` with
both servers and a worker, and the deployment `nightly` of prefect.yaml without its schedule. As
soon as a night has ended the next is asked for; each records a session of two takes, publishes it,
calibrates the pair anew and registers it. Cut, so that a night takes seconds: takes, the density's
training and the coverage check are small, nothing is validated, no policy is trained. Every `EACH`
nights the ball falls on another surface: calibration of a pair takes as long as it has takes.

Every `--kill` nights the process of the run is killed by kill -9 in the middle; every
`--power-loss` nights all processes are, and `ricochet up` is started again. The next night is
asked for when the dead one has been closed.

The process beside `up` that looks for dead runs every minute does so every `SEARCH` s here: in 200
nights it would have done so 288,000 times. It is followed by another as in a lab, after as many
searches.

After each night, when its own processes have ended: processes, open files and resident memory of
`up`, the servers and the worker, and bytes on the disk, in `nights.jsonl`. Printed: the trend of
each with its 95 % interval; drawn: `nights.png`. Called again it goes on after the last night. It
ends with status 1 where a night that nobody killed did not complete, one that was killed ended
otherwise than CRASHED or before that COMPLETED, or anything may grow by more than
`night_series.MOST`.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import yaml

from benchmarks import night_series
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
SURFACES = ("table", "wood", "concrete", "stone", "steel", "glass", "tile", "cork")
EACH = 25
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
REAPING = 10.0
"""Longest wait for the worker to see that the processes of a night have ended, s."""
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


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


class Clock:
    """Asks Prefect's server for nights; one that is busy (503) is asked again."""

    def __init__(self, lab: Lab) -> None:
        """Connect to the server of a lab."""
        import httpx

        address = f"{lab.address()}/api"
        self.client = httpx.Client(base_url=address, auth=lab.login(), timeout=120.0)

    def begin(self, number: int) -> str:
        """Ask for a night now; returns the id of its flow run."""
        found = self._ask("GET", "/deployments/name/nightly/nightly")
        surface = SURFACES[number // EACH % len(SURFACES)]
        overrides = [*SMALL, f"capture.surface={surface}"]
        given = {"parameters": {"overrides": overrides}, "state": {"type": "SCHEDULED"}}
        return str(self._ask("POST", f"/deployments/{found['id']}/create_flow_run", given)["id"])

    def state(self, run: str) -> str:
        """Return the state of a flow run."""
        return str(self._ask("GET", f"/flow_runs/{run}")["state_type"])

    def _ask(self, method: str, path: str, given: Any = None) -> dict[str, Any]:
        for _ in range(100):
            answer = self.client.request(method, path, json=given)
            if answer.status_code != 503:
                break
            time.sleep(2.0)
        return dict(answer.raise_for_status().json())


def runner(lab: Lab, run: str) -> Iterator[psutil.Process]:
    """Yield the processes that a worker started for a run."""
    for process in lab.family():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("PREFECT__FLOW_RUN_ID") == run:
                yield process


def has_ended(process: psutil.Process) -> bool:
    """Return whether a process has ended, and its parent has not seen that yet."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def one_night(lab: Lab, number: int, kill: str) -> Night:
    """Have a night, with a kill in its middle where one is due; the next start is up to `lab`."""
    began, clock = time.monotonic(), Clock(lab)
    run = clock.begin(number)
    wait(lambda: clock.state(run) in (*ENDED, "RUNNING"))
    if kill:
        time.sleep(3.0)  # its parts have begun
    if kill == "machine":
        lab.lose_power()
        lab.switch_on()
        clock = Clock(lab)
    elif kill == "run":
        for process in list(runner(lab, run)):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    wait(lambda: clock.state(run) in ENDED)
    wait(lambda: not list(runner(lab, run)))
    with contextlib.suppress(TimeoutError):  # one that stays is counted
        wait(lambda: not any(map(has_ended, lab.family())), seconds=REAPING)
    state = clock.state(run)
    return lab.count(number, state, kill, time.monotonic() - began)


def due(number: int, *, run: int, machine: int) -> str:
    """Return what is killed in a night."""
    if machine and number % machine == machine - 1:
        return "machine"
    return "run" if run and number % run == run - 1 else ""


def main() -> None:
    """Have the nights, print the trends and draw them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nights", type=int, default=200)
    parser.add_argument(
        "--kill", type=int, default=10, help="nights from one killed run to another"
    )
    parser.add_argument("--power-loss", type=int, default=50, help="nights from one to the next")
    parser.add_argument("--folder", type=Path, default=Path("artifacts/nights"))
    parser.add_argument("--hours", type=float, default=24.0, help="at most; what was had is shown")
    given = parser.parse_args()
    folder = given.folder.resolve()
    root, record = folder / "checkout", folder / "nights.jsonl"
    if not record.exists():
        shutil.rmtree(folder, ignore_errors=True)
        prepare(root)
        record.touch()
    before = night_series.read(record)
    lab = Lab(root, start=before[-1].start if before else -1)
    latest = time.monotonic() + 3600.0 * given.hours
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # and the lab with it
    try:
        lab.switch_on()
        for number in range(len(before), given.nights):
            if time.monotonic() > latest:
                break
            kill = due(number, run=given.kill, machine=given.power_loss)
            night = one_night(lab, number, kill)
            night_series.append(record, night)
            print(night, flush=True)
    finally:
        lab.switch_off()
        nights = night_series.read(record)
        for line in night_series.lines(nights) if nights else ():
            print(line)
        if nights:
            night_series.draw(nights, folder / "nights.png")
    if found := night_series.failed(nights):
        raise SystemExit(f"nights {found} ended otherwise than COMPLETED, or CRASHED by a kill")
    if names := night_series.growing(nights):
        raise SystemExit(f"a night may add too much of: {', '.join(names)}")


if __name__ == "__main__":
    main()
