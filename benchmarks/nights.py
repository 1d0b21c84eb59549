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
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from benchmarks import night_series
from benchmarks.night_lab import SMALL, Lab, prepare, wait
from benchmarks.night_series import Night

SURFACES = ("table", "wood", "concrete", "stone", "steel", "glass", "tile", "cork")
EACH = 25
REAPING = 10.0
"""Longest wait for the worker to see that the processes of a night have ended, s."""
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


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
