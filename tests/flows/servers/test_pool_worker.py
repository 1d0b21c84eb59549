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
{{before}}
class Connection: pass
def run():
    left = [Connection() for _ in range(100)]
    for connection in left:
        connection.peers = left
    return weakref.ref(left[0])
runs = [run() for _ in range({RUNS})]
end = time.monotonic() + {{patience}}
while time.monotonic() < end and any(run() for run in runs):
    time.sleep(0.05)
print(sum(run() is not None for run in runs))
"""


def _left(before: str, patience: float) -> int:
    program = LEFT_BY_RUNS.format(before=before, patience=patience)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return int(done.stdout)


def test_what_runs_leave_is_collected_while_the_worker_waits() -> None:
    assert _left("pool_worker.keep_memory_level(every=0.1)", patience=60.0) == 0


def test_without_that_it_stays() -> None:
    assert _left("", patience=1.0) > 0


@pytest.mark.parametrize("pool", ["rig", "compute"])
def test_the_command_is_a_worker_of_its_pool_by_its_name(pool: str) -> None:
    from ricochet.flows.servers import pool_worker

    assert pool_worker.command(pool, "machine 7") == [
        *(sys.executable, "-P", "-m", "ricochet.flows.servers.pool_worker", pool, "machine 7")
    ]
