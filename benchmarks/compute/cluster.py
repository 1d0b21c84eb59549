"""Exact posteriors of simulated sessions on a cluster: speed, kills, and the very same bits.

    python -m benchmarks.compute.cluster [--sessions 40] [--workers 4]

A scheduler and workers run as processes of their own, on this machine. The same sessions are
inferred in this process, by one worker, by all, and by all while all but one are killed (SIGKILL).
Printed: seconds, the speed-up over one worker beside the processors that there are, how many jobs
were begun again (one a kill at most), and whether all results are those of this process bit for
bit.
"""

import argparse
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from subprocess import Popen
from threading import Thread

import torch

from benchmarks.compute import cluster_processes
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import simulation_checks
from ricochet.models.systems.bouncing_ball.calibration.simulation_checks import (
    Place,
    SimulatedSession,
)
from ricochet.tasks.cluster.computing import computing
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.console.threads import use_one_thread
from ricochet.tasks.systems import catalogue

DROPS = 20
Numbered = tuple[int, SimulatedSession]


def sessions(count: int, *, seed: int) -> list[Numbered]:
    """Simulate sessions at parameters from the prior."""
    draw = torch.Generator().manual_seed(seed)
    noise, release = problem.constant_noise((DROPS,)), problem.constant_release((DROPS,))
    found = []
    for number in range(count):
        truth = problem.simulate_drops(
            problem.constant_noise((1,)), problem.constant_release((1,)), draw=draw
        ).theta[0]
        features = problem.simulate_features(truth.expand(DROPS, 2), noise, release, draw=draw)
        found.append((number, SimulatedSession(truth.numpy(), features, noise, release)))
    return found


def infer(folder: str, numbered: Numbered) -> Place:
    """Infer a session, and note that it was begun."""
    (Path(folder) / f"{numbered[0]}-{time.monotonic_ns()}").touch()
    return simulation_checks.place(numbered[1])


def run(
    given: Sequence[Numbered], overrides: Sequence[str], progress: Progress = no_progress
) -> tuple[float, str, int]:
    """Infer sessions where the settings say; returns seconds, a digest, and how many began."""
    settings = catalogue.load_settings(None, overrides)
    with tempfile.TemporaryDirectory() as begun, computing(settings):
        start = time.monotonic()
        found = run_all(partial(infer, begun), given, here=True, progress=progress)
        seconds = time.monotonic() - start
        count = len(list(Path(begun).iterdir()))
    digest = hashlib.sha256(
        b"".join(repr(each.level).encode() + each.ranks.tobytes() for each in found)
    )
    return seconds, digest.hexdigest(), count


def killing(processes: Sequence[Popen[bytes]], of: int) -> Progress:
    """Kill processes one after the other as jobs are done, evenly over the first two thirds.

    In a thread: who takes the results does not wait for it.
    """
    left = list(processes)
    steps = [
        max(1, round(of * 2 / 3 * (number + 1) / (len(left) + 1))) for number in range(len(left))
    ]

    def report(done: int, total: int) -> None:
        while steps and done >= steps[0]:
            steps.pop(0)
            Thread(target=cluster_processes.kill, args=(left.pop(),)).start()

    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--workers", type=int, default=4)
    given = parser.parse_args(arguments)
    if given.workers < 2:
        parser.error(f"found {given.workers} workers, expected at least 2: all but one are killed")
    use_one_thread()
    jobs = sessions(given.sessions, seed=0)
    with tempfile.TemporaryDirectory() as name:
        report(jobs, given.workers, Path(name), print)


def report(
    jobs: Sequence[Numbered], count: int, folder: Path, line: Callable[[str], object]
) -> None:
    """Run all four ways and write a line on each.

    Raises:
        RuntimeError: If results differ, no kill met a job or one cost more than the job it met, or
            many workers on many processors were no faster than one.
    """
    line(f"{len(jobs)} sessions of {DROPS} drops, {os.cpu_count()} processors")
    alone, expected, _ = run(jobs, ["compute.workers=1"])
    line(f"this process      {alone:7.1f} s")
    with cluster_processes.scheduler(folder) as scheduler:
        with cluster_processes.workers(scheduler, folder, 1):
            run(jobs[:1], scheduler.overrides)  # imports
            one, first, _ = run(jobs, scheduler.overrides)
        line(f"1 worker          {one:7.1f} s")
        with cluster_processes.workers(scheduler, folder, count) as processes:
            run(jobs[: 2 * count], scheduler.overrides)
            every, second, _ = run(jobs, scheduler.overrides)
            faster = f"speed-up over one worker {one / every:.2f}"
            line(f"{count} workers         {every:7.1f} s, {faster}")
            kills = killing(processes[1:], len(jobs))
            killed, third, begun = run(jobs, scheduler.overrides, kills)
    again = f"{begun - len(jobs)} jobs begun again"
    faster = f"speed-up over one worker {one / killed:.2f}"
    line(f"{count - 1} of {count} killed    {killed:7.1f} s, {faster}, {again}")
    same = {expected, first, second, third} == {expected}
    line(f"results bit for bit those of this process: {'yes' if same else 'NO'}")
    if not same:
        raise RuntimeError("results differ")
    if not 1 <= begun - len(jobs) <= count - 1:
        raise RuntimeError("no kill met a job, or one cost more than the job it met")
    if every >= one and min(count, os.cpu_count() or 1) > 1:
        raise RuntimeError(f"{count} workers were no faster than one")


if __name__ == "__main__":
    main()
