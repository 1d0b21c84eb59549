"""What the process that owns an arm costs, and how fast it stops one: `python -m` this module.

Times of a command from its call to its answer, with an arm that takes no time, steered by a thread
of this process (what a process of its own adds to) and by its owner; then from each fault to the
stop, as the fake driver wrote both down. The sound's way to a target may take 20 ms. It ends with
status 1 where a stop took longer than `REPORTED` or `SILENT`.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from ricochet.hardware.robots import owner_process
from ricochet.hardware.robots.messages import Driver, Limits
from ricochet.hardware.robots.owner_process import OwnerProcess
from ricochet.hardware.robots.watched import WatchedArm
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from tests.checkouts import ROOT
from tests.hardware.robots import owner_thread
from tests.hardware.robots.rigs import CLIENT, FAKES

COMMANDS = 200
REPEATS = 20
REPORTED = 100.0  # ms, from reports that are wrong to the stop
SILENT = 120.0  # ms, from what says nothing: a tenth of a second of it, and what the stop takes
FAULTS = {
    "hang in advance": SILENT,
    "hang in state": SILENT,
    "freeze": REPORTED,
    "NaN speeds": REPORTED,
    "lie": REPORTED,
}
SIGNALS = (signal.SIGKILL, signal.SIGSTOP)
Launch = Callable[[], tuple[socket.socket, OwnerProcess]]


def main() -> None:
    """Print the table."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    process: Launch = owner_process.launch
    print(f"{'one command, ms':36s}{'median':>8s}{'99 %':>8s}{'most':>8s}")
    for name, launch in (("owner: a thread of this process", owner_thread.launch),
                         ("owner: a process of its own", process)):  # fmt: skip
        _row(name, [1e3 * each for each in _commands(launch)])
    print(f"{f'from a fault to the stop, ms, of {REPEATS}':36s}{'median':>8s}{'':8s}{'most':>8s}")
    rows: list[tuple[str, float, Callable[[], float]]] = [
        *(
            (f"driver: {fault}", latest, partial(_stopped, fault))
            for fault, latest in FAULTS.items()
        ),
        *((f"client: {number.name}", SILENT, partial(_client, number)) for number in SIGNALS),
        *((f"owner: {number.name}", SILENT, partial(_owner, number)) for number in SIGNALS),
    ]
    late = [
        f"{name} ({latest:g} ms)"
        for name, latest, stop in rows
        if _few(name, [1e3 * stop() for _ in range(REPEATS)]) > latest
    ]
    if late:
        raise SystemExit(f"stopped later than allowed: {', '.join(late)}")


def _row(name: str, times: list[float]) -> None:
    middle, high = np.percentile(times, (50, 99))
    print(f"{name:36s}{middle:8.2f}{high:8.2f}{max(times):8.2f}", flush=True)


def _few(name: str, times: list[float]) -> float:
    print(f"{name:36s}{np.median(times):8.2f}{'':8s}{max(times):8.2f}", flush=True)
    return max(times)


def _commands(launch: Launch) -> list[float]:
    """Return what commands to an arm at rest take, s, each at a random time of a period."""
    draw, times = np.random.default_rng(0), list[float]()
    kept, owner_process.launch = owner_process.launch, launch
    with tempfile.TemporaryDirectory() as folder:
        settings = {"log": str(Path(folder) / "log")}
        arm = WatchedArm(Driver(FAKES, settings), Workspace(), limits=_patient())
        for _ in range(COMMANDS):
            time.sleep(draw.uniform(0.0, 0.016))
            began = time.perf_counter()
            refusal = arm.move((0.3, 0.0, 0.2), 0.5)
            times.append(time.perf_counter() - began)
            assert refusal is None, refusal
        arm.close()
    owner_process.launch = kept
    return times


def _patient() -> Limits:
    return Limits(silence=5.0, hang=5.0, command=5.0)


def _stopped(fault: str) -> float:
    """Return the time from the first call or report that is wrong to the stop, s."""
    after = 0.4
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        settings = {"log": str(log), "fault": fault, "after": after}
        arm = WatchedArm(Driver(FAKES, dict(settings)), Workspace(), limits=Limits(silence=1.0))
        arm.move((0.3, 0.35, 0.2), 0.5)
        arm.advance(5.0)
        arm.close()
        rows = _events(log)
    began = next((row["time"] for row in rows if row["what"] in ("hang", "wrong")), None)
    assert began is not None, rows
    return _first_stop(rows, began)


def _client(number: signal.Signals) -> float:
    """Return the time from a signal to the client to the stop, s."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "log"
        words = [sys.executable, "-c", CLIENT, FAKES, str(log)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None
            client.stdout.readline()
            time.sleep(0.1)
            sent = time.monotonic()
            client.send_signal(number)
            while not any(row["what"] == "stop" for row in _events(log)):
                time.sleep(0.001)
            client.kill()
        return _first_stop(_events(log), sent)


def _owner(number: signal.Signals) -> float:
    """Return the time from a signal to the owner to the stop beside the driver, s."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        arm = WatchedArm(Driver(FAKES, {"log": str(log)}), Workspace())
        arm.move((0.3, 0.35, 0.2), 0.5)
        sent = time.monotonic()
        os.kill(int(_events(log)[0]["pid"]), number)
        arm.advance(5.0)
        arm.close()
        return _first_stop(_events(log), sent)


def _events(log: Path) -> list[dict[str, float | str]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def _first_stop(rows: list[dict[str, float | str]], began: float | str) -> float:
    stops = [float(row["time"]) for row in rows if row["what"] in ("stop", "emergency stop")]
    return min(stop for stop in stops if stop > float(began)) - float(began)


if __name__ == "__main__":
    main()
