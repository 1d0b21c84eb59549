"""A worker's memory between its runs."""

import subprocess
import sys

import pytest

RUNS = 20
LEFT_BY_RUNS = f"""
import gc, time, weakref
import distributed, torch  # many objects, as a worker has
from ricochet.flows.servers import pool_worker
gc.collect()
class Connection: pass
def run():
    left = [Connection() for _ in range(100)]
    for connection in left:
        connection.peers = left
    return weakref.ref(left[0])
def left(patience):
    runs = [run() for _ in range({RUNS})]
    end = time.monotonic() + patience
    while time.monotonic() < end and any(run() for run in runs):
        time.sleep(0.05)
    return sum(run() is not None for run in runs)
without = left(1.0)
pool_worker.keep_memory_level(every=0.1)
print(without, left(60.0))
"""


def test_what_runs_leave_stays_unless_it_is_collected_while_the_worker_waits() -> None:
    words = [sys.executable, "-c", LEFT_BY_RUNS]
    done = subprocess.run(words, capture_output=True, check=True, text=True)
    without, collected = map(int, done.stdout.split())
    assert without > 0 and collected == 0


@pytest.mark.parametrize("pool", ["rig", "compute"])
def test_the_command_is_a_worker_of_its_pool_by_its_name(pool: str) -> None:
    from ricochet.flows.servers import pool_worker

    assert pool_worker.command(pool, "machine 7") == [
        *(sys.executable, "-P", "-m", "ricochet.flows.servers.pool_worker", pool, "machine 7")
    ]
